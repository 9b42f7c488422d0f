"""Envelope model of a contract: where op, names, times, position, transaction, keys and DDL are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Final, Literal, NamedTuple

from pydantic import Field, model_validator

from cdc_contracts.registry.core.contract.discriminator_model import Test
from cdc_contracts.registry.core.contract.document_model import At, Document, Op, normalise_kind

_KAFKA_KEY: Final = "kafka-key"
_IN_KEYS: Final = ("not_columns", "json_texts")
"""What is said of the members of a Kafka key."""


class KeyPlace(NamedTuple):
    """Where the object of the key columns is in a Kafka key, as a JSON Pointer, and its members that are no columns.

    `json_texts` has its members that hold the value of a column as JSON text, each with the name of the column.
    """

    at: str
    not_columns: tuple[str, ...] = ()
    json_texts: tuple[tuple[str, str], ...] = ()


class OpFlag(Document):
    """What decides the op before the op code does: a member with a value, or tests that all hold.

    The first flag that holds decides.
    """

    at: At | None = None
    """Where the flag is, as a JSON Pointer."""
    equals: bool | int | str | None = Field(default=None, alias="is")
    """The value that the flag has."""
    when: tuple[Test, ...] = ()
    """Tests of a message that all hold, instead of `at` and `is`; for messages that have no op code."""
    means: Op
    """The canonical op that the message then has."""
    of: tuple[Op, ...] | None = None
    """The canonical ops that the flag overrides; without them it overrides every op."""

    def codes_at(self, at: str) -> tuple[str, ...] | None:
        """Return the op codes at a JSON Pointer that the flag is limited to; None if its tests name none."""
        for test in self.when:
            if test.equals == at and isinstance(test.value, str):
                return (test.value,)
            if test.within == at:
                return test.values
        return None

    def replaces_code_at(self, at: str) -> bool:
        """Return whether the flag holds only for messages that have no op code at a JSON Pointer."""
        return any(test.absent == at for test in self.when)

    @model_validator(mode="after")
    def _is_one_condition(self) -> OpFlag:
        if (self.at is None) != (self.equals is None) or (self.at is None) != bool(self.when):
            raise ValueError("a flag must have either `at` and `is`, or `when`")
        if self.of is not None and self.when:
            raise ValueError("`of` must not stand beside `when`: add a test of the op code")
        if any(test.prefix_of or test.not_prefix_of or test.avro_decodes for test in self.when):
            raise ValueError("`when` takes the tests present, absent, unset, equals, in, not-in and any")
        return self


class OpPlace(Document):
    """Where the op code is."""

    at: At
    """Where the op code is, as a JSON Pointer."""
    flags: tuple[OpFlag, ...] = ()
    """Members whose value overrides the op code."""
    null_value: dict[str, str] = Field(default_factory=dict)
    """The members, where those of an op are, that a null value stands for beside the columns of its Kafka key, if the
    parameter null_values says that it is a deletion."""
    null_means: Literal["deletion"] | None = None
    """What a null value is where the parameter null_values does not say; without it, a tombstone."""


NAME_PARAMETER: Final = "^[a-z][a-z0-9_]*_(member|code)$"
"""What parameters are called that say a name."""


class ChosenName(Document):
    """What users of the product may call otherwise; a parameter of a run that has the same name says how."""

    member: At | None = None
    """The member, as a JSON Pointer to what the document calls it."""
    op_code: str | None = None
    """The op code, as the document writes it."""

    @model_validator(mode="after")
    def _is_one(self) -> ChosenName:
        if (self.member is None) == (self.op_code is None):
            raise ValueError("needs either `member` or `op_code`")
        return self


class Place(Document):
    """Where one fact of the envelope is, and how it is read."""

    renamed_keys: ClassVar[Mapping[str, str]] = {"rises": "monotonic", "never": "excluded_kinds"}

    at: At | None = None
    """Where the fact is, as a JSON Pointer such as /data or /payload/op."""
    split: (
        Literal["tenant.database", "tenant.database.table", "database.table", "schema.table", "object-name-escaped"]
        | None
    ) = None  # fmt: skip
    """How a name of several parts is taken apart."""
    source: Literal["topic-or-table-option", "kafka-key"] | None = Field(default=None, alias="from")
    """Where the fact comes from if the value of a record does not say it: then `at` leads into the Kafka key."""
    form: (
        Literal["epoch-millis", "epoch-micros", "epoch-seconds", "epoch-seconds-text", "epoch-seconds-or-millis",
                "epoch-millis-list-last", "iso-local", "iso-local-or-utc"] | None
    ) = None  # fmt: skip
    """How a moment is written."""
    absent_value: int | None = None
    """The number that stands for no value."""
    null_text: str | None = None
    """The text that stands for no value."""
    order: Literal["integer", "opaque"] | None = None
    """Whether positions can be put in order."""
    monotonic: Literal["strict", "non-strict", "unique"] | None = None
    """How values follow one another within a partition."""
    reading: Literal["list", "joined-u0001", "json-text-groups", "rowid-of-table"] | None = Field(
        default=None, alias="as"
    )
    """How several names or values are written in one member."""
    member: str | None = None
    """The group of the JSON text that is the primary key; without it, PRIMARY."""
    kinds: tuple[str, ...] | None = None
    """The kinds of source database that the document lists; another one is a warning. Case does not count."""
    excluded_kinds: tuple[str, ...] = ()
    """The kinds of source database that have no such messages, as the document says; one of them is a warning."""
    index: At | None = None
    """Where the number of this message within its transaction is, as a JSON Pointer."""
    size: At | None = None
    """Where the number of messages of the transaction is, as a JSON Pointer."""
    not_columns: tuple[str, ...] = ()
    """The members of the object in the Kafka key that are no columns."""
    json_texts: dict[str, str] = Field(default_factory=dict)
    """The members of the object in the Kafka key that hold the value of a column as JSON text, and the column."""

    def __hash__(self) -> int:
        return hash((self.at, self.source))

    def is_of_source(self, kind: str) -> bool:
        """Return whether messages are documented from a kind of source database."""
        known = self.kinds is None or normalise_kind(kind) in map(normalise_kind, self.kinds)
        return known and normalise_kind(kind) not in map(normalise_kind, self.excluded_kinds)

    @property
    def in_value(self) -> str | None:
        """Where the fact is in the value of a record, as a JSON Pointer; None if it is not there."""
        return None if self.source == _KAFKA_KEY else self.at

    @model_validator(mode="after")
    def _has_a_place(self) -> Place:
        if self.at is None and self.source is None:
            raise ValueError("needs `at` (a JSON Pointer) or `from`")
        if self.source == _KAFKA_KEY and self.at is None:
            raise ValueError('needs `at` beside `from: kafka-key`: "" if the whole key is the object of key columns')
        if self.source == _KAFKA_KEY and self.model_fields_set - {"at", "source", *_IN_KEYS}:
            raise ValueError("takes only `at`, `not_columns` and `json_texts` beside `from: kafka-key`")
        for name in _IN_KEYS:
            if self.source != _KAFKA_KEY and getattr(self, name):
                raise ValueError(f"`{name}` is for `from: kafka-key`")
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
    release: Place | None = None
    """Where the release of the product that wrote the message is, as a text such as 2.7.4.Final."""

    @property
    def takes_table(self) -> bool:
        """Whether messages name no table, so that a topic or an option names it."""
        return self.table is not None and self.table.source is not None

    @property
    def key_place(self) -> KeyPlace | None:
        """Where the key columns are in the Kafka key; None if no contract reads it."""
        place = self.primary_key
        if place is None or place.source != _KAFKA_KEY or place.at is None:
            return None
        return KeyPlace(place.at, place.not_columns, tuple(place.json_texts.items()))

    @model_validator(mode="after")
    def _reads_key_columns_from_keys(self) -> Envelope:
        for name in type(self).model_fields:
            place = getattr(self, name)
            if name != "primary_key" and isinstance(place, Place) and place.source == _KAFKA_KEY:
                raise ValueError(f"`{name}` must not have `from: kafka-key`: only `primary_key` is read from it")
        if self.op.null_value and self.key_place is None:
            raise ValueError("`op.null_value` needs `primary_key: {from: kafka-key}`, which names the row")
        if self.op.null_means is not None and not self.op.null_value:
            raise ValueError("`op.null_means` needs `op.null_value`, the members that a null value stands for")
        if self.key_place is not None and self.primary_key_values is not None:
            raise ValueError("`primary_key_values` must not stand beside a Kafka key, which holds the values too")
        return self

    @property
    def times(self) -> tuple[Place, ...]:
        """The places of times. A checkpoint without a form is a position, whatever it counts."""
        result = (
            self.event_time,
            self.process_time,
            self.checkpoint if self.checkpoint and self.checkpoint.form else None,
        )
        return tuple(place for place in result if place is not None and place.at is not None)


class Ddl(Document):
    """Where the text and the code of a DDL statement are."""

    text: Place | None = None
    """Where the text of the statement is."""
    type: Place | None = None
    """Where the code of the kind of statement is."""
    former_definition: Place | None = None
    """Where the definition is that a table had before the statement: no row, although rows of other messages are
    there."""

    def stands_at(self, pointer: str) -> bool:
        """Return whether the place of rows of other messages holds the statement, or a definition of its table."""
        text = self.text.at if self.text is not None else None
        former = self.former_definition.at if self.former_definition is not None else None
        return pointer == former or (text or "").startswith(f"{pointer}/")
