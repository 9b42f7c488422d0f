"""Decoded batches: the decoded records of one layout in a batch, turned into columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import repeat
from operator import eq
from typing import Any, Final

import numpy as np
from msgspec import UNSET, Raw, UnsetType
from msgspec.structs import astuple

from cdc_contracts.registry.core.engine.layouts import decoder_kinds
from cdc_contracts.registry.core.engine.layouts.layout_parts import (
    Image,
    Layout,
    LayoutColumn,
    Leaf,
    Nested,
    Part,
    RowShape,
)
from cdc_contracts.registry.core.engine.layouts.parsed_columns import ParsedColumn

Numbers = np.ndarray[Any, np.dtype[np.int64]]

_UNSET: Final = UnsetType
NoneType: Final = type(None)


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows of one image in a decoded batch: per record its first row, `start` (-1: none), and their `count`.

    `state` is per record the state of the member: absent (-2), null (-1), or its number of rows.
    """

    image: Image
    state: np.ndarray[Any, np.dtype[np.int32]]
    start: np.ndarray[Any, np.dtype[np.int64]]
    count: np.ndarray[Any, np.dtype[np.int64]]
    record_of_row: np.ndarray[Any, np.dtype[np.int64]]
    columns: tuple[Sequence[Any], ...]

    @property
    def total(self) -> int:
        return len(self.record_of_row)

    @cached_property
    def one_each(self) -> bool:
        """Whether every record has one row, so that row and record numbers are the same."""
        return self.total == len(self.count) and bool((self.count == 1).all())

    def within(self, positions: Numbers) -> tuple[Numbers, Numbers]:
        """Return for each row of some records the place of its record among them, and its number in the record."""
        count = self.count[positions]
        records = np.repeat(np.arange(len(positions)), count)
        return records, np.arange(len(records)) - np.repeat(np.cumsum(count) - count, count)

    def of(self, positions: Numbers) -> Numbers:
        """Return the rows of some records, one record after the other."""
        if self.one_each:
            return positions
        count = self.count[positions]
        shift = np.repeat(self.start[positions] - np.cumsum(count) + count, count)
        return np.arange(len(shift)) + shift

    def select(self, positions: Numbers) -> Rows:
        """Return the rows of some records without their columns."""
        count = self.count[positions]
        start = np.where(count > 0, np.cumsum(count) - count, -1)
        return Rows(self.image, self.state[positions], start, count, np.repeat(np.arange(len(count)), count), ())


@dataclass(eq=False)
class DecodedBatch:
    """Records of one layout: their numbers in the batch, envelope members and rows as columns.

    `unfit` are the positions of records that only the reference validator may validate.
    """

    shape: RowShape
    layout: Layout
    numbers: np.ndarray[Any, np.dtype[np.int64]]
    members: dict[str, ParsedColumn] = field(default_factory=dict)
    states: dict[str, ParsedColumn] = field(default_factory=dict)
    rows: dict[str, Rows] = field(default_factory=dict)
    unfit: set[int] = field(default_factory=set)

    def __len__(self) -> int:
        return len(self.numbers)

    @property
    def columns(self) -> int:
        """The number of columns of the layout; columns are only ever added, so the number identifies the set."""
        return max((len(rows.image.columns) for rows in self.rows.values()), default=0)


def lay_out(shape: RowShape, layout: Layout, numbers: Sequence[int], records: Sequence[Any]) -> DecodedBatch:
    """Return the records of one layout as a decoded batch."""
    decoded_batch = DecodedBatch(shape, layout, np.asarray(numbers, np.int64))
    _spread(decoded_batch, layout.parts, map(astuple, records))
    return decoded_batch


def _spread(decoded_batch: DecodedBatch, parts: tuple[Part, ...], tuples: Iterable[tuple[Any, ...]]) -> None:
    columns = list(zip(*tuples, strict=True))
    for place, part in enumerate(parts):
        values = columns[place] if place < len(columns) else ()
        match part:
            case Image(""):
                decoded_batch.rows[part.pointer] = _open_message(part, len(decoded_batch), columns[place:])
            case Leaf(pointer, _) if part.fixed:
                pass  # members that identify the shape are the same for all
            case Leaf(pointer, decoder):
                decoded_batch.members[pointer] = ParsedColumn(_open_leaf(decoded_batch, values, decoder), decoder)
            case Nested(pointer, below):
                states = [value if value is None or value is UNSET else True for value in values]
                decoded_batch.states[pointer] = ParsedColumn(states, decoder_kinds.BOOL)
                _spread(decoded_batch, below, _members_of(values, len(below)))
            case Image():
                decoded_batch.rows[part.pointer] = _open_image(part, values)
                if part.beside:
                    _spread(decoded_batch, part.beside, _members_of(values, len(part.beside)))


def _members_of(values: Iterable[Any], count: int) -> Iterator[tuple[Any, ...]]:
    """Yield the first members of each object, which are absent where there is none."""
    absent = (UNSET,) * count
    return (absent if value is None or value is UNSET else astuple(value)[:count] for value in values)


def _open_leaf(decoded_batch: DecodedBatch, values: Sequence[Any], decoder: str) -> Sequence[Any]:
    if decoder == decoder_kinds.RAW:
        first = values[0]
        if type(first) is Raw and all(map(eq, values, repeat(first))):
            return (bytes(first),) * len(values)
        return [bytes(value) if type(value) is Raw else value for value in values]
    if decoder != decoder_kinds.WIDE:
        return values
    opened: list[Any] = []
    for position, value in enumerate(values):
        if type(value) is not Raw:
            opened.append(value)
            continue
        try:
            opened.append(decoder_kinds.open_member(bytes(value)))
        except decoder_kinds.Unfit:
            decoded_batch.unfit.add(position)
            opened.append(None)
    return opened


def _open_image(image: Image, values: Sequence[Any]) -> Rows:
    kinds = set(map(type, values))
    total = len(values)
    if kinds == {list}:
        count = np.fromiter(map(len, values), np.int64, total)
        state = count.astype(np.int32)
        flat = [value[0] for value in values] if (count == 1).all() else [row for value in values for row in value]
    elif kinds <= {NoneType, _UNSET}:
        state = np.fromiter((-1 if value is None else -2 for value in values), np.int32, total)
        count = np.zeros(total, np.int64)
        flat = []
    else:
        state = np.fromiter(
            (
                -1 if value is None else -2 if value is UNSET else len(value) if type(value) is list else 1
                for value in values
            ),
            np.int32,
            total,
        )
        count = np.maximum(state, 0).astype(np.int64)
        flat = []
        for value in values:
            if type(value) is list:
                flat += value
            elif value is not None and value is not UNSET:
                flat.append(value)
    ends = np.cumsum(count)
    start = np.where(count > 0, ends - count, -1)
    columns = tuple(zip(*map(astuple, flat), strict=True))[len(image.beside) :] if flat and image.columns else ()
    if not columns:
        columns = tuple(() for _ in image.columns)
    record_of_row = np.repeat(np.arange(total), count)
    return Rows(image, state, start, count, record_of_row, columns)


def _open_message(image: Image, total: int, columns: Sequence[Sequence[Any]]) -> Rows:
    """Return the rows of messages that are themselves rows: their columns follow the other members."""
    every, one = np.arange(total), np.ones(total, np.int64)
    return Rows(image, one.astype(np.int32), every, one, every, tuple(columns))


def column_of(rows: Rows) -> Iterator[tuple[int, LayoutColumn, Sequence[Any]]]:
    """Yield the columns of an image that has rows, with their index and their values, one per row."""
    if rows.total:
        yield from ((index, column, rows.columns[index]) for index, column in enumerate(rows.image.columns))
