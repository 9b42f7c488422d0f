"""The contract document: what one version of a dialect says, as frozen values.

Every key and named reading is one of the closed vocabulary of `docs/vocabulary.md`; an unknown one is refused.
"""

from __future__ import annotations

from functools import cached_property
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from cdc_contracts.registry.errors import ContractError
from cdc_contracts.registry.patterns import compile_pattern
from cdc_contracts.registry.pointers import split_pointer

ROW_OPS = ("insert", "update", "delete", "snapshot", "upsert", "update-before", "update-after")
CONTROL_OPS = ("ddl", "truncate", "heartbeat", "begin", "commit", "rollback", "mark")

Op = Literal[
    "insert", "update", "delete", "snapshot", "upsert", "update-before", "update-after",
    "ddl", "truncate", "heartbeat", "begin", "commit", "rollback", "mark",
]  # fmt: skip
Rule = Literal[
    "image-present-for-op", "columns-typed", "codes-match-types", "primary-key-in-image",
    "primary-key-values-agree", "old-keys-in-data", "data-keys-in-key", "images-match-fields",
    "ddl-flag-agrees", "ddl-text-only-if-ddl", "idx-is-seq-of-size", "rowid-starts-with-table",
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


At = Annotated[str, AfterValidator(_pointer)]


class Document(BaseModel):
    """A frozen part of a contract; keys outside the vocabulary are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class Applies(Document):
    """For which releases or dates of the product this version holds; `since` is included, `until` is not."""

    since: str | None = None
    until: str | None = None
    counted_from: Literal["project-created", "product-version", "document-edition", "instance-created-or-restarted"]
    zone: str | None = None


class Provenance(Document):
    """Where the facts come from, and which contradictions of the source were decided."""

    document: str
    section: str | None = None
    retrieved: str | None = None
    errata: tuple[str, ...] = ()


class OpFlag(Document):
    """A member whose value overrides the op code; `of` restricts it to some canonical ops."""

    at: At
    equals: bool | int | str = Field(alias="is")
    means: Op
    of: tuple[Op, ...] | None = None


class OpPlace(Document):
    """Where the op code is."""

    at: At
    flags: tuple[OpFlag, ...] = ()


class Place(Document):
    """Where one fact of the envelope is, and how it is read."""

    at: At | None = None
    split: Literal["tenant.database", "database.table", "schema.table", "object-name-escaped"] | None = None
    source: Literal["topic-or-table-option"] | None = Field(default=None, alias="from")
    form: (
        Literal["epoch-millis", "epoch-seconds", "epoch-seconds-text", "epoch-millis-list-last", "iso-local",
                "iso-local-or-utc"] | None
    ) = None  # fmt: skip
    absent_value: int | None = None
    null_text: str | None = None
    order: Literal["integer", "opaque"] | None = None
    rises: Literal["always", "or-stays", "once-each"] | None = None
    reading: Literal["list", "joined-u0001", "json-text-groups", "rowid-of-table"] | None = Field(
        default=None, alias="as"
    )
    member: str | None = None
    index: At | None = None
    size: At | None = None

    @model_validator(mode="after")
    def _has_a_place(self) -> Place:
        if self.at is None and self.source is None:
            raise ValueError("needs `at` (a JSON Pointer) or `from`")
        return self


class Envelope(Document):
    """Where op, names, times, position, transaction and keys sit in a message."""

    op: OpPlace
    database: Place | None = None
    schema_name: Place | None = Field(default=None, alias="schema")
    table: Place | None = None
    database_table: Place | None = None
    event_time: Place | None = None
    process_time: Place | None = None
    checkpoint: Place | None = None
    position: Place | None = None
    source_position: Place | None = None
    transaction: Place | None = None
    primary_key: Place | None = None
    primary_key_values: Place | None = None
    source_kind: Place | None = None

    @property
    def times(self) -> tuple[Place, ...]:
        """Where moments are told. A checkpoint without a form is a position, whatever it counts."""
        told = (
            self.event_time,
            self.process_time,
            self.checkpoint if self.checkpoint and self.checkpoint.form else None,
        )
        return tuple(place for place in told if place is not None and place.at is not None)


class Side(Document):
    """Where the before or after image of an op is, and how it is completed."""

    at: At
    over: At | None = None
    either: At | None = Field(default=None, alias="or")
    optional: bool = False
    not_columns: tuple[str, ...] = ()


class Sides(Document):
    """The images of one op; a side that is not named holds no row."""

    before: Side | None = None
    after: Side | None = None


class Images(Document):
    """How an image is written, and where each op has its rows."""

    container: Literal["object", "list-of-one", "list-of-rows", "positional"]
    insert: Sides | None = None
    update: Sides | None = None
    delete: Sides | None = None
    snapshot: Sides | None = None
    upsert: Sides | None = None
    update_before: Sides | None = Field(default=None, alias="update-before")
    update_after: Sides | None = Field(default=None, alias="update-after")

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
    pair_by: tuple[str, ...]


class Ddl(Document):
    """Where the text and the code of a DDL statement are."""

    text: Place | None = None
    type: Place | None = None


class ColumnTypes(Document):
    """Where the source types of the columns are."""

    at: At | None = None
    in_image: str | None = None
    reading: Literal["name-to-type", "list-of-objects", "name-to-object"] = Field(alias="as")
    name: str | None = None
    type: str | None = None
    table: str | None = None
    bare: bool = False


class ColumnCodes(Document):
    """Where the numeric type codes are; they are checked, never used to decode."""

    at: At
    reading: Literal["name-to-code"] = Field(alias="as")
    table: Literal["java.sql.Types", "drs-codes", "any"]


class ColumnHints(Document):
    """A schema block that may serve as a key of shapes, never to decode."""

    at: At
    reading: Literal["connect-schema"] = Field(alias="as")
    field: str | None = None


class Columns(Document):
    """Where column types and codes are; `types: none` where the message has none."""

    types: ColumnTypes | Literal["none"]
    codes: ColumnCodes | None = None
    hints: ColumnHints | None = None


class MappingChoice(Document):
    """A value mapping chosen by a member of the message, else by the parameter `source_mode`.

    `map` has mappings by kind of source database, and by mode where `else` is `parameter`. Case does not count.
    """

    by: At | None = None
    map: dict[str, str] = {}
    otherwise: str = Field(alias="else")

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
    absent: At | None = None
    unset: At | None = None
    equals: At | None = None
    value: str | bool | int | None = None
    within: At | None = Field(default=None, alias="in")
    outside: At | None = Field(default=None, alias="not-in")
    values: tuple[str, ...] | None = None
    prefix_of: At | None = Field(default=None, alias="prefix-of")
    not_prefix_of: At | None = Field(default=None, alias="not-prefix-of")
    at: At | None = None
    then: str | None = None
    avro_decodes: str | None = Field(default=None, alias="avro-decodes")
    unread: int | None = None
    any: tuple[Test, ...] | None = None

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
    is_form: str | None = Field(default=None, alias="is")
    image_of: Op | None = Field(default=None, alias="image-of")
    at: At | None = None
    key_chain: bool | None = Field(default=None, alias="key-chain")
    process_time_before: str | None = Field(default=None, alias="process-time-before")
    key_seen: At | None = Field(default=None, alias="key-seen")
    ddl_seen: bool | None = Field(default=None, alias="ddl-seen")
    op_seen: tuple[str, ...] | None = Field(default=None, alias="op-seen")
    unread_bytes: int | None = Field(default=None, alias="unread-bytes")
    column_form: bool | None = Field(default=None, alias="column-form")
    code_seen: int | None = Field(default=None, alias="code-seen")
    proves: Literal["subject", "version"] | None = None
    disproves: Literal["subject", "version"] | None = None


class AvroWire(Document):
    """Reader schemas in the order they are tried, and the frames that may stand before the record.

    `fraction` is what a part of a second counts, unless the parameter `avro_timestamp_fraction` says otherwise.
    """

    schemas: tuple[str, ...]
    framing: tuple[Literal["bare", "confluent"], ...] = ("bare",)
    unread: int = 0
    fraction: Literal["micros", "nanos"] = "micros"


class Meaning(Document):
    """The resolved `contract.yaml` of one version."""

    contract: str
    title: str | None = None
    applies: Applies
    status: Literal["current", "legacy"]
    transport: Literal["json", "avro"]
    avro: AvroWire | None = None
    provenance: Provenance
    not_separable_from: tuple[str, ...] = ()
    envelope: Envelope
    ops: dict[str, Op]
    tolerated_ops: tuple[str, ...] = ()
    images: Images
    halves: Halves | None = None
    ddl: Ddl | None = None
    columns: Columns
    values: Values
    parameters: tuple[
        Literal["source_mode", "time_zone", "timestamp_zone", "avro_timestamp_fraction"], ...
    ] = ()  # fmt: skip
    rules: tuple[Rule, ...]
    notes: tuple[Literal["event-time-whole-seconds", "schema-block-matches-image"], ...] = ()
    enums: dict[str, tuple[str, ...]] = {}
    patterns: dict[str, Annotated[str, AfterValidator(_matched_in_linear_time)]] = {}
    discriminators: tuple[Test, ...]
    claim: Literal["on-declaration-or-key"] | None = None
    version_evidence: tuple[Evidence, ...] = ()
    undocumented: tuple[
        Literal["insert-images", "init-images", "update-before-and-after-images", "value-forms",
                "value-forms-except-integer-and-text"], ...
    ] = ()  # fmt: skip
    full_load: Literal["own-op", "as-insert", "as-upsert"]

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
    title: str | None = None
    status: Literal["current", "legacy"]
    provenance: Provenance


class Mapping(Document):
    """Value forms by source type: one file of `types/`."""

    mapping: str
    names: tuple[Literal["upper", "drop-parameters", "drop-unsigned", "underscore-to-space", "code"], ...] = ()
    aliases: dict[str, str] = {}
    forms: dict[str, tuple[str, ...]] = {}
    default: str | None = None
    untyped: dict[Literal["number", "text", "boolean"], str] = {}
    invalid: dict[str, Literal["keep-text"] | dict[Literal["literal"], str]] = {}
    images: dict[str, str] = {}
