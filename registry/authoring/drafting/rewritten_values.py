"""Rewritten values: messages with the values of their rows replaced, so that samples contain no real data.

Names of tables and columns, types, op codes, times, positions and whatever is the same in every message stay. Of the
rest every value becomes another one of the same shape: a digit a digit, a letter a letter.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Final

from cdc_contracts.registry.authoring.drafting.message_members import Members, Parts, SampleMessage
from cdc_contracts.registry.authoring.drafting.row_places import RowPlaces
from cdc_contracts.registry.core.values import Number
from cdc_contracts.registry.core.values.floats import LITERALS

_DATE: Final = re.compile(
    r"-?[0-9]{1,4}[-:][0-9]{2}([-:][0-9]{2})?([T ][0-9]{2}:[0-9]{2}(:[0-9]{2})?)?(\.[0-9]+)?( ?[A-Z].*)?"
)
_BASE64: Final = re.compile(r"(?:[A-Za-z0-9+/]{4})+(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?|[A-Za-z0-9+/]{2,3}={1,2}")
_BYTES: Final = re.compile(r"\[(-?[0-9]+(, ?-?[0-9]+)*)?\]")
_NUMBER: Final = re.compile(r"-?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?")
_TIMES: Final = re.compile(r"[0-9]{9,}(\.[0-9]+)?")


@dataclass
class Rewriter:
    """Rewrites the values of messages; equal values become equal values."""

    members: Members
    places: RowPlaces
    kept: Collection[str]
    """Pointers to members that stay: what the contract names."""
    marks: Collection[str] = ()
    """Texts that stand for values which were not sent, and stay too."""
    _known: dict[str, str] = field(default_factory=dict)

    def rewrite(self, message: SampleMessage) -> dict[str, Any]:
        """Return what a message holds, with other values."""
        content = self._copy(message.content, ())
        return content if isinstance(content, dict) else message.content

    def _copy(self, value: Any, parts: Parts) -> Any:
        if parts in self.places.images and parts != self.places.flattened:
            return self._image(value)
        if parts == self.places.flattened and isinstance(value, dict):
            hidden = self.places.not_columns
            return {name: one if name in hidden else self._other(one) for name, one in value.items()}
        member = self.members.get(parts)
        if member is not None and (member.pointer in self.kept or self._is_constant(parts)):
            return value
        if isinstance(value, dict):
            return {name: self._copy(one, (*parts, name)) for name, one in value.items()}
        if isinstance(value, list):
            return [self._copy(one, (*parts, "*")) for one in value]
        return self._other(value)

    def _is_constant(self, parts: Parts) -> bool:
        """Return whether a member has one value in all of several messages."""
        member = self.members[parts]
        seen = {*member.texts, *(number.token for number in member.numbers)}
        return member.held > 1 and len(seen) == 1 and not {"object", "array"} & {*member.kinds}

    def _image(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._image(one) for one in value]
        if not isinstance(value, dict):
            return value
        types = self.places.types_in_image[0] if self.places.types_in_image else None
        return {name: one if name == types else self._other(one) for name, one in value.items()}

    def _other(self, value: Any) -> Any:
        if isinstance(value, Number):
            token = self._known.setdefault(value.token, _of_number(value.token, len(self._known)))
            return Number(token)
        if isinstance(value, dict):
            return {name: self._other(one) for name, one in value.items()}
        if isinstance(value, list):
            return [self._other(one) for one in value]
        if not isinstance(value, str) or not value or value in self.marks or value in LITERALS:
            return value
        return self._known.setdefault(value, _of_text(value, len(self._known)))


def _of_number(token: str, number: int) -> str:
    if _TIMES.fullmatch(token) or token.lstrip("-") in ("0", "1"):
        return token if len(token) < 2 else re.sub(r"[0-9]{3}(?=\.|$)", "111", token, count=1)  # noqa: PLR2004
    return _smaller(token, str(number % 8 + 1))


def _smaller(token: str, digit: str) -> str:
    """Return a number of as many digits that is no larger, so that it is within the same type."""
    mantissa, mark, exponent = re.split("([eE]|$)", token, maxsplit=1)
    for other in (digit, "1"):
        found = re.sub("[0-9]", other, mantissa)
        if abs(Decimal(found)) <= abs(Decimal(mantissa)):
            return f"{found}{mark}{exponent}"
    return re.sub("0", "1", re.sub("[0-9]", "0", mantissa), count=1) + mark + exponent


def _of_text(text: str, number: int) -> str:
    digit, letter = str(number % 8 + 1), chr(ord("a") + number % 6)
    if _DATE.fullmatch(text):
        return re.sub("[0-9]", "1", text).replace("1111-", "2011-", 1)
    if _BYTES.fullmatch(text):
        return re.sub("[0-9]+", digit, text)
    is_mixed = re.search("[A-Z]", text) and re.search("[a-z0-9+/]", text)
    if _BASE64.fullmatch(text) and ("=" in text or is_mixed):
        return re.sub("[A-Za-z0-9+/]", "A", text)
    if _TIMES.fullmatch(text):
        return re.sub(r"[0-9]{3}(?=\.|$)", "111", text, count=1)
    if re.fullmatch("[0-9]{4}", text):
        return "2011"
    if _NUMBER.fullmatch(text):
        return _smaller(text, digit)
    other: Callable[[re.Match[str]], str] = lambda found: _letter(found[0], letter)  # noqa: E731
    return re.sub("[^\\W\\d_]", other, re.sub("[0-9]", digit, text))


def _letter(old: str, letter: str) -> str:
    """Return another letter: of hexadecimal digits one too, and in upper case where the old one is."""
    return letter.upper() if old.isupper() else letter
