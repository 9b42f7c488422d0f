"""Column model of a contract: where types and codes of columns are, and which value mapping reads their values."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Annotated, Any, ClassVar, Final, Literal

from pydantic import AfterValidator, Field, model_validator

from cdc_contracts.registry.core.contract.document_model import SOURCE_MODES, At, Document, normalise_kind


class ColumnTypes(Document):
    """Where the source types of the columns are."""

    renamed_keys: ClassVar[Mapping[str, str]] = {"bare": "without_parameters"}

    at: At | None = None
    """Where the types are, as a JSON Pointer."""
    in_image: str | None = None
    """The member of each image that holds the types."""
    reading: Literal["name-to-type", "list-of-objects", "name-to-object", "connect-schema"] = Field(alias="as")
    """How types are written: an object of types by column, a list of objects of columns, an object of objects, or a
    schema of Kafka Connect."""
    field: str | None = None
    """The field of a schema of Kafka Connect that describes a row; without it the schema itself does."""
    parameter: str | None = None
    """The parameter of a field of a schema of Kafka Connect that names the type of a column which has no semantic name.

    A field without it describes no column. Of a framed record, such fields stand beside the row (`/payload`), and the
    full name of its schema before it (`/record`).
    """
    name: str | None = None
    """The member of an entry that holds the name of the column."""
    type: str | None = None
    """The member of an entry that holds the type."""
    table: str | None = None
    """The table of numbers that stand for types."""
    without_parameters: bool = False
    """Whether types stand without a length, so that one with a length is drift."""
    with_parameters: tuple[str, ...] = ()
    """Types, in capitals, that always stand with a length, so that one without is drift."""

    @model_validator(mode="after")
    def _has_a_field_in_a_block_alone(self) -> ColumnTypes:
        if self.field is not None and self.reading != "connect-schema":
            raise ValueError("`field` is for `as: connect-schema`")
        if self.parameter is not None and (self.reading != "connect-schema" or self.field is not None):
            raise ValueError("`parameter` is for `as: connect-schema` without `field`")
        return self

    @property
    def is_listed(self) -> bool:
        """Whether the columns stand in a list, each with its name and type."""
        return self.reading in ("list-of-objects", "connect-schema")

    @property
    def name_member(self) -> str | None:
        """The member of an entry that holds the name of the column."""
        return "field" if self.reading == "connect-schema" else self.name

    @property
    def names_encodings(self) -> bool:
        """Whether a type says how values are written, not what the source database calls the type of the column."""
        return self.reading == "connect-schema"


class ColumnCodes(Document):
    """Where the numeric type codes are; they are checked, never used to decode."""

    at: At
    """Where the codes are, as a JSON Pointer."""
    reading: Literal["name-to-code"] = Field(alias="as")
    """How codes are written: an object of codes by column."""
    table: Literal["java.sql.Types", "drs-codes", "any"]
    """The table that codes are checked with; `any` checks none."""


class SchemaBlock(Document):
    """A schema block that may serve as a key of shapes, never to decode."""

    at: At
    """Where the schema block is, as a JSON Pointer."""
    reading: Literal["connect-schema"] = Field(alias="as")
    """How the block is written: a schema of Kafka Connect."""
    field: str | None = None
    """The field of the block that describes a row."""


class Columns(Document):
    """Where column types and codes are; `types: none` where the message has none."""

    renamed_keys: ClassVar[Mapping[str, str]] = {"hints": "schema_block"}

    types: ColumnTypes | Literal["none"]
    """Where the types of columns are, or `none` where no message says them."""
    codes: ColumnCodes | None = None
    """Where the numeric codes of types are."""
    schema_block: SchemaBlock | None = None
    """Where a schema block is."""
    optional: bool = False
    """Whether a row may lack columns that other rows of its table have, as fields of documents."""
    lacking: Literal["null-or-empty", "null-if-in-before"] | None = None
    """What a column is that the row after a change lacks, where rows may lack columns: NULL or empty, so that its
    former value no longer holds; or NULL if the row before has it. Without it, nothing is known of such a column."""

    def needs_parameters(self, source_type: str) -> bool:
        """Return whether a type lacks the length that it always has in messages."""
        return not isinstance(self.types, str) and source_type.strip().upper() in self.types.with_parameters


class MappingChoice(Document):
    """A value mapping chosen by a member of the message, else by the parameter `source_mode`.

    `map` has mappings by kind of source database, and by mode where `else` is `parameter`; without a mode that it has,
    the first mode counts. Case does not count.
    """

    by: At | None = None
    """Where the kind of source database is that decides, as a JSON Pointer."""
    map: dict[str, str] = Field(default_factory=dict)
    """The value mapping for each kind of source database."""
    otherwise: str = Field(alias="else")
    """The value mapping for all other kinds, or `parameter` where source_mode decides."""

    @model_validator(mode="after")
    def _knows_the_modes(self) -> MappingChoice:
        if self.otherwise == "parameter" and SOURCE_MODES[0] not in self.modes:
            raise ValueError(f"`else: parameter` needs a mapping for {SOURCE_MODES[0]}")
        return self

    @cached_property
    def modes(self) -> tuple[str, ...]:
        """The modes that the parameter may say, none where it does not decide."""
        known = {normalise_kind(kind) for kind in self.map} if self.otherwise == "parameter" else set()
        return tuple(mode for mode in SOURCE_MODES if normalise_kind(mode) in known)

    @cached_property
    def _by_kind(self) -> dict[str, str]:
        return {normalise_kind(name): mapping for name, mapping in self.map.items()}

    def name_for(self, kind: str | None, mode: str | None) -> str:
        """Return the mapping for a kind of source database, in a mode where the kind does not say."""
        by_kind = self._by_kind
        if kind is not None and normalise_kind(kind) in by_kind:
            return by_kind[normalise_kind(kind)]
        if self.otherwise != "parameter":
            return self.otherwise
        return by_kind[normalise_kind(mode if mode in self.modes else SOURCE_MODES[0])]


class Values(Document):
    """Which mapping of source types to value forms holds."""

    mapping: str | MappingChoice
    """The value mapping (a file of types/), or the choice between several."""

    @property
    def kind_at(self) -> str | None:
        """Where a message says the kind of source database that decides."""
        return None if isinstance(self.mapping, str) else self.mapping.by

    @property
    def modes(self) -> tuple[str, ...]:
        """The modes that the parameter source_mode may say, none where it does not decide."""
        return () if isinstance(self.mapping, str) else self.mapping.modes

    def mapping_for(self, kind: str | None, mode: str | None) -> str:
        """Return the name of the mapping that applies to a message."""
        return self.mapping if isinstance(self.mapping, str) else self.mapping.name_for(kind, mode)


def _check_invalid(entry: Any) -> Any:
    if isinstance(entry, dict) and ("literal" not in entry or entry.get("others", _KEEP) != _KEEP):
        raise ValueError(f"needs `literal`; `others` can only be `{_KEEP}`")
    return entry


_KEEP: Final = "keep-text"
InvalidValues = Annotated[
    Literal["keep-text"] | dict[Literal["literal", "others"], str | tuple[str, ...]], AfterValidator(_check_invalid)
]
"""What stands for invalid values, or that they are kept as sent."""


def invalid_literals(entry: str | Mapping[Any, Any] | None) -> tuple[str, ...]:
    """Return the literals of an entry of `invalid`."""
    literal = entry["literal"] if isinstance(entry, Mapping) else ()
    return (literal,) if isinstance(literal, str) else tuple(literal)


def keeps_invalid(entry: str | Mapping[Any, Any] | None) -> bool:
    """Return whether an entry of `invalid` keeps values as sent that are none of its literals."""
    return (entry.get("others") if isinstance(entry, Mapping) else entry) == _KEEP


class MappingDocument(Document):
    """Value forms by source type: one file of `types/`."""

    renamed_keys: ClassVar[Mapping[str, str]] = {"zeros_left_out": "no_trailing_zeros"}

    mapping: str
    """The name of the mapping: that of its file."""
    names: tuple[Literal["upper", "drop-parameters", "drop-unsigned", "underscore-to-space", "code"], ...] = ()
    """What is done to the name of a type before it is looked up, in order."""
    aliases: dict[str, str] = Field(default_factory=dict)
    """The name of the type that another name stands for."""
    forms: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """The source types of each value form; `TIMESTAMP(4..6)` is one with these precisions."""
    options: dict[str, dict[str, dict[str, tuple[str, ...]]]] = Field(default_factory=dict)
    """The source types whose form an option of the producer decides: by option, its value and the form.

    A parameter of a run has the name of the option; without it, values of these types are read as they were sent, or by
    the form that `forms` lists them under, if each value says itself which form it has: text or number.
    """
    null_sent_as: dict[str, dict[str, Literal["null", "default"]]] = Field(default_factory=dict)
    """The option of the producer that says what NULL is sent as in a column with a default, by option and its value.

    A parameter of a run has the name of the option; without it, a value that equals the default may stand for NULL.
    Where a mapping has no such option, NULL is null.
    """
    scales: dict[str, str] = Field(default_factory=dict)
    """The option of the producer that says how many digits its numbers have after the point, by a type that does not.

    A parameter of a run has the name of the option; its values are 0 to 9.
    """
    arrays: str | None = None
    """The value form of arrays, whose types end in `[]`, whatever their elements are."""
    default: str | None = None
    """The value form of every other type; without one such a type is a finding."""
    untyped: dict[Literal["number", "text", "boolean", "array", "object"], str] = Field(default_factory=dict)
    """The value form of values without a type, by the kind of JSON value."""
    invalid: dict[str, InvalidValues] = Field(default_factory=dict)
    """What a value form does where the source database holds an invalid value, or one that is no value of the form.

    `keep-text` keeps the text of a time that does not exist, and a number beyond the years of the form, as sent.
    `literal` is a text, or a list of them, that stands for such a value; numbers are quoted. `others: keep-text` beside
    it keeps the others.
    """
    substitutes: dict[str, dict[str, str]] = Field(default_factory=dict)
    """Values that the producer writes in place of others as well, by the form: the value as it is sent, and what for.

    Such a value is read, and noted; numbers are quoted.
    """
    no_trailing_zeros: tuple[str, ...] = ()
    """The value forms whose fraction of a second has no zeros at its end; one that has them is a warning."""
    images: dict[str, str] = Field(default_factory=dict)
    """The value form of each branch of the Avro union, by the name of the branch."""

    def identity(self) -> dict[str, Any]:
        """Return everything here that decides how values are read, as plain data."""
        optional = ("options", "null_sent_as", "scales", "arrays", "substitutes")
        return self.model_dump(exclude={key for key in optional if not getattr(self, key)})
