"""Parsed columns: the values of one member or column of many messages, and what is asked of all of them at once.

Whatever has to be found for each value is found for each distinct one. Columns that the native part has scanned answer
the same questions without making objects.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Sequence
from functools import cached_property
from itertools import chain
from typing import Any, Final, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from cdc_contracts.registry.core.engine.layouts.decoder_kinds import RAW, Odd

Coded = tuple[NDArray[Any], list[Any]]
"""For each value an index, and what is at that index of the list."""

_FEW: Final = 64
_MOST_DIGITS: Final = 18
_COUNTS: Final = r"^\[\s*(?:[0-9]{1,18}\s*,\s*)*(?P<last>[0-9]{1,18})\s*\]$"
_is_counts = re.compile(_COUNTS.encode()).match


class ParsedColumn(Sequence[Any]):
    """The values of one member or column, one per record or row, as the parser makes them with a decoder."""

    def __init__(self, values: Sequence[Any], decoder: str) -> None:
        self._made, self.decoder = values, decoder

    def __len__(self) -> int:
        return len(self._made)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.objects)

    def __getitem__(self, place: Any) -> Any:
        return self.objects[place]

    def select(self, places: NDArray[np.int64]) -> Self:
        """Return some of the values."""
        return type(self)([self[place] for place in places.tolist()], self.decoder)

    @property
    def joins_with(self) -> tuple[Any, ...]:
        """What columns share that can be joined."""
        return type(self), self.decoder

    def join(self, others: Sequence[Self]) -> Self:
        """Return its values and those of others with its decoder, one after the other."""
        return type(self)([*chain(self.objects, *(one.objects for one in others))], self.decoder)

    @cached_property
    def objects(self) -> Sequence[Any]:
        """The values as the parser makes them."""
        return self._made

    @cached_property
    def distinct(self) -> Coded:
        """For each value its index among the distinct values, and those; equal ones may be there twice."""
        return _code(self.objects, list(zip(map(type, self.objects), self.objects, strict=True)))

    @cached_property
    def few_distinct(self) -> Coded | None:
        """The same where up to 64 are distinct; None where more are, so that they are better looked at one by one."""
        return self.distinct if len(set(self.objects)) <= _FEW else None

    @cached_property
    def by_kind(self) -> Coded:
        """For each value an index by its type, or by the kind of an array or object, and the first value of each."""
        kinds: list[Hashable] = list(map(type, self.objects))
        if kinds and Odd not in kinds and kinds.count(kinds[0]) == len(kinds):
            return np.zeros(len(kinds), np.int64), [self.objects[0]]
        if Odd in kinds:
            kinds = [value if kind is Odd else kind for value, kind in zip(self.objects, kinds, strict=True)]
        return _code(self.objects, kinds)

    @cached_property
    def by_filling(self) -> Coded:
        """For each value an index of whether its text is filled, or else of its kind, and these."""
        found = [
            bool(value) if type(value) is str else value if type(value) is Odd else type(value)
            for value in self.objects
        ]
        return _code(found, found)

    @cached_property
    def as_texts(self) -> pa.StringArray:
        """The values that are texts, with null in place of others."""
        return pa.array([value if type(value) is str else None for value in self.objects], pa.string())

    @cached_property
    def all_integers(self) -> NDArray[np.int64] | None:
        """The values where each is an integer of up to 64 bits, None where one is not."""
        if set(map(type, self.objects)) != {int}:
            return None
        try:
            return np.fromiter(self.objects, np.int64, len(self))
        except OverflowError:
            return None

    @cached_property
    def all_digits(self) -> NDArray[np.int64] | None:
        """The numbers that the values are as texts of up to 18 digits, None where one is not."""
        texts = self.as_texts
        if texts.null_count or not pc.all(pc.ascii_is_decimal(texts)).as_py():
            return None
        short = pc.max(pc.binary_length(texts)).as_py() <= _MOST_DIGITS
        return texts.cast(pa.int64()).to_numpy() if short else None

    @cached_property
    def all_last_counts(self) -> NDArray[np.int64] | None:
        """The last number of each value where each is the token of a list of unsigned integers, None where not."""
        first = self[0] if len(self) else None
        if type(first) is not bytes or not _is_counts(first):
            return None
        if self.decoder != RAW or set(map(type, self.objects)) != {bytes}:
            return None
        found = pc.extract_regex(pa.array(self.objects, pa.binary()).cast(pa.string()), _COUNTS)
        return None if found.null_count else pc.struct_field(found, "last").cast(pa.int64()).to_numpy()


def _code(values: Sequence[Any], keys: list[Any]) -> Coded:
    """Return for each value the index of its key among the distinct keys, and the first value of each key."""
    known = {key: code for code, key in enumerate(dict.fromkeys(keys))}
    if len(known) == 1:
        return np.zeros(len(keys), np.int64), [values[0]]
    codes = np.fromiter(map(known.__getitem__, keys), np.int64, len(keys))
    firsts = np.empty(len(known), np.int64)
    firsts[codes[::-1]] = np.arange(len(keys))[::-1]
    return codes, [values[first] for first in firsts.tolist()]
