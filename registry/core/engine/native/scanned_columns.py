"""Scanned columns: values of messages as slices of their bytes, turned into objects only on demand.

As a sequence, a scanned column holds the same objects that the parser would have made of these values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import accumulate
from typing import Any, ClassVar, Final, Self, TypeVar

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import UNSET
from numpy.typing import NDArray

from cdc_contracts.registry.core.engine.layouts import decoder_kinds
from cdc_contracts.registry.core.engine.layouts.parsed_columns import Coded, ParsedColumn
from cdc_contracts.registry.core.engine.native.native_interface import Buffer
from cdc_contracts.registry.core.engine.native.value_index import places_of_names

Cells = NDArray[np.uint64]

ABSENT, NULL, TEXT, ESCAPED, INTEGER, DECIMAL, NUMBER, TRUTH, FALSEHOOD, ARRAY, OBJECT = range(11)
KINDS: Final = 16
TEXTS: Final = 1 << TEXT | 1 << ESCAPED
NUMBERS: Final = 1 << INTEGER | 1 << DECIMAL | 1 << NUMBER
BOOLEANS: Final = 1 << TRUTH | 1 << FALSEHOOD
_VALUES: Final = TEXTS | NUMBERS | BOOLEANS | 1 << ARRAY | 1 << OBJECT
_KIND_BITS: Final = np.uint64(15)
_LENGTH_AT, _LENGTH_BITS = np.uint64(4), np.uint64(0x0FFFFFFF)
_SINGLE: Final = (decoder_kinds.TEXT, decoder_kinds.INT, decoder_kinds.TEXT_OR_INT)
NAMELESS: Final = 255
_MOST_TOGETHER: Final = 1 << 16
"""Values up to which columns are looked through together."""
_FEW: Final = 64
"""Up to this number values are made one by one; whoever asks for more gets all of them made at once."""
_ODD_KINDS: Final = {ARRAY: "array", OBJECT: "object"}
STATE: Final = "state"
"""Takes the place of a decoder if all that matters about an object is whether it is present."""
_decode_text = msgspec.json.Decoder(str).decode


@dataclass(frozen=True, eq=False)
class ScannedBytes:
    """The bytes that cells point into, with the library functions that read them."""

    library: Any
    buffer: pa.Buffer

    @cached_property
    def memory(self) -> Buffer:
        """Return the bytes as the library takes them."""
        return Buffer.from_param(self.buffer)

    @cached_property
    def view(self) -> memoryview:
        return memoryview(self.buffer)


def find_kinds(library: Any, cells: Cells, total: int) -> list[list[int]]:
    """Return the kinds of values that each of some columns has, a bit each, and how many of its values are absent.

    Only the first `total` values of a column count.
    """
    found = np.zeros((len(cells) if cells.ndim > 1 else 1, 2), np.int64)
    if found.size:
        library.cdc_find_kinds(cells, total, found)
    return found.tolist()


class ScannedColumn(ParsedColumn):
    """The values of one member or column, one per record or row; `decoder` is what the parser would use for them.

    `names` are the numbers of the names that texts of records begin with, if a value index has them.
    """

    _integral: ClassVar[tuple[str, ...]] = _SINGLE
    """The decoders that make an int of an integer."""

    def __init__(
        self, source: ScannedBytes, cells: Cells, decoder: str, names: NDArray[np.uint8] | None = None
    ) -> None:
        self.source, self.cells, self.decoder, self.names = source, cells, decoder, names
        self._asked = 0
        self._behind: dict[tuple[str, ...], tuple[Self, NDArray[np.uint8]]] = {}

    def __len__(self) -> int:
        return len(self.cells)

    def __getitem__(self, place: Any) -> Any:
        self._asked += 1
        if self._asked > _FEW or isinstance(place, slice):
            return self.objects[place]
        return self._object(int(self.cells[place]))

    @property
    def joins_with(self) -> tuple[Any, ...]:
        """What columns share that can be joined: their cells point into the same bytes."""
        return type(self), self.decoder, self.source.buffer.address, self.names is None

    def join(self, others: Sequence[Self]) -> Self:
        """Return its values and those of others, which are in the same bytes, one after the other."""
        every = [self, *others]
        names = [one.names for one in every if one.names is not None]
        cells = np.concatenate([one.cells for one in every])
        return type(self)(self.source, cells, self.decoder, np.concatenate(names) if names else None)

    @cached_property
    def objects(self) -> list[Any]:
        """The values as the parser makes them."""
        if self.all_integers is not None:
            whole: list[Any] = self.all_integers.tolist()
            return whole
        if self.decoder in _SINGLE and self.are_all(TEXTS | 1 << NULL | 1 << ABSENT):
            texts: list[Any] = self.as_texts.to_pylist()
            if self.holds(1 << ABSENT):
                texts = [UNSET if gone else text for gone, text in zip(self.kinds == ABSENT, texts, strict=True)]
            return texts
        return [self._object(cell) for cell in self.cells.tolist()]

    @cached_property
    def kinds(self) -> NDArray[np.uint8]:
        """The kind of each value."""
        return (self.cells & _KIND_BITS).astype(np.uint8)

    @property
    def lengths(self) -> NDArray[np.uint64]:
        """How many bytes each value has, a text without its quotes."""
        return self.cells >> _LENGTH_AT & _LENGTH_BITS

    @cached_property
    def held(self) -> int:
        """The kinds of its values, a bit each."""
        ((held, self.absent),) = find_kinds(self.source.library, self.cells, len(self))
        return held

    @cached_property
    def absent(self) -> int:
        """How many of its values are absent."""
        ((self.held, absent),) = find_kinds(self.source.library, self.cells, len(self))
        return absent

    def holds(self, kinds: int) -> bool:
        """Return whether there is a value of one of some kinds, a bit each."""
        return bool(self.held & kinds)

    def are_all(self, kinds: int) -> bool:
        """Return whether every value is of one of some kinds, a bit each."""
        return not self.held & ~kinds

    @cached_property
    def codes(self) -> tuple[NDArray[np.uint8], list[int]] | None:
        """The code of each value by its token, and the index of each code's first value; None if there are too many."""
        codes, firsts = np.empty(len(self), np.uint8), np.empty(64, np.int64)
        total = self.source.library.cdc_codes(self.source.memory, self.cells, codes, firsts)
        return None if total < 0 else (codes, firsts[:total].tolist())

    @cached_property
    def few_distinct(self) -> Coded | None:
        if self.codes is None:
            return None
        codes, firsts = self.codes
        return codes, [self[first] for first in firsts]

    @cached_property
    def distinct(self) -> Coded:
        if self.few_distinct is not None:
            return self.few_distinct
        if self.decoder in _SINGLE and self.are_all(TEXTS | 1 << NULL | 1 << ABSENT):
            return self._distinct_texts()
        return self._distinct_tokens()

    def _distinct_texts(self) -> Coded:
        """Return the distinct values where every value is a text, null or absent."""
        kinds, firsts = self.by_kind
        texts = pc.dictionary_encode(self.as_texts)
        found: list[Any] = texts.dictionary.to_pylist()
        codes = pc.fill_null(texts.indices, 0).to_numpy().astype(np.int64)
        for place, first in enumerate(firsts):
            if type(first) is not str:
                codes[kinds == place] = len(found)
                found.append(first)
        return codes, found

    def _distinct_tokens(self) -> Coded:
        """Return the distinct values by their tokens, so that an object is made for each of those alone."""
        texts = pc.fill_null(pc.dictionary_encode(self.texts(_VALUES)).indices, 0).to_numpy().astype(np.int64)
        _, firsts, codes = np.unique(texts * KINDS + self.kinds, return_index=True, return_inverse=True)
        return codes, [self._object(cell) for cell in self.cells[firsts].tolist()]

    @cached_property
    def by_kind(self) -> Coded:
        if self.decoder == decoder_kinds.WIDE and self.decoder in self._integral and self.holds(1 << NUMBER):
            return super().by_kind  # some may be integers of many digits
        held = [kind for kind in range(KINDS) if self.held >> kind & 1]
        if len(held) == 1:
            return np.zeros(len(self), np.uint8), [self[0]]
        places = np.zeros(KINDS, np.uint8)
        places[held] = np.arange(len(held))
        return places[self.kinds], [self[int(np.argmax(self.kinds == kind))] for kind in held]

    @cached_property
    def by_filling(self) -> Coded:
        if self.decoder not in _SINGLE or not self.are_all(TEXTS | 1 << NULL | 1 << ABSENT):
            return super().by_filling
        found = [False, True, type(UNSET), type(None)]
        codes = np.where(self.kinds <= NULL, self.kinds + 2, self.lengths > 0)
        held = np.flatnonzero(np.bincount(codes, minlength=len(found))).tolist()
        places = np.zeros(len(found), np.uint8)
        places[held] = np.arange(len(held))
        return places[codes], [found[code] for code in held]

    @cached_property
    def all_integers(self) -> NDArray[np.int64] | None:
        return self.integers if self.decoder in self._integral and self.are_all(1 << INTEGER) else None

    @cached_property
    def as_texts(self) -> pa.StringArray:
        return self.texts(0 if self.decoder == decoder_kinds.RAW else TEXTS)

    @cached_property
    def all_last_counts(self) -> NDArray[np.int64] | None:
        if self.decoder != decoder_kinds.RAW:
            return None
        return self.last_counts if self.last_counts.min() >= 0 else super().all_last_counts

    @cached_property
    def integers(self) -> NDArray[np.int64]:
        """The values that are integers, with 0 in place of others."""
        numbers = np.empty(len(self), np.int64)
        self.source.library.cdc_integers(self.source.memory, self.cells, numbers)
        return numbers

    @cached_property
    def last_counts(self) -> NDArray[np.int64]:
        """The last number of each value that is a list of unsigned integers without blanks; -1 for other values."""
        numbers = np.empty(len(self), np.int64)
        self.source.library.cdc_last_counts(self.source.memory, self.cells, numbers)
        return numbers

    def strip_names(self, names: tuple[str, ...]) -> tuple[Self, NDArray[np.uint8]]:
        """Return what follows one of some names, and the index of the name of each value.

        A text with none of them is null and has the place NAMELESS; a value that is no text is null and has 0.
        """
        if names in self._behind:
            return self._behind[names]
        cells, places = np.empty(len(self), np.uint64), np.empty(len(self), np.uint8)
        text, starts, own_places = _join(names)
        self.source.library.cdc_strip_names(
            self.source.memory, self.cells, text, starts, self.names, own_places, cells, places
        )
        self._behind[names] = self._of(cells), places
        return self._behind[names]

    def where(self, chosen: NDArray[np.bool_]) -> Self:
        """Return the column with null in the place of the values that are not chosen."""
        return self._of(np.where(chosen, self.cells, np.uint64(NULL)))

    def texts(self, kinds: int) -> pa.StringArray:
        """Return the texts, or tokens, of the values of some kinds, with null in place of others."""
        library, total = self.source.library, len(self)
        size = library.cdc_text_size(self.cells, kinds)
        offsets, valid = pa.allocate_buffer(4 * (total + 1)), np.zeros((total + 7) // 8, np.uint8)
        text = pa.allocate_buffer(size)
        library.cdc_texts(self.source.memory, self.cells, kinds, offsets, text, valid)
        return pa.StringArray.from_buffers(total, offsets, text, pa.py_buffer(valid))

    def count_characters(self, *, behind: bool) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
        """Return how many characters each text has, and whether one is U+FFFD; other values have none.

        With `behind` only what follows the first blank is counted.
        """
        characters, replaced = np.empty(len(self), np.int32), np.zeros(len(self), np.bool_)
        self.source.library.cdc_count_characters(self.source.memory, self.cells, behind, characters, replaced)
        return characters, replaced

    def _of(self, cells: Cells) -> Self:
        return type(self)(self.source, cells, self.decoder)

    def widened(self) -> Self:
        """Return the column as one of all kinds if it holds values of other kinds than its decoder takes.

        A column of numbers may hold any; one of another decoder, whose forms take any value, arrays and objects.
        """
        if self.decoder == decoder_kinds.RAW:
            fits = self.are_all(1 << ABSENT | 1 << NULL | NUMBERS)
        else:
            fits = self.decoder == decoder_kinds.WIDE or not self.holds(1 << ARRAY | 1 << OBJECT)
        if fits:
            return self
        widened = type(self)(self.source, self.cells, decoder_kinds.WIDE)
        widened.held, widened.absent = self.held, self.absent
        return widened

    def select(self, places: NDArray[Any]) -> Self:
        """Return some of the values as a column."""
        return self._of(np.ascontiguousarray(self.cells[places]))

    def token(self, cell: int) -> bytes:
        """Return the bytes of a value, with the quotes of a text."""
        start, length, quote = cell >> 32, cell >> 4 & 0x0FFFFFFF, int(cell & 15 in (TEXT, ESCAPED))
        return bytes(self.source.view[start - quote : start + length + quote])

    def _object(self, cell: int) -> Any:
        kind = cell & 15
        if kind == ABSENT:
            return UNSET
        if self.decoder == decoder_kinds.RAW:
            return self.token(cell)
        if self.decoder == decoder_kinds.WIDE:
            return self.open_wide(self.token(cell))
        if kind == NULL:
            return None
        if self.decoder == STATE:
            return True
        return _OPENERS[kind](self.token(cell))

    @cached_property
    def open_wide(self) -> Callable[[bytes], Any]:
        """Return what turns a token of any kind into an object; a row keeps it as it is."""
        return bytes


Scanned = TypeVar("Scanned", bound=ScannedColumn)


def pick_present(columns: Sequence[Scanned]) -> Iterator[tuple[Scanned, NDArray[np.int64], NDArray[np.bool_]]]:
    """Yield of each column the values that are not absent, their indices, and a mask of all values.

    Columns are looked through together, as far as they have few values.
    """
    for several in _cut(columns):
        cells = np.concatenate([column.cells for column in several])
        present = cells & _KIND_BITS != ABSENT
        places = np.flatnonzero(present)
        picked_cells, begin, first = cells[places], 0, 0
        for column in several:
            end, last = begin + len(column.cells), first + len(column.cells) - column.absent
            picked = type(column)(column.source, picked_cells[first:last], column.decoder)
            picked.held, picked.absent = column.held & ~(1 << ABSENT), 0
            yield picked, places[first:last] - begin, present[begin:end]
            begin, first = end, last


def _cut(columns: Sequence[Scanned]) -> Iterator[list[Scanned]]:
    """Yield columns in their order, as many at a time as are looked through together."""
    several, size = list[Scanned](), 0
    for column in columns:
        if several and size + len(column.cells) > _MOST_TOGETHER:
            yield several
            several, size = [], 0
        several.append(column)
        size += len(column.cells)
    if several:
        yield several


@lru_cache(maxsize=256)
def _join(names: tuple[str, ...]) -> tuple[bytes, NDArray[np.int32], NDArray[np.uint8]]:
    """Return names one after the other, where each begins and the last ends, and their places by number."""
    return "".join(names).encode(), np.array([0, *accumulate(map(len, names))], np.int32), places_of_names(names)


class ScannedMember(ScannedColumn):
    """A member of the envelope, which is turned into an object whatever its kind."""

    _integral = (*_SINGLE, decoder_kinds.WIDE)

    @cached_property
    def open_wide(self) -> Callable[[bytes], Any]:
        return decoder_kinds.open_member

    def _object(self, cell: int) -> Any:
        kind = _ODD_KINDS.get(cell & 15) if self.decoder == decoder_kinds.WIDE else None
        return super()._object(cell) if kind is None else decoder_kinds.Odd(kind, self.token(cell))


_OPENERS: Final[dict[int, Callable[[bytes], Any]]] = {
    TEXT: _decode_text, ESCAPED: _decode_text, INTEGER: int,
    TRUTH: lambda _: True, FALSEHOOD: lambda _: False,
}  # fmt: skip
