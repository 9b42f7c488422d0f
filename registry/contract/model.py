"""The contract document: what one version of a dialect says, as frozen values.

Every key and named reading is one of the closed vocabulary of `docs/vocabulary.md`; an unknown one is refused.
"""

from __future__ import annotations

from functools import cached_property
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from cdc_contracts.registry.common.errors import ContractError
from cdc_contracts.registry.common.linear_patterns import compile_pattern
from cdc_contracts.registry.common.pointers import split_pointer

ROW_OPS = ("insert", "update", "delete", "snapshot", "upsert", "update-before", "update-after")
CONTROL_OPS = ("ddl", "truncate", "heartbeat", "begin", "commit", "rollback", "mark")

Op = Literal[
    "insert", "update", "delete", "snapshot", "upsert", "update-before", "update-after",
    "ddl", "truncate", "heartbeat", "begin", "commit", "rollback", "mark",
]  # fmt: skip
Rule = Literal[
    "image-present-for-op", "columns-typed", "codes-match-types", "primary-key-in-image",
    "primary-key-values-agree", "old-keys-in-data", "data-keys-in-key", "images-match-fields",
    "ddl-flag-agrees", "ddl-text-only-if-ddl", "ddl-text-alone", "idx-is-seq-of-size", "rowid-starts-with-table",
    "position-matches", "halves-paired", "types-without-parameters",
]  # fmt: skip


SOURCE_MODES = ("mysql", "oracle")
"""In which dialect of SQL a source database runs; the first where nothing says."""


def _kind(text: str) -> str:
    """Return the kind of a source database as it compares: DB2 LUW is DB2_LUW (E18), ob_mysql is OB_MYSQL (E39)."""
    return text.upper().replace(" ", "_")


def _matched_in_linear_time(pattern: str) -> str:
    try:
        compile_pattern(pattern)
    except ContractError as error:
        raise ValueError(error.what) from None
    return pattern


def _pointer(text: str) -> str:
    split_pointer(text)
    return text


At = Annotated[str, AfterValidator(_pointer), Field(json_schema_extra={"format": "json-pointer"})]


class Document(BaseModel):
    """A frozen part of a contract; keys outside the vocabulary are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class Applies(Document):
    """For which releases or dates of the product this version holds; `since` is included, `until` is not."""

    since: str | None = None
    """The first release or date for which the version holds; without one it holds from the beginning."""
    until: str | None = None
    """The first release or date for which it no longer holds; without one it holds to this day."""
    counted_from: Literal["project-created", "product-version", "document-edition", "instance-created-or-restarted"]
    """What is counted to tell whether the version holds."""
    zone: str | None = None
    """The zone of dates without a time, such as +08:00."""


class Provenance(Document):
    """Where the facts come from, and which contradictions of the source were decided."""

    document: str
    """The file of the source document."""
    section: str | None = None
    """The heading of the section that the facts come from."""
    retrieved: str | None = None
    """When the document was read, as YYYY-MM-DD."""
    errata: tuple[str, ...] = ()
    """The ids of the decided contradictions, as they stand in errata.yaml."""


class OpFlag(Document):
    """A member whose value overrides the op code; `of` restricts it to some canonical ops."""

    at: At
    """Where the flag is, as a JSON Pointer."""
    equals: bool | int | str = Field(alias="is")
    """The value that the flag has."""
    means: Op
    """The canonical op that the message then has."""
    of: tuple[Op, ...] | None = None
    """The canonical ops that the flag overrides; without them it overrides every op."""


class OpPlace(Document):
    """Where the op code is."""

    at: At
    """Where the op code is, as a JSON Pointer."""
    flags: tuple[OpFlag, ...] = ()
    """Members whose value overrides the op code."""


class Place(Document):
    """Where one fact of the envelope is, and how it is read."""

    at: At | None = None
    """Where the fact is, as a JSON Pointer such as /data or /payload/op."""
    split: Literal["tenant.database", "database.table", "schema.table", "object-name-escaped"] | None = None
    """How a name of several parts is taken apart."""
    source: Literal["topic-or-table-option"] | None = Field(default=None, alias="from")
    """Where the fact comes from if no message says it."""
    form: (
        Literal["epoch-millis", "epoch-seconds", "epoch-seconds-text", "epoch-millis-list-last", "iso-local",
                "iso-local-or-utc"] | None
    ) = None  # fmt: skip
    """How a moment is written."""
    absent_value: int | None = None
    """The number that means that there is none."""
    null_text: str | None = None
    """The text that means that there is none."""
    order: Literal["integer", "opaque"] | None = None
    """Whether positions can be put in order."""
    rises: Literal["always", "or-stays", "once-each"] | None = None
    """How values follow one another within a partition."""
    reading: Literal["list", "joined-u0001", "json-text-groups", "rowid-of-table"] | None = Field(
        default=None, alias="as"
    )
    """How several names or values are written in one member."""
    member: str | None = None
    """The group of the JSON text that is the primary key; without it, PRIMARY."""
    kinds: tuple[str, ...] | None = None
    """The kinds of source database that the document lists; another one is a warning. Case does not count."""
    never: tuple[str, ...] = ()
    """The kinds of source database that have no such messages, as the document says; one of them is a warning."""
    index: At | None = None
    """Where the number of this message within its transaction is, as a JSON Pointer."""
    size: At | None = None
    """Where the number of messages of the transaction is, as a JSON Pointer."""

    def is_of_source(self, kind: str) -> bool:
        """Say whether messages are documented from a kind of source database."""
        known = self.kinds is None or _kind(kind) in map(_kind, self.kinds)
        return known and _kind(kind) not in map(_kind, self.never)

    @model_validator(mode="after")
    def _has_a_place(self) -> Place:
        if self.at is None and self.source is None:
            raise ValueError("needs `at` (a JSON Pointer) or `from`")
        return self


class Envelope(Document):
    """Where op, names, times, position, transaction and keys sit in a message."""

    op: OpPlace
    """Where the op code is, and what overrides it."""
    database: Place | None = None
    """Where the name of the database is."""
    schema_name: Place | None = Field(default=None, alias="schema")
    """Where the name of the schema of the database is."""
    table: Place | None = None
    """Where the name of the table is."""
    database_table: Place | None = None
    """Where the names of database and table are, in one text."""
    event_time: Place | None = None
    """Where the time of the change in the source database is."""
    process_time: Place | None = None
    """Where the time is at which the product wrote the message."""
    checkpoint: Place | None = None
    """Where the point is up to which everything was sent: a time if it has a form, else a position."""
    position: Place | None = None
    """Where the position of the message in its stream is."""
    source_position: Place | None = None
    """Where the position of the change in the log of the source database is."""
    transaction: Place | None = None
    """Where the id of the transaction is."""
    primary_key: Place | None = None
    """Where the names of the columns of the primary key are."""
    primary_key_values: Place | None = None
    """Where the values of the primary key are."""
    source_kind: Place | None = None
    """Where the kind of the source database is."""

    @property
    def times(self) -> tuple[Place, ...]:
        """Where moments are told. A checkpoint without a form is a position, whatever it counts."""
        result = (
            self.event_time,
            self.process_time,
            self.checkpoint if self.checkpoint and self.checkpoint.form else None,
        )
        return tuple(place for place in result if place is not None and place.at is not None)


class Side(Document):
    """Where the before or after image of an op is, and how it is completed."""

    at: At
    """Where the row is, as a JSON Pointer; an empty text is the whole message."""
    over: At | None = None
    """Where the row is that completes this one: columns that this one lacks are taken from there."""
    either: At | None = Field(default=None, alias="or")
    """Where the row is if it is not at `at`."""
    optional: bool = False
    """Whether the row may be missing."""
    not_columns: tuple[str, ...] = ()
    """Members of the image that are no columns."""


class Sides(Document):
    """The images of one op; a side that is not named holds no row."""

    before: Side | None = None
    """Where the row before the change is; without it there is none."""
    after: Side | None = None
    """Where the row after the change is; without it there is none."""


class Images(Document):
    """How an image is written, and where each op has its rows."""

    container: Literal["object", "list-of-one", "list-of-rows", "positional"]
    """How an image holds its rows."""
    insert: Sides | None = None
    """The images of an insert."""
    update: Sides | None = None
    """The images of an update in one message."""
    delete: Sides | None = None
    """The images of a delete."""
    snapshot: Sides | None = None
    """The images of a row of the full load."""
    upsert: Sides | None = None
    """The images of a row that may be new or changed."""
    update_before: Sides | None = Field(default=None, alias="update-before")
    """The images of the first of two messages of an update."""
    update_after: Sides | None = Field(default=None, alias="update-after")
    """The images of the second of two messages of an update."""

    @property
    def hold_one_row(self) -> bool:
        """Whether an image is an object of columns; positional ones become objects when they are read."""
        return self.container in ("object", "positional")

    def of(self, op: str) -> Sides | None:
        """Return the images of a canonical op, or None where the op has none."""
        return self._by_op.get(op)

    @cached_property
    def _by_op(self) -> dict[str, Sides | None]:
        return {op: getattr(self, op.replace("-", "_")) for op in ROW_OPS}

    @cached_property
    def _beside(self) -> dict[str, frozenset[str]]:
        beside: dict[str, frozenset[str]] = {}
        for op in ROW_OPS:
            sides = self.of(op)
            for side in (sides.before, sides.after) if sides else ():
                if side is not None and side.not_columns:
                    beside[side.at] = beside.get(side.at, frozenset()) | set(side.not_columns)
        return beside

    def members_beside(self, pointer: str) -> frozenset[str]:
        """Return the members of an image that its contract says are no columns."""
        return self._beside.get(pointer, frozenset())

    def pointers(self) -> tuple[str, ...]:
        """Return every place where some op has an image, in order of first mention."""
        return self._pointers

    @cached_property
    def _pointers(self) -> tuple[str, ...]:
        places: dict[str, None] = {}
        for op in ROW_OPS:
            sides = self.of(op)
            for side in (sides.before, sides.after) if sides else ():
                for at in (side.at, side.over, side.either) if side else ():
                    if at is not None:
                        places[at] = None
        return tuple(places)


class Halves(Document):
    """Updates that arrive as two messages, and what joins them."""

    joined_if: Literal["both-images"]
    """What shows that both halves came as one message."""
    pair_by: tuple[str, ...]
    """The members that the two halves have in common, as JSON Pointers."""


class Ddl(Document):
    """Where the text and the code of a DDL statement are."""

    text: Place | None = None
    """Where the text of the statement is."""
    type: Place | None = None
    """Where the code of the kind of statement is."""


class ColumnTypes(Document):
    """Where the source types of the columns are."""

    at: At | None = None
    """Where the types are, as a JSON Pointer."""
    in_image: str | None = None
    """The member of each image that holds the types."""
    reading: Literal["name-to-type", "list-of-objects", "name-to-object"] = Field(alias="as")
    """How types are written: an object of types by column, a list of objects of columns, or an object of objects."""
    name: str | None = None
    """The member of an entry that holds the name of the column."""
    type: str | None = None
    """The member of an entry that holds the type."""
    table: str | None = None
    """The table of numbers that stand for types."""
    bare: bool = False
    """Whether types stand without a length, so that one with a length is drift."""


class ColumnCodes(Document):
    """Where the numeric type codes are; they are checked, never used to decode."""

    at: At
    """Where the codes are, as a JSON Pointer."""
    reading: Literal["name-to-code"] = Field(alias="as")
    """How codes are written: an object of codes by column."""
    table: Literal["java.sql.Types", "drs-codes", "any"]
    """The table that codes are checked with; `any` checks none."""


class ColumnHints(Document):
    """A schema block that may serve as a key of shapes, never to decode."""

    at: At
    """Where the schema block is, as a JSON Pointer."""
    reading: Literal["connect-schema"] = Field(alias="as")
    """How the block is written: a schema of Kafka Connect."""
    field: str | None = None
    """The field of the block that describes a row."""


class Columns(Document):
    """Where column types and codes are; `types: none` where the message has none."""

    types: ColumnTypes | Literal["none"]
    """Where the types of columns are, or `none` where no message says them."""
    codes: ColumnCodes | None = None
    """Where the numeric codes of types are."""
    hints: ColumnHints | None = None
    """Where a schema block is."""


class MappingChoice(Document):
    """A value mapping chosen by a member of the message, else by the parameter `source_mode`.

    `map` has mappings by kind of source database, and by mode where `else` is `parameter`. Case does not count.
    """

    by: At | None = None
    """Where the kind of source database is that decides, as a JSON Pointer."""
    map: dict[str, str] = {}
    """The value mapping for each kind of source database."""
    otherwise: str = Field(alias="else")
    """The value mapping for all other kinds, or `parameter` where source_mode decides."""

    @model_validator(mode="after")
    def _knows_the_modes(self) -> MappingChoice:
        known = {_kind(kind) for kind in self.map}
        missing = [mode for mode in SOURCE_MODES if self.otherwise == "parameter" and _kind(mode) not in known]
        if missing:
            raise ValueError(f"`else: parameter` needs a mapping for {missing[0]}")
        return self

    def name_for(self, kind: str | None, mode: str | None) -> str:
        """Return the mapping for a kind of source database, in a mode where the kind does not say."""
        by_kind = {_kind(name): mapping for name, mapping in self.map.items()}
        if kind is not None and _kind(kind) in by_kind:
            return by_kind[_kind(kind)]
        return by_kind[_kind(mode or SOURCE_MODES[0])] if self.otherwise == "parameter" else self.otherwise


class Values(Document):
    """Which mapping of source types to value forms holds."""

    mapping: str | MappingChoice
    """The value mapping (a file of types/), or the choice between several."""

    @property
    def kind_at(self) -> str | None:
        """Where a message says the kind of source database that decides."""
        return None if isinstance(self.mapping, str) else self.mapping.by

    def mapping_for(self, kind: str | None, mode: str | None) -> str:
        """Return the name of the mapping that holds for a message."""
        return self.mapping if isinstance(self.mapping, str) else self.mapping.name_for(kind, mode)


class Test(Document):
    """One test on one message; `any` holds a list of tests of which one has to hold."""

    present: At | None = None
    """The member is there; its value may be null."""
    absent: At | None = None
    """The member is not there."""
    unset: At | None = None
    """The member is not there, null or empty."""
    equals: At | None = None
    """The member has the value `value`."""
    value: str | bool | int | None = None
    """The value that `equals` asks for."""
    within: At | None = Field(default=None, alias="in")
    """The member has one of `values`."""
    outside: At | None = Field(default=None, alias="not-in")
    """The member has none of `values`."""
    values: tuple[str, ...] | None = None
    """The values that `in` and `not-in` ask for."""
    prefix_of: At | None = Field(default=None, alias="prefix-of")
    """The member begins with the text at `at`, followed by `then`."""
    not_prefix_of: At | None = Field(default=None, alias="not-prefix-of")
    """The member does not begin with the text at `at`, followed by `then`."""
    at: At | None = None
    """The member whose text is the beginning, as a JSON Pointer."""
    then: str | None = None
    """What follows that text."""
    avro_decodes: str | None = Field(default=None, alias="avro-decodes")
    """The Avro reader schema that the record can be read with."""
    unread: int | None = None
    """How many bytes may be left after the record."""
    any: tuple[Test, ...] | None = None
    """Tests of which one has to hold."""

    @model_validator(mode="after")
    def _is_one_test(self) -> Test:
        heads = (self.present, self.absent, self.unset, self.equals, self.within, self.outside,
                 self.prefix_of, self.not_prefix_of, self.avro_decodes, self.any)  # fmt: skip
        if sum(head is not None for head in heads) != 1:
            raise ValueError(
                "a test has exactly one of present, absent, unset, equals, in, not-in, prefix-of, "
                "not-prefix-of, avro-decodes, any"
            )
        if self.any and any(test.any for test in self.any):
            raise ValueError("`any` holds plain tests only")
        return self


class Evidence(Document):
    """What over many messages tells the versions of a subject apart."""

    value_form: str | None = Field(default=None, alias="value-form")
    """The type whose values are looked at."""
    is_form: str | None = Field(default=None, alias="is")
    """The value form that its values have."""
    image_of: Op | None = Field(default=None, alias="image-of")
    """The op whose rows are looked at."""
    at: At | None = None
    """Where these rows are, as a JSON Pointer."""
    key_chain: bool | None = Field(default=None, alias="key-chain")
    """Whether each row before a change is what the last change of its key left."""
    process_time_before: str | None = Field(default=None, alias="process-time-before")
    """The time before which messages were written."""
    key_seen: At | None = Field(default=None, alias="key-seen")
    """A member that some message has, as a JSON Pointer."""
    ddl_seen: bool | None = Field(default=None, alias="ddl-seen")
    """Whether a message carries a DDL statement."""
    op_seen: tuple[str, ...] | None = Field(default=None, alias="op-seen")
    """Op codes of which some message has one."""
    unread_bytes: int | None = Field(default=None, alias="unread-bytes")
    """How many bytes are left after each record."""
    column_form: bool | None = Field(default=None, alias="column-form")
    """Whether the values of columns have the forms that this version writes."""
    code_seen: int | None = Field(default=None, alias="code-seen")
    """A code of a type that some message has."""
    proves: Literal["subject", "version"] | None = None
    """What is certain once this was seen."""
    disproves: Literal["subject", "version"] | None = None
    """What is ruled out once this was seen."""


class AvroWire(Document):
    """Reader schemas in the order they are tried, and the frames that may stand before the record."""

    schemas: tuple[str, ...]
    """The files of the reader schemas, in the order they are tried."""
    framing: tuple[Literal["bare", "confluent"], ...] = ("bare",)
    """What may stand before the record: nothing, or Confluent's magic byte and schema id."""
    unread: int = 0
    """How many bytes may be left after the record."""
    fraction: Literal["micros", "nanos"] = "micros"
    """What a part of a second counts, unless the parameter `avro_timestamp_fraction` says otherwise."""


class Meaning(Document):
    """The resolved `contract.yaml` of one version."""

    contract: str
    """The version that the file defines, as SYSTEM/DIALECT@N."""
    title: str | None = None
    """The product and the dialect, for people."""
    applies: Applies
    """For which releases or dates of the product the version holds."""
    status: Literal["current", "legacy"]
    """Whether the product still writes this version."""
    transport: Literal["json", "avro"]
    """Whether messages are JSON texts or Avro records."""
    avro: AvroWire | None = None
    """How records are read; only where the transport is avro."""
    provenance: Provenance
    """Where the facts come from."""
    not_separable_from: tuple[str, ...] = ()
    """Subjects whose messages may look the same."""
    envelope: Envelope
    """Where the facts about a change are in a message."""
    ops: dict[str, Op]
    """The canonical op of each op code."""
    tolerated_ops: tuple[str, ...] = ()
    """Op codes that the document does not list, which are read all the same and noted."""
    images: Images
    """Where the rows of each op are, and how they are written."""
    halves: Halves | None = None
    """What joins an update that arrives as two messages."""
    ddl: Ddl | None = None
    """Where the text and the code of a DDL statement are."""
    columns: Columns
    """Where the types of columns are."""
    values: Values
    """Which mapping of source types to value forms holds."""
    parameters: tuple[
        Literal["source_mode", "time_zone", "timestamp_zone", "avro_timestamp_fraction"], ...
    ] = ()  # fmt: skip
    """What no message says, so that the user has to."""
    rules: tuple[Rule, ...]
    """The rules across fields that messages are judged by."""
    notes: tuple[Literal["event-time-whole-seconds", "schema-block-matches-image"], ...] = ()
    """The rules across fields whose findings are only noted."""
    enums: dict[str, tuple[str, ...]] = {}
    """The values that a member may have, by JSON Pointer."""
    patterns: dict[str, Annotated[str, AfterValidator(_matched_in_linear_time)]] = {}
    """The pattern that the text of a member has to match, by JSON Pointer."""
    discriminators: tuple[Test, ...]
    """Tests on one message that all hold for messages of this subject."""
    claim: Literal["on-declaration-or-key"] | None = None
    """What has to be there before a message is taken for this version: its shape alone says too little."""
    version_evidence: tuple[Evidence, ...] = ()
    """What over many messages tells the versions of the subject apart."""
    undocumented: tuple[
        Literal["insert-images", "init-images", "update-before-and-after-images", "value-forms",
                "value-forms-except-integer-and-text"], ...
    ] = ()  # fmt: skip
    """What the source document does not say."""
    full_load: Literal["own-op", "as-insert", "as-upsert"]
    """How rows of the full load look."""

    def leaves_open(self, kind: str) -> bool:
        """Say whether no document says how values of a canonical kind are written in this version."""
        return "value-forms" in self.undocumented or (
            "value-forms-except-integer-and-text" in self.undocumented and kind not in ("integer", "text")
        )

    @model_validator(mode="after")
    def _every_row_op_has_images(self) -> Meaning:
        reachable = set(self.ops.values()) | {flag.means for flag in self.envelope.op.flags}
        missing = sorted(op for op in reachable & set(ROW_OPS) if self.images.of(op) is None)
        if missing:
            raise ValueError(f"op {missing[0]} is reachable but `images` does not say where its rows are")
        return self


class CanonicalMeaning(Document):
    """The `contract.yaml` of the canonical change: identity and source only."""

    contract: str
    """The version that the file defines, as SYSTEM/DIALECT@N."""
    title: str | None = None
    """What it is, for people."""
    status: Literal["current", "legacy"]
    """Whether changes are still written in this version."""
    provenance: Provenance
    """Where the facts come from."""


class Mapping(Document):
    """Value forms by source type: one file of `types/`."""

    mapping: str
    """The name of the mapping: that of its file."""
    names: tuple[Literal["upper", "drop-parameters", "drop-unsigned", "underscore-to-space", "code"], ...] = ()
    """What is done to the name of a type before it is looked up, in order."""
    aliases: dict[str, str] = {}
    """The name of the type that another name stands for."""
    forms: dict[str, tuple[str, ...]] = {}
    """The source types of each value form."""
    default: str | None = None
    """The value form of every other type; without one such a type is a finding."""
    untyped: dict[Literal["number", "text", "boolean"], str] = {}
    """The value form of values without a type, by the kind of JSON value."""
    invalid: dict[str, Literal["keep-text"] | dict[Literal["literal"], str]] = {}
    """What a value form does where the source database holds an invalid value."""
    zeros_left_out: tuple[str, ...] = ()
    """The value forms whose fraction of a second has no zeros at its end; one that has them is a warning."""
    images: dict[str, str] = {}
    """The value form of each branch of the Avro union, by the name of the branch."""
