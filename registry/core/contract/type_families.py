"""Type families: the kind of values in a database column, whatever a dialect calls its source type.

Generating messages needs it: in a dialect with type names of its own (six types, numbers of a protocol) a `bigint
unsigned` has another name, and a type that it cannot distinguish becomes the nearest one it has.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from cdc_contracts.registry.core.contract.value_mappings import ValueMapping
from cdc_contracts.registry.core.values import FORMS
from cdc_contracts.registry.core.values.source_types import ARRAY, parse_source_type
from cdc_contracts.registry.core.values.type_bounds import bound_of

_NAMES: Final[Mapping[str, tuple[str, ...]]] = {
    "integer": ("tinyint", "smallint", "mediumint", "int", "integer", "bigint", "int2", "int4", "int8", "smallserial",
                "serial", "bigserial", "oid"),
    "decimal": ("decimal", "numeric", "number"),
    "float": ("float", "double", "real", "float4", "float8"),
    "boolean": ("boolean", "bool"),
    "bit": ("bit",),
    "year": ("year",),
    "date": ("date",),
    "time": ("time", "timetz"),
    "datetime": ("datetime", "timestamp without time zone"),
    "timestamp": ("timestamp", "timestamptz"),
    "bytes": ("binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob", "bytea"),
    "json": ("json", "jsonb"),
    "text": ("bit varying",),
}  # fmt: skip
"""A name of several words counts before its first word alone."""
_TEXTUAL: Final = frozenset({
    "char", "varchar", "tinytext", "text", "mediumtext", "longtext", "enum", "set", "character", "bpchar", "name",
    "citext", "uuid", "inet", "cidr", "macaddr", "macaddr8", "money", "interval", "xml", "tsvector", "tsquery",
    "hstore", "int4range", "int8range", "numrange", "tsrange", "tstzrange", "daterange",
})  # fmt: skip
_FAMILY_OF: Final = MappingProxyType({name: family for family, names in _NAMES.items() for name in names})

# Which canonical kinds hold a family, the best first.
_KINDS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType({
    "integer": ("integer", "decimal", "number"),
    "decimal": ("decimal", "number"),
    "float": ("float", "number"),
    "boolean": ("boolean", "integer"),
    "bit": ("bit", "integer"),
    "year": ("year", "integer"),
    "date": ("date", "datetime", "timestamp"),
    "time": ("time", "text"),
    "datetime": ("datetime", "timestamp"),
    "timestamp": ("timestamp", "datetime"),
    "bytes": ("bytes",),
    "json": ("json", "text"),
    "text": ("text",),
})  # fmt: skip

_OF_64_BITS: Final = frozenset({"BIGINT", "INT8", "SERIAL"})
_UNSIGNED: Final = "decimal(20,0)"
_MOST_SIGNED: Final = 2**63 - 1
_NEVER_TEXT: Final = frozenset({
    "integer", "float", "boolean", "bit", "year", "date", "time", "datetime", "timestamp"
})  # fmt: skip

# Numbers of types in the MySQL protocol, as records on the wire have them.
PROTOCOL_TYPES: Final[Mapping[str, str]] = MappingProxyType({
    "tinyint": "1", "smallint": "2", "mediumint": "9", "int": "3", "integer": "3", "bigint": "8", "decimal": "246",
    "numeric": "246", "float": "4", "double": "5", "boolean": "1", "bool": "1", "bit": "16", "year": "13",
    "date": "10", "time": "11", "datetime": "12", "timestamp": "7", "char": "254", "varchar": "253", "enum": "247",
    "set": "248", "json": "245", "geometry": "255", "binary": "254", "varbinary": "253", "tinyblob": "249",
    "tinytext": "249", "blob": "252", "text": "252", "mediumblob": "250", "mediumtext": "250", "longblob": "251",
    "longtext": "251",
})  # fmt: skip
_OTHER_NAMES: Final = frozenset({"integer", "numeric", "bool", "boolean"})
"""Names of types that have another of their own in the list."""


def protocol_names(number: str) -> tuple[str, ...]:
    """Return the MySQL types of a protocol number; several types share one, such as text and blob."""
    return tuple(name for name, result in PROTOCOL_TYPES.items() if result == number and name not in _OTHER_NAMES)


def family_of(source_type: str) -> str:
    """Return the family of a source type; what is not known holds text, and so does an array."""
    if source_type.endswith(ARRAY):
        return "text"
    whole = parse_source_type(source_type).name.lower()
    return _FAMILY_OF.get(whole) or _FAMILY_OF.get(base_name(source_type), "text")


def base_name(source_type: str) -> str:
    """Return a type without its parameters and attributes: `bigint(20) unsigned` is `bigint`."""
    return source_type.lower().partition("(")[0].split(" ")[0]


def type_name_in(
    mapping: ValueMapping, source_type: str, table: str | None, *, names_encodings: bool = False
) -> str | None:
    """Return the type by which a dialect names a source type, or None if it cannot.

    Its own name where the mapping knows it; with a `table` of numbers the number; else the first type whose values
    hold the family, unless the dialect has names of databases, which do not say how values are written.
    """
    if table is not None:
        number = PROTOCOL_TYPES.get(base_name(source_type))
        return number if number is not None and mapping.form_of(number) is not None else None
    if mapping.lists(source_type):
        return source_type
    known = source_type.endswith(ARRAY) or base_name(source_type) in {*_FAMILY_OF, *_TEXTUAL}
    by_family = known and (names_encodings or not _uses_words_of_sql(mapping))
    nearest = _nearest_type(mapping, source_type) if by_family else None
    return source_type if nearest is None and mapping.document.default is not None else nearest


def _nearest_type(mapping: ValueMapping, source_type: str) -> str | None:
    """Return the first type whose values hold the family of a source type, with what parameters they are read by."""
    said = parse_source_type(source_type)
    family, parameters = family_of(source_type), said.parameters
    of_kind: dict[str, str] = {}
    for form, types in mapping.document.forms.items():
        wanted = FORMS[form].type_parameters
        if types and (parameters or "scale" not in wanted):
            brackets = f"({','.join('*' if one is None else str(one) for one in parameters)})"
            of_kind.setdefault(FORMS[form].kind, types[0] + (brackets if wanted and parameters else ""))
    if said.unsigned and said.name in _OF_64_BITS and _is_signed(of_kind.get("integer", "")):
        return _nearest_type(mapping, _UNSIGNED)
    return next((of_kind[kind] for kind in _KINDS[family] if kind in of_kind), None)


def _is_signed(type_: str) -> bool:
    """Return whether values of a type are numbers of 64 bits with a sign: a greater one has to be a decimal."""
    bound = bound_of(type_, "integer")
    return bound is not None and bound.most == _MOST_SIGNED


def may_hold(kind: str, source_type: str) -> bool:
    """Return whether values of a canonical kind may be those of a source type.

    Any may be written as text. Among the types that hold text are such as MONEY and HSTORE, whose values may be others.
    """
    family = family_of(source_type)
    if family == "text":
        return kind not in _NEVER_TEXT
    return kind in ("text", "opaque", *_KINDS[family])


def fit_family(text: str, family: str, kind: str) -> str:
    """Return canonical text of a family as another kind holds it, with defaults for what the family lacks.

    A date gets midnight, a wall-clock time is taken for UTC, a boolean counts.
    """
    if kind == "integer" and family == "boolean":
        return {"true": "1", "false": "0"}.get(text, text)
    if kind in ("datetime", "timestamp") and family == "date":
        text += "T00:00:00"
    if kind == "timestamp" and family in ("date", "datetime"):
        return text + "Z"
    return text


def _uses_words_of_sql(mapping: ValueMapping) -> bool:
    """Return whether a mapping has the type names of a database: a type it lacks is then one that is not documented."""
    return any(mapping.lists(name) for name in ("INT", "VARCHAR2"))
