"""Listed members: the values of ENUM and SET columns, as numbers or text, by the members that the type lists."""

from __future__ import annotations

import re
from typing import Final

from cdc_contracts.registry.core.common import json_structures
from cdc_contracts.registry.core.values.form_values import BrokenValue, Context, Flag, Value

INDEX: Final = re.compile("0|[1-9][0-9]{0,4}")
"""An ENUM has at most 65,535 members."""
MASK: Final = re.compile("0|[1-9][0-9]{0,19}")
"""A SET has at most 64 members."""
ESCAPED_COMMA: Final = "\\,"
_MOST_INDEX: Final = 65_535
_MOST_MASK: Final = (1 << 64) - 1


def read_index(token: str, context: Context) -> Value:
    """Read the place of a member, counted from 1; 0 stands for a value that was no member, and is noted.

    Where no type lists the members, the digits stay, and are noted.
    """
    index = _read_digits(token, INDEX, _MOST_INDEX)
    if not context.members:
        return Value(token, Flag.NOTED)
    if index > len(context.members):
        raise BrokenValue
    return Value(context.members[index - 1]) if index else Value("", Flag.NOTED)


def read_mask(token: str, context: Context) -> Value:
    """Read a bit for each member, the lowest for the first; members are joined by commas.

    Where no type lists the members, the digits stay, and are noted.
    """
    mask = _read_digits(token, MASK, _MOST_MASK)
    if not context.members:
        return Value(token, Flag.NOTED)
    if mask >> len(context.members):
        raise BrokenValue
    return Value(",".join(member for place, member in enumerate(context.members) if mask >> place & 1))


def read_member(text: str, context: Context) -> Value:
    """Read the text of a member, without a backslash before a comma if the type lists the member without it.

    A text with one that no type lists either way stays as it is, and is noted.
    """
    if ESCAPED_COMMA not in text or text in context.members:
        return Value(text)
    plain = text.replace(ESCAPED_COMMA, ",")
    return Value(plain) if plain in context.members else Value(text, Flag.NOTED)


def read_list(text: str, _context: Context) -> Value:
    """Read a JSON array of the members that are set; no member has a comma."""
    try:
        members = json_structures.read_structure(text)
    except ValueError as error:
        raise BrokenValue from error
    if not isinstance(members, list) or not all(isinstance(member, str) for member in members):
        raise BrokenValue
    return Value(",".join(members))


def write_list(text: str, _context: Context) -> list[str]:
    """Write members that are joined by commas as a list."""
    return text.split(",") if text else []


def write_index(text: str, context: Context) -> str:
    """Write the place of a member as digits."""
    if not context.members or (not text and "" not in context.members):
        return text or "0"
    return str(context.members.index(text) + 1)


def write_mask(text: str, context: Context) -> str:
    """Write the bits of members as digits."""
    if not context.members:
        return text
    mask = 0
    for member in text.split(",") if text else ():
        mask |= 1 << context.members.index(member)
    return str(mask)


def _read_digits(token: str, layout: re.Pattern[str], most: int) -> int:
    if not layout.fullmatch(token) or int(token) > most:
        raise BrokenValue
    return int(token)
