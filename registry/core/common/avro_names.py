"""Avro names of members: a stated escape for names that Avro does not take, from which every name comes back.

Avro takes letters, digits and underscores of ASCII, no digit first. Another character is written `_xHHHH_`, its code
point in at least four capital hexadecimal digits; so is a digit at the beginning, and an underscore that would begin
such an escape. The empty name is `_x_`. A name that Avro takes stays as it is, unless it reads as escaped.
"""

from __future__ import annotations

import re
import sys
from typing import Final

_EMPTY: Final = "_x_"
_UNFIT: Final = re.compile(r"[^A-Za-z0-9_]|\A[0-9]|_(?=x[0-9A-F]{4,6}[^A-Za-z0-9])|\A_(?=x_\Z)")
_ESCAPED: Final = re.compile("_x([0-9A-F]{4,6})_")


def avro_name(member: str) -> str:
    """Return the name of a member in Avro: `record-type` is `record_x002D_type`."""
    return _UNFIT.sub(lambda found: f"_x{ord(found[0]):04X}_", member) if member else _EMPTY


def member_name(name: str) -> str:
    """Return the member of which `avro_name` makes a name; a name that it makes of none stays as it is."""
    return "" if name == _EMPTY else _ESCAPED.sub(_unescape, name)


def _unescape(found: re.Match[str]) -> str:
    point = int(found[1], 16)
    return chr(point) if point <= sys.maxunicode else found[0]
