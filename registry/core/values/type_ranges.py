"""Type ranges: the values that a column of a source type can hold, and those that another type cannot."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from cdc_contracts.registry.core.values.source_types import ARRAY, parse_members, parse_source_type

SAME: Final = "same"
WIDER: Final = "wider"
NARROWER: Final = "narrower"
SHORTER: Final = "shorter"
"""Only fewer characters or bytes than before: a text is kept whole, however long it is."""
OTHER: Final = "other"
UNKNOWN: Final = "unknown"

_LISTED: Final = re.compile(r"\s*(enum|set)\s*\(", re.IGNORECASE)
_LENGTH: Final = re.compile(r"\(\s*([0-9]{1,9})")
_INTEGERS: Final[Mapping[str, int]] = {
    "TINYINT": 8, "SMALLINT": 16, "MEDIUMINT": 24, "INT": 32, "INTEGER": 32, "BIGINT": 64, "INT64": 64,
    "INT2": 16, "INT4": 32, "INT8": 64, "SMALLSERIAL": 16, "BIGSERIAL": 64, "OID": 32,
}  # fmt: skip
_EXACT: Final = frozenset({"DECIMAL", "NUMERIC", "DEC", "FIXED", "NUMBER"})
_UNSAID: Final = frozenset({"NUMBER", "NUMERIC"})
"""Exact numbers of any digits where they say none: what a database names so itself."""
_FLOATS: Final[Mapping[str, int]] = {
    "FLOAT": 32, "BINARY FLOAT": 32, "DOUBLE": 64, "DOUBLE PRECISION": 64, "REAL": 32, "BINARY DOUBLE": 64,
    "FLOAT4": 32, "FLOAT8": 64,
}  # fmt: skip
_UNBOUNDED: Final = 1 << 32
"""Also of what no database takes without a length: messages name such types, and the length stays unknown."""
_LENGTHS: Final[Mapping[str, tuple[str, int]]] = {
    "CHAR": ("text", 1), "NCHAR": ("text", 1), "VARCHAR": ("text", _UNBOUNDED), "VARCHAR2": ("text", _UNBOUNDED),
    "NVARCHAR2": ("text", _UNBOUNDED), "NVARCHAR": ("text", _UNBOUNDED), "TINYTEXT": ("text", 255),
    "TEXT": ("text", 65_535), "MEDIUMTEXT": ("text", 16_777_215), "LONGTEXT": ("text", _UNBOUNDED),
    "CLOB": ("text", _UNBOUNDED), "NCLOB": ("text", _UNBOUNDED), "STRING": ("text", _UNBOUNDED),
    "LONG": ("text", _UNBOUNDED), "BINARY": ("bytes", 1), "VARBINARY": ("bytes", _UNBOUNDED),
    "RAW": ("bytes", _UNBOUNDED), "TINYBLOB": ("bytes", 255), "BLOB": ("bytes", 65_535),
    "MEDIUMBLOB": ("bytes", 16_777_215), "LONGBLOB": ("bytes", _UNBOUNDED), "LONG RAW": ("bytes", _UNBOUNDED),
    "BYTES": ("bytes", _UNBOUNDED), "BIT": ("bit", 1), "CHARACTER": ("text", 1),
    "CHARACTER VARYING": ("text", _UNBOUNDED), "BPCHAR": ("text", _UNBOUNDED), "CITEXT": ("text", _UNBOUNDED),
    "NAME": ("text", 63), "BYTEA": ("bytes", _UNBOUNDED), "BIT VARYING": ("bit varying", _UNBOUNDED),
}  # fmt: skip
_OF_ANY_LENGTH: Final = frozenset({"CHARACTER", "CHARACTER VARYING", "BPCHAR", "CITEXT", "NAME"})
"""Names of text in databases whose TEXT has no length."""
_TIMES: Final = frozenset({"DATETIME", "TIMESTAMP", "TIME"})
_SPANS: Final = ("TIMESTAMP WITH", "TIME WITH", "INTERVAL")
_PLAIN: Final = frozenset({
    "DATE", "YEAR", "JSON", "BOOLEAN", "BOOL", "XMLTYPE", "ROWID", "UROWID", "BFILE",
    "JSONB", "JSONPATH", "XML", "UUID", "MONEY", "INET", "CIDR", "MACADDR", "MACADDR8", "TSVECTOR", "TSQUERY", "HSTORE",
    "LTREE", "VECTOR", "PG LSN",
    "XID", "XID8", "CID", "TID", "REFCURSOR", "REGCLASS", "REGTYPE", "REGPROC", "REGNAMESPACE", "REGROLE", '"CHAR"',
    "INT4RANGE", "INT8RANGE", "NUMRANGE", "TSRANGE", "TSTZRANGE", "DATERANGE", "INT4MULTIRANGE", "INT8MULTIRANGE",
    "NUMMULTIRANGE", "TSMULTIRANGE", "TSTZMULTIRANGE", "DATEMULTIRANGE",
})  # fmt: skip
_SHAPES: Final = frozenset({
    "POINT", "LINE", "LSEG", "BOX", "PATH", "POLYGON", "CIRCLE", "GEOMETRY", "GEOGRAPHY", "LINESTRING", "MULTIPOINT",
    "MULTILINESTRING", "MULTIPOLYGON", "GEOMETRYCOLLECTION",
})  # fmt: skip
"""Types of shapes: whether one takes those of another differs by database."""
_USUAL_DIGITS: Final = 6
"""The digits of a second of a type that does not say; in MySQL it has none."""


@dataclass(frozen=True)
class TypeRange:
    """A type by what its values can be.

    `family` is integer, decimal, float, text, bytes, bit, enum, set, or the name of a type that stands alone. Of a
    number, `whole` digits stand before the point and `scale` behind; None means as many as there are. `low` and `high`
    bound an integer; `size` is the length of text and bytes, the bits of a float, the digits of a second.
    """

    family: str
    low: int = 0
    high: int = 0
    whole: int | None = None
    scale: int | None = None
    size: int = 0
    members: tuple[str, ...] = ()

    @property
    def precision(self) -> int | None:
        """The digits of an exact number, None if it does not say."""
        return None if self.whole is None or self.scale is None else self.whole + self.scale


@lru_cache(maxsize=4096)
def read_range(text: str) -> TypeRange | None:
    """Return the range of a type, None if the name is not known; that of an array is the one of its elements."""
    if text.endswith(ARRAY):
        element = read_range(text.removesuffix(ARRAY))
        return None if element is None else replace(element, family=element.family + ARRAY)
    listed = _LISTED.match(text)
    if listed is not None:
        return TypeRange(listed[1].lower(), members=parse_members(text))
    result = parse_source_type(text)
    name, length = result.name, _LENGTH.search(text)
    size = None if length is None else int(length[1])
    if name in _INTEGERS:
        bits = _INTEGERS[name]
        low, high = (0, 2**bits - 1) if result.unsigned else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
        return TypeRange("integer", low=low, high=high)
    if name in _EXACT:
        digits = result.digits
        if digits is not None:
            return TypeRange("decimal", whole=digits.whole, scale=digits.fraction)
        return TypeRange("decimal") if name in _UNSAID else TypeRange("decimal", whole=10, scale=0)
    if name in _FLOATS:
        return TypeRange("float", size=_FLOATS[name])
    if name in _LENGTHS:
        family, default = _LENGTHS[name]
        return TypeRange(family, size=default if size is None else size)
    if name in _TIMES or name.startswith(_SPANS):
        return TypeRange(name.lower(), size=(0 if name in _TIMES else _USUAL_DIGITS) if size is None else size)
    return TypeRange(name.lower()) if name in _PLAIN or name in _SHAPES else None


def compare_types(old: str, new: str) -> str:
    """Return what a column of the new type does with values of the old one: one of the words above."""
    if " ".join(old.upper().split()) == " ".join(new.upper().split()) and "'" not in old:
        return SAME
    if old.endswith(ARRAY) and new.endswith(ARRAY):
        return compare_types(old.removesuffix(ARRAY), new.removesuffix(ARRAY))
    before, after = read_range(old), read_range(new)
    if before is None or after is None:
        return SAME if old == new else UNKNOWN
    if parse_source_type(old).name in _OF_ANY_LENGTH and parse_source_type(new).name == "TEXT":
        return WIDER
    if before == after:
        return SAME
    numbers = ("integer", "decimal")
    if before.family in numbers and after.family in numbers:
        return WIDER if _holds_numbers(after, before) else NARROWER
    if before.family != after.family:
        shapes = {before.family.upper(), after.family.upper()} <= _SHAPES
        return UNKNOWN if shapes else OTHER
    return _COMPARISONS.get(before.family, _by_size)(before, after)


def _holds_numbers(wide: TypeRange, narrow: TypeRange) -> bool:
    if wide.family == "integer" and narrow.family == "integer":
        return wide.low <= narrow.low and narrow.high <= wide.high
    if wide.family == "integer":
        if narrow.whole is None or narrow.scale is None or narrow.scale > 0:
            return False
        bound: int = 10**narrow.whole - 1
        return wide.low <= -bound and bound <= wide.high
    if wide.whole is None or wide.scale is None:
        return True
    if narrow.family == "integer":
        return max(len(str(narrow.high)), len(str(abs(narrow.low)))) <= wide.whole
    if narrow.whole is None or narrow.scale is None:
        return False
    return narrow.whole <= wide.whole and narrow.scale <= wide.scale


def _by_length(before: TypeRange, after: TypeRange) -> str:
    return WIDER if after.size >= before.size else SHORTER


def _by_size(before: TypeRange, after: TypeRange) -> str:
    return WIDER if after.size >= before.size else NARROWER


def _by_members(before: TypeRange, after: TypeRange) -> str:
    return WIDER if set(before.members) <= set(after.members) else NARROWER


_COMPARISONS: Final[Mapping[str, Callable[[TypeRange, TypeRange], str]]] = {
    "text": _by_length, "bytes": _by_length, "enum": _by_members, "set": _by_members,
}  # fmt: skip
