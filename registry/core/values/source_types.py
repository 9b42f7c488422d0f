"""Source types: name, parameters and attributes in the text of a column's type, of any database."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, NamedTuple

_BRACKETS: Final = re.compile(r"\(([^()]*)\)")
_PARAMETER: Final = re.compile(r"\s*(-?[0-9]{1,9}|\*)\s*")
_SIGNS: Final = frozenset({"SIGNED", "UNSIGNED", "ZEROFILL"})
_EXACT: Final = frozenset({"DECIMAL", "DEC", "NUMERIC", "NUMBER", "FIXED"})
_MOST_DIGITS: Final = 38
_MOST_BITS: Final = 64
_UNSIGNED_BY_NAME: Final = frozenset({"SERIAL", "OID"})
ARRAY: Final = "[]"
"""What a type ends with whose values are arrays."""
_LISTED: Final = re.compile(
    r"\s*(?:[\w.]*\.)?(?:ENUM|SET)\s*\(\s*('(?:[^'\\]|''|\\.)*'(?:\s*,\s*'(?:[^'\\]|''|\\.)*')*)\s*\)",
    re.IGNORECASE | re.DOTALL,
)
_MEMBER: Final = re.compile(r"'((?:[^'\\]|''|\\.)*)'", re.DOTALL)
_QUOTED: Final = re.compile(r"''|\\(.)", re.DOTALL)
_ESCAPED: Final = {"0": "\0", "b": "\b", "n": "\n", "r": "\r", "t": "\t", "Z": "\x1a"}
INTEGERS: Final = frozenset({
    "TINYINT", "SMALLINT", "MEDIUMINT", "INT", "INTEGER", "BIGINT", "INT1", "INT2", "INT3", "INT4", "INT8", "INT64",
    "INT16", "INT32", "LONG", "SERIAL", "SMALLSERIAL", "BIGSERIAL", "OID",
})  # fmt: skip
"""The names of types of whole numbers."""


class Digits(NamedTuple):
    """The digits that an exact type holds: `whole` before the point, `fraction` after it.

    Of the digits after the point the first `zeros` are zero, as in NUMBER(2,4); before it the last `-zeros`, as in
    NUMBER(5,-2).
    """

    whole: int
    fraction: int
    zeros: int


@dataclass(frozen=True)
class SourceType:
    """A source type: its name in capitals, its parameters (None for `*`), and whether it holds no negative numbers."""

    name: str
    parameters: tuple[int | None, ...]
    unsigned: bool

    @property
    def digits(self) -> Digits | None:
        """The digits of an exact number; None if the type is no such type or does not say."""
        if self.name not in _EXACT or not 1 <= len(self.parameters) <= 2:  # noqa: PLR2004  precision and scale
            return None
        precision, scale = (*self.parameters, 0)[:2]
        if scale is None or (precision is None and len(self.parameters) == 1):
            return None
        if precision is None:
            precision = _MOST_DIGITS
        if precision < 1:
            return None
        if scale > precision:
            return Digits(0, scale, scale - precision)
        return Digits(precision - scale, max(scale, 0), min(scale, 0))

    @property
    def scale(self) -> int | None:
        """How many digits after the point its numbers have, negative if zeros stand before it; None if not said.

        Whole numbers have none. A DECIMAL without parameters may be one whose parameters were left out.
        """
        if self.name in INTEGERS:
            return 0
        if self.name in _EXACT and len(self.parameters) == 1:
            return None if self.parameters[0] is None else 0
        return self.parameters[1] if len(self.parameters) == 2 else None  # noqa: PLR2004  precision and scale

    @property
    def length(self) -> int | None:
        """Its only parameter: the bits of a BIT, the bytes of a BINARY; None if it has none."""
        length = self.parameters[0] if len(self.parameters) == 1 else None
        return length if length is not None and length > 0 else None

    @property
    def bits(self) -> int | None:
        """How many bits a BIT has; None if that is not said, or is none of 1 to 64."""
        bits = self.parameters[0] if self.name == "BIT" and self.parameters else None
        return bits if bits is not None and 1 <= bits <= _MOST_BITS else None

    @property
    def timed(self) -> bool:
        """Whether its values are points in time with a clock; an array of them is none."""
        return self.name.startswith(("TIMESTAMP", "DATETIME", "ZONED DATETIME")) and not self.name.endswith(ARRAY)

    @property
    def second_digits(self) -> int | None:
        """How many digits of a second a point in time has; None if that is not said."""
        return self.parameters[0] if self.timed and self.parameters else None

    @property
    def zoned(self) -> bool:
        """Whether each of its values may have a zone."""
        return self.name.endswith(("WITH TIME ZONE", "WITH LOCAL TIME ZONE", "ZONED DATETIME", "TIMESTAMPTZ"))


@lru_cache(4096)
def parse_source_type(text: str) -> SourceType:
    """Parse the text of a type: `bigint(20) unsigned` has the name BIGINT, the parameter 20, and is unsigned.

    Of a name with dots, such as those of packages and schemas, the last part counts.
    """
    brackets = _BRACKETS.search(text)
    words = _BRACKETS.sub(" ", text).upper().replace("_", " ").split()
    name = " ".join(word for word in words if word not in _SIGNS).rpartition(".")[2]
    unsigned = "UNSIGNED" in words or "ZEROFILL" in words or name in _UNSIGNED_BY_NAME
    return SourceType(name, _parameters(brackets[1] if brackets else ""), unsigned)


@lru_cache(4096)
def parse_members(text: str) -> tuple[str, ...]:
    """Return the members of an ENUM or SET in their order, without quotes; none of another type, or of a bare one."""
    listed = _LISTED.match(text)
    return tuple(_QUOTED.sub(_unquote, member) for member in _MEMBER.findall(listed[1])) if listed else ()


def parameters_of(types: Iterable[str], wanted: Collection[str]) -> dict[str, Any]:
    """Return the wanted parameters (`scale`, `length`, `members`), each as the first of some types says it.

    A parameter that none of them says is left out.
    """
    found: dict[str, Any] = {}
    for text in types:
        parsed, members = parse_source_type(text), parse_members(text)
        said = {"scale": parsed.scale, "length": parsed.length, "members": members or None}
        for name in wanted:
            if said[name] is not None:
                found.setdefault(name, said[name])
    return found


def _unquote(quoted: re.Match[str]) -> str:
    letter = quoted[1]
    return "'" if letter is None else _ESCAPED.get(letter, letter)


def _parameters(text: str) -> tuple[int | None, ...]:
    """Return numbers in brackets; those of an ENUM are none."""
    found = [_PARAMETER.fullmatch(part) for part in text.split(",")] if text.strip() else []
    if not all(found):
        return ()
    return tuple(None if part[1] == "*" else int(part[1]) for part in found if part)
