"""JSON number: an exact decimal that keeps its token."""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation
from typing import Final, Self

JSON_NUMBER: Final = re.compile(r"(-?)(0|[1-9][0-9]*)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?")


class Number(Decimal):
    """A JSON number and its exact token on the wire.

    A magnitude that `Decimal` cannot hold is a signed infinity (or a signed zero); the token keeps it exactly.

    Raises ValueError: the token is not a JSON number.
    """

    __slots__ = ("token",)
    token: str

    def __new__(cls, token: str) -> Self:
        parts = JSON_NUMBER.fullmatch(token)
        if parts is None:
            raise ValueError(f"not a JSON number: {token[:40]!r}")
        try:
            number = super().__new__(cls, token)
        except InvalidOperation:
            sign, whole, fraction, exponent = parts.groups()
            vanishes = exponent.startswith("-") or not (whole + (fraction or "")).strip("0")
            number = super().__new__(cls, sign + ("0" if vanishes else "Infinity"))
        number.token = token
        return number

    def __reduce__(self) -> tuple[type[Number], tuple[str]]:
        return Number, (self.token,)
