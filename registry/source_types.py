"""Source types as databases name them, taken apart: what values a column of one can hold, and what another type loses.

`bigint(20) unsigned`, `decimal(12,2)`, `NUMBER(*,2)`, `TIMESTAMP(6) WITH TIME ZONE`, `enum('a','b')`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

SAME: Final = "same"
WIDER: Final = "wider"
NARROWER: Final = "narrower"
SHORTER: Final = "shorter"
"""Only fewer characters or bytes than before: a text is kept whole, however long it is."""
OTHER: Final = "other"
UNKNOWN: Final = "unknown"

_PARAMETERS: Final = re.compile(r"\([^()]*\)")
_MEMBERS: Final = re.compile(r"'((?:[^'\\]|''|\\.)*)'")
_INTEGERS: Final[Mapping[str, int]] = {
    "TINYINT": 8, "SMALLINT": 16, "MEDIUMINT": 24, "INT": 32, "INTEGER": 32, "BIGINT": 64, "INT64": 64,
}  # fmt: skip
_EXACT: Final = frozenset({"DECIMAL", "NUMERIC", "DEC", "FIXED", "NUMBER"})
_FLOATS: Final[Mapping[str, int]] = {
    "FLOAT": 32, "BINARY_FLOAT": 32, "DOUBLE": 64, "DOUBLE PRECISION": 64, "REAL": 64, "BINARY_DOUBLE": 64,
}  # fmt: skip
_UNBOUNDED: Final = 1 << 32
_LENGTHS: Final[Mapping[str, tuple[str, int]]] = {
    "CHAR": ("text", 1), "VARCHAR": ("text", 1), "VARCHAR2": ("text", 1), "NCHAR": ("text", 1),
    "NVARCHAR2": ("text", 1), "NVARCHAR": ("text", 1), "TINYTEXT": ("text", 255), "TEXT": ("text", 65_535),
    "MEDIUMTEXT": ("text", 16_777_215), "LONGTEXT": ("text", _UNBOUNDED), "CLOB": ("text", _UNBOUNDED),
    "NCLOB": ("text", _UNBOUNDED), "STRING": ("text", _UNBOUNDED), "LONG": ("text", _UNBOUNDED),
    "BINARY": ("bytes", 1), "VARBINARY": ("bytes", 1), "RAW": ("bytes", 1), "TINYBLOB": ("bytes", 255),
    "BLOB": ("bytes", 65_535), "MEDIUMBLOB": ("bytes", 16_777_215), "LONGBLOB": ("bytes", _UNBOUNDED),
    "LONG RAW": ("bytes", _UNBOUNDED), "BYTES": ("bytes", _UNBOUNDED), "BIT": ("bit", 1),
}  # fmt: skip
_TIMES: Final = frozenset({"DATETIME", "TIMESTAMP", "TIME"})
_PLAIN: Final = frozenset({"DATE", "YEAR", "JSON", "BOOLEAN", "BOOL", "XMLTYPE", "ROWID", "UROWID", "BFILE"})
_ORACLE_DIGITS: Final = 6
"""So many digits of a second a TIMESTAMP of Oracle has where it does not say."""


@dataclass(frozen=True)
class SourceType:
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
        """The digits of an exact number, None where it does not say."""
        return None if self.whole is None or self.scale is None else self.whole + self.scale


@lru_cache(maxsize=4096)
def read_source_type(text: str) -> SourceType | None:
    """Return what a type can hold, None where the name is not known."""
    head, _, tail = text.partition("(")
    within, _, behind = tail.partition(")")
    name = " ".join(head.upper().split())
    rest = _PARAMETERS.sub("", behind).upper().split()
    for ending in ("ZEROFILL", "UNSIGNED", "SIGNED"):
        if name.endswith(f" {ending}"):
            name, rest = name.removesuffix(f" {ending}"), [*rest, ending]
    if name in ("ENUM", "SET"):
        return SourceType(name.lower(), members=tuple(_MEMBERS.findall(text)))
    arguments = [int(one) for one in re.findall(r"\d{1,9}", within)]
    if name in _INTEGERS:
        bits = _INTEGERS[name]
        unsigned = "UNSIGNED" in rest or "ZEROFILL" in rest
        low, high = (0, 2**bits - 1) if unsigned else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
        return SourceType("integer", low=low, high=high)
    if name in _EXACT:
        return _exact(name, within.replace(" ", ""))
    if name in _FLOATS:
        return SourceType("float", size=_FLOATS[name])
    if name in _LENGTHS:
        family, default = _LENGTHS[name]
        return SourceType(family, size=arguments[0] if arguments else default)
    return _moment(name, rest, arguments)


def compare_types(old: str, new: str) -> str:
    """Return what a column of the new type does with the values of the old one: one of the words above."""
    if " ".join(old.upper().split()) == " ".join(new.upper().split()) and "'" not in old:
        return SAME
    before, after = read_source_type(old), read_source_type(new)
    if before is None or after is None:
        return SAME if old == new else UNKNOWN
    if before == after:
        return SAME
    numbers = ("integer", "decimal")
    if before.family in numbers and after.family in numbers:
        return WIDER if _holds_numbers(after, before) else NARROWER
    if before.family != after.family:
        return OTHER
    return _COMPARISONS.get(before.family, _by_size)(before, after)


def _exact(name: str, arguments: str) -> SourceType:
    """Return a decimal; a NUMBER that says nothing holds every number, a DECIMAL ten digits."""
    first, _, second = arguments.partition(",")
    if not first or (first == "*" and not second):
        return SourceType("decimal") if name == "NUMBER" else SourceType("decimal", whole=10, scale=0)
    precision = 38 if first == "*" else int(first) if first.isdigit() else 38
    scale = int(second) if second.lstrip("-").isdigit() else 0
    return SourceType("decimal", whole=precision - scale, scale=scale)


def _moment(name: str, rest: list[str], arguments: list[int]) -> SourceType | None:
    """Return a type of time, or one that holds what its name says."""
    base, _, zone = name.partition(" ")
    if base in _TIMES or base == "INTERVAL":
        zone = " ".join([*zone.split(), *rest])
        fallback = _ORACLE_DIGITS if zone else 0
        return SourceType(f"{base} {zone}".strip().lower(), size=arguments[0] if arguments else fallback)
    return SourceType(name.lower()) if name in _PLAIN else None


def _holds_numbers(wide: SourceType, narrow: SourceType) -> bool:
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


def _by_length(before: SourceType, after: SourceType) -> str:
    return WIDER if after.size >= before.size else SHORTER


def _by_size(before: SourceType, after: SourceType) -> str:
    return WIDER if after.size >= before.size else NARROWER


def _by_members(before: SourceType, after: SourceType) -> str:
    return WIDER if set(before.members) <= set(after.members) else NARROWER


_COMPARISONS: Final[Mapping[str, Callable[[SourceType, SourceType], str]]] = {
    "text": _by_length, "bytes": _by_length, "enum": _by_members, "set": _by_members,
}  # fmt: skip
