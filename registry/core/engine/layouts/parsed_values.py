"""Parsed values: the values of a column as the parser made them, and what forms and statistics ask of all of them.

Values that the native part has scanned answer the same questions from the bytes of their messages.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import cached_property, partial
from operator import is_not
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from cdc_contracts.registry.core.common.json_structures import ArrayText, ObjectText
from cdc_contracts.registry.core.engine.layouts import decoder_kinds
from cdc_contracts.registry.core.engine.layouts.parsed_columns import ParsedColumn
from cdc_contracts.registry.core.stats.topic_profiles import REPLACEMENT
from cdc_contracts.registry.core.values import Number

KIND_FLAGS: Final = {"text": 16, "number": 17, "boolean": 18, "array": 19, "object": 20}
KIND_NAMES: Final = {16: "string", 17: "number", 18: "boolean", 19: "array", 20: "object"}
NOTHING: Final = 0

_KIND_OF_TYPE: Final = {
    str: "text", int: "number", bytes: "number", bool: "boolean", ArrayText: "array", ObjectText: "object",
}  # fmt: skip
_KINDS_OF_DECODER: Final = {
    decoder_kinds.TEXT: frozenset({"text"}),
    decoder_kinds.INT: frozenset({"number"}),
    decoder_kinds.BOOL: frozenset({"boolean"}),
    decoder_kinds.RAW: frozenset({"number"}),
}
_ESCAPED: Final = r'["\\\x00-\x1f]'
"""What a text of JSON holds only as an escape."""
_IS_VALUE: Final = partial(is_not, None)

Mask = NDArray[np.bool_]


class ParsedValues(ParsedColumn):
    """The values of a column, none absent, as the forms' decoders have them: null is None, numbers may be tokens."""

    @cached_property
    def json_kinds(self) -> frozenset[str]:
        """The kinds of the values besides null that the decoder takes, of a decoder of several those that they have."""
        return _KINDS_OF_DECODER.get(self.decoder) or self._kinds_held

    @property
    def _kinds_held(self) -> frozenset[str]:
        return frozenset(_KIND_OF_TYPE.get(kind, "number") for kind in set(map(type, self)) if kind is not type(None))

    @cached_property
    def valued(self) -> Mask | None:
        """Mask of the values that are not null; None if none is null."""
        if all(self):  # a quick test; zeros and empty texts need the second one
            return None
        return np.fromiter(map(_IS_VALUE, self), np.bool_, len(self))

    @property
    def has_nulls(self) -> bool:
        """Whether some value is null."""
        return self.valued is not None

    def mark(self, texts: frozenset[str], *, nulls: bool) -> Mask:
        """Mark the values that are one of some texts, of structures too, and with `nulls` those that are null."""
        every = set(self.objects)
        if texts.isdisjoint(every) and not (nulls and None in every):
            return np.zeros(len(self), np.bool_)
        found = ((value is None and nulls) or (isinstance(value, str) and value in texts) for value in self.objects)
        return np.fromiter(found, np.bool_, len(self))

    def flag_kinds(self, kinds: Collection[str]) -> NDArray[np.uint8]:
        """Return the flag of each value that is of one of some kinds, NOTHING for the others."""
        if len(self.json_kinds) == 1:
            (kind,) = kinds
            there = np.ones(len(self), np.bool_) if self.valued is None else self.valued
            return np.where(there, np.uint8(KIND_FLAGS[kind]), np.uint8(NOTHING))
        codes = {kind: KIND_FLAGS[kind] for kind in kinds}
        flags = (codes.get(_kind_of(value), NOTHING) for value in self.objects)
        return np.fromiter(flags, np.uint8, len(self))

    def of_wire(self, wire: frozenset[str]) -> Any:
        """Return the values for a form: those of the kinds that it accepts, the others as null."""
        if wire.issuperset(self.json_kinds):
            return self.objects
        if wire.isdisjoint(self.json_kinds):
            return [None] * len(self)
        return [value if _kind_of(value) in wire else None for value in self.objects]

    @cached_property
    def as_texts(self) -> pa.StringArray:
        return pa.array(self.objects, pa.string()) if self.json_kinds == {"text"} else super().as_texts

    @property
    def are_texts(self) -> Mask:
        """Mask of the values that are texts."""
        mask: Mask = self.as_texts.is_valid().to_numpy(zero_copy_only=False)
        return mask

    @property
    def plain_texts(self) -> Mask:
        """Mask of the texts that JSON writes as they are, without an escape."""
        escaped = pc.match_substring_regex(self.as_texts, _ESCAPED)
        mask: Mask = pc.invert(escaped).fill_null(fill_value=False).to_numpy(zero_copy_only=False)
        return mask

    def count_characters(self, *, behind: bool) -> tuple[NDArray[np.int32], Mask]:
        """Return how many characters each text has, and whether one is U+FFFD; other values have none.

        With `behind` only what follows the first blank is counted.
        """
        texts = self.as_texts
        if behind:
            texts = pa.array(
                [None if text is None else text.partition(" ")[2] for text in texts.to_pylist()], pa.string()
            )
        replaced = pc.match_substring(texts, REPLACEMENT).fill_null(fill_value=False)
        characters = pc.utf8_length(texts).fill_null(0)
        return characters.to_numpy(zero_copy_only=False), replaced.to_numpy(zero_copy_only=False)

    def integers_of_length(self, length: int) -> NDArray[np.int64]:
        """Return the places of the integers whose token has a length; numbers that are none may be among them."""
        return np.array([at for at, value in enumerate(self.objects) if len(token_of(value)) == length], np.int64)

    def wire_texts(self) -> pa.StringArray:
        """Return every value as it was sent, without the quotes of a text; null is `null`."""
        return pa.array(map(_wire_text, self.objects), pa.string())

    def sent_texts(self) -> pa.StringArray:
        """Return every value as `wire_texts` does, where an integer of zero may have its sign."""
        return self.wire_texts()

    def json_texts(self) -> tuple[pa.StringArray, Mask] | None:
        """Return the JSON text of each value as it was sent, and the mask of those that are known; None if none is."""
        return None


def _kind_of(value: Any) -> str:
    return "" if value is None else "number" if isinstance(value, Number) else _KIND_OF_TYPE[type(value)]


def token_of(value: Any) -> str:
    """Return a number or a text as it was sent."""
    return value.decode() if type(value) is bytes else value.token if type(value) is Number else str(value)


def _wire_text(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return "null" if value is None else str(value).lower()
    sent = token_of(value)
    return "0" if sent == "-0" and isinstance(value, Number) else sent
