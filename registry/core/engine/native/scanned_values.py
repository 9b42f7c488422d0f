"""Scanned values: the values of a column as value forms and statistics need them, read from the message bytes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from cdc_contracts.registry.core.engine.layouts import decoder_kinds
from cdc_contracts.registry.core.engine.layouts.parsed_values import KIND_FLAGS, Mask, ParsedValues
from cdc_contracts.registry.core.engine.native.scanned_columns import (
    ARRAY,
    BOOLEANS,
    ESCAPED,
    INTEGER,
    KINDS,
    NULL,
    NUMBERS,
    OBJECT,
    TEXT,
    TEXTS,
    ScannedColumn,
)

SHORT: Final = 2_048
"""Rows up to which columns are looked through together."""
_KIND_BITS: Final = 15
_NUMERIC: Final = NUMBERS | 1 << NULL
STRUCTURES: Final = 1 << ARRAY | 1 << OBJECT
_KINDS: Final = {
    "text": TEXTS, "number": NUMBERS, "boolean": BOOLEANS, "array": 1 << ARRAY, "object": 1 << OBJECT,
}  # fmt: skip


@lru_cache(maxsize=64)
def kinds_of_wire(wire: frozenset[str]) -> int:
    """Return the kinds of values that a form accepts besides null, a bit each."""
    return sum(bits for kind, bits in _KINDS.items() if kind in wire)


@lru_cache(maxsize=256)
def _kinds_of(held: int) -> frozenset[str]:
    """Return the kinds of values besides null that are among some, a bit each."""
    return frozenset(kind for kind, bits in _KINDS.items() if held & bits)


class ScannedValues(ScannedColumn, ParsedValues):
    """The values of a scanned column; what is asked of all of them makes no objects."""

    @property
    def _kinds_held(self) -> frozenset[str]:
        return _kinds_of(self.held)

    @cached_property
    def valued(self) -> Mask | None:
        return self.kinds != NULL if self.holds(1 << NULL) else None

    @property
    def has_nulls(self) -> bool:
        return self.holds(1 << NULL)

    def mark(self, texts: frozenset[str], *, nulls: bool) -> Mask:
        if any("\0" in text for text in texts):
            return ParsedValues.mark(self, texts, nulls=nulls)
        if not self.holds(TEXTS | STRUCTURES | nulls << NULL):
            return np.zeros(len(self), np.bool_)
        marks = self._read_marks(texts, nulls=nulls)
        marked: Mask = marks == 1
        spelt = marks > 1
        if spelt.any():
            marked[spelt] = ParsedValues.mark(self.select(np.flatnonzero(spelt)), texts, nulls=False)
        return marked

    def may_mark(self, texts: frozenset[str], *, nulls: bool) -> Mask:
        """Mark the values that `mark` may mark, without opening any."""
        if any("\0" in text for text in texts):
            return np.ones(len(self), np.bool_)
        return self._read_marks(texts, nulls=nulls) > 0

    def _read_marks(self, texts: frozenset[str], *, nulls: bool) -> NDArray[np.uint8]:
        """Return 1 for each value that is marked, and more for one that has to be opened first."""
        marks, library = np.empty(len(self), np.uint8), self.source.library
        named = b"".join(text.encode() + b"\0" for text in texts)
        library.cdc_mark(self.source.memory, self.cells, nulls << NULL, named, len(named), marks)
        return marks

    def flag_kinds(self, kinds: Collection[str]) -> NDArray[np.uint8]:
        codes = np.zeros(KINDS, np.uint8)
        for kind in kinds:
            codes[[at for at in range(KINDS) if _KINDS[kind] >> at & 1]] = KIND_FLAGS[kind]
        return codes[self.kinds]

    def of_wire(self, wire: frozenset[str]) -> ScannedPart:
        return ScannedPart([self], kinds_of_wire(wire))

    @property
    def are_texts(self) -> Mask:
        mask: Mask = (self.kinds == TEXT) | (self.kinds == ESCAPED)
        return mask

    @property
    def plain_texts(self) -> Mask:
        mask: Mask = self.kinds == TEXT
        return mask

    def integers_of_length(self, length: int) -> NDArray[np.int64]:
        return np.flatnonzero((self.lengths == length) & (self.kinds == INTEGER))

    def wire_texts(self) -> pa.StringArray:
        return self.texts(TEXTS | NUMBERS | BOOLEANS | 1 << NULL) if self.tokens_identify else super().wire_texts()

    def sent_texts(self) -> pa.StringArray:
        kinds = TEXTS | NUMBERS | BOOLEANS | 1 << NULL
        return self.texts(kinds) if self.are_all(kinds) else super().wire_texts()

    def json_texts(self) -> tuple[pa.StringArray, Mask]:
        texts = self.texts(TEXTS | NUMBERS | BOOLEANS | STRUCTURES | 1 << NULL)
        if self.holds(TEXTS):
            texts = pc.if_else(pa.array(self.are_texts), pc.binary_join_element_wise('"', texts, '"', ""), texts)
        return texts, self.kinds != ESCAPED

    @property
    def tokens_identify(self) -> bool:
        """Whether tokens identify values: an integer among other kinds may have several."""
        return self.decoder != decoder_kinds.WIDE

    def _object(self, cell: int) -> Any:
        return None if cell & _KIND_BITS == NULL else super()._object(cell)

    @cached_property
    def open_wide(self) -> Callable[[bytes], Any]:
        return decoder_kinds.open_value


def stack_valued(columns: Sequence[Any], places: NDArray[np.int64]) -> Mask:
    """Return by scanned column and by place in it whether the value is other than null; none may be absent."""
    kinds = np.stack([column.cells for column in columns])[:, places] & np.uint64(_KIND_BITS)
    valued: Mask = kinds != NULL
    return valued


@dataclass(eq=False)
class ScannedPart:
    """The values of columns that are of some kinds, a bit each; the others count as null.

    With `numbers_apart` a form reads numbers in another way than other values, and all of a part in one way.
    """

    columns: list[ScannedValues]
    kinds: int
    numbers_apart: bool = False

    def __post_init__(self) -> None:
        self._held = self.columns[0].held

    @cached_property
    def column(self) -> ScannedValues:
        """The values of all columns, one after the other."""
        first, *others = self.columns
        return first.join(others) if others else first

    def __len__(self) -> int:
        return sum(len(column.cells) for column in self.columns)

    def take(self, column: ScannedValues) -> bool:
        """Take another column, and return whether it can be validated with these: all are short, in the same bytes."""
        first, held = self.columns[0], self._held | column.held
        if len(first.cells) > SHORT or len(column.cells) > SHORT or first.joins_with != column.joins_with:
            return False
        if self.numbers_apart and held & NUMBERS and held & ~_NUMERIC:
            return False
        self.columns.append(column)
        self._held = held
        return True

    def opened(self, places: NDArray[np.int64] | None = None) -> list[Any]:
        """Return the values, or some of them, as the parser makes them, None for those that do not count."""
        column = self.column if places is None else self.column.select(places)
        if not column.holds(~(self.kinds | 1 << NULL)):
            return column.objects
        counted = (np.uint64(self.kinds) >> column.kinds.astype(np.uint64) & np.uint64(1)).tolist()
        return [value if held else None for value, held in zip(column, counted, strict=True)]
