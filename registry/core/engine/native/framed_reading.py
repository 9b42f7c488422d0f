"""Framed reading: records behind the id of their writer's schema as JSON, each by the schema that its id names.

An Avro record becomes what the JSON converter of Kafka Connect writes of it: with a schema block, for contracts that
read types from one, or without. In place of the block stands the id, and whoever parses the text puts the block there.
A value without a frame is left as it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cdc_contracts.registry.core.common.json_messages import Unreadable
from cdc_contracts.registry.core.engine.native.framed_programs import LEFT, FramedPrograms
from cdc_contracts.registry.core.engine.native.native_library import native_library
from cdc_contracts.registry.core.engine.native.record_texts import AvroRecordReader, NamedSchemas
from cdc_contracts.registry.core.engine.native.value_index import IndexedValues, ValueIndex, guess_entries
from cdc_contracts.registry.core.message.framed_values import FramedValues
from cdc_contracts.registry.core.records.code_orders import number_codes
from cdc_contracts.registry.core.records.message_values import MessageValues
from cdc_contracts.registry.core.records.record_batches import NO_ID, SchemaIds
from cdc_contracts.registry.core.writer_schemas.writer_schemas import (
    BY_GLOBAL_ID,
    BY_GUID,
    LONG,
    NUMBERED,
    SHORT,
    WITH_GUID,
    SchemaId,
    frame_of,
)

MOST_JSON: Final = 512 * 1024 * 1024
"""The most JSON of the records of a batch, which has up to 24 MiB of them."""


class ReadValues(NamedTuple):
    """The JSON text of each value, why the values at some places have none, and the frames in front of them."""

    texts: MessageValues
    failures: Mapping[int, Unreadable]
    frames: Frames


class FramedReader:
    """Reads the values of batches by the schemas that their frames name."""

    def __init__(self, values: FramedValues, most_bytes: int) -> None:
        self._values, self._library = values, native_library()
        self._records = AvroRecordReader(self._library, most_bytes, MOST_JSON)
        self._programs = FramedPrograms(values, self._library)
        self._per_record: float | None = None
        """Entries of a record in the value index."""

    def read(self, values: pa.BinaryArray) -> ReadValues:
        """Return the values as JSON. Raises UnavailableError if a schema cannot be asked for.

        If they are more JSON than a batch may hold, as those of endless names may be, all of a schema are refused.
        """
        frames = frames_of(values)
        if not frames.ids:
            return ReadValues(MessageValues(values), {}, frames)
        refused: set[SchemaId] = set()
        while True:
            try:
                return self._read(values, frames, refused)
            except OverflowError:
                refused.add(self._find_longest(values, frames, refused))

    def _read(self, values: pa.BinaryArray, frames: Frames, refused: AbstractSet[SchemaId]) -> ReadValues:
        failures: dict[int, Unreadable] = {}

        def text_of(place: int) -> bytes:
            number = frames.id_at(place)
            try:
                if number not in refused:
                    return self._values.text_of(values[place].as_py())
                failures[place] = Unreadable("too-long", f"schema id {number}: more than {MOST_JSON:,} bytes of JSON")
            except Unreadable as error:
                failures[place] = error
            return b""

        wanted = [number for number in frames.ids if number not in refused]
        program, roots = self._programs.find(wanted)
        if program is None:
            valid = values.is_valid().to_pylist()
            texts = [text_of(place) if held else None for place, held in enumerate(valid)]
            return ReadValues(MessageValues(pa.array(texts, pa.binary())), failures, frames)
        known = np.array([*(LEFT if one in refused else roots.get(one, LEFT) for one in frames.ids), LEFT], np.int32)
        schemas = NamedSchemas(0, None, known[frames.places], frames.sizes)
        index = ValueIndex(self._library, program, len(values), guess_entries(len(values), self._per_record))
        texts = self._records.read(program, values, schemas, text_of, index)
        self._per_record = index.per_record or self._per_record
        return ReadValues(IndexedValues(texts, index), failures, frames)

    def _find_longest(self, values: pa.BinaryArray, frames: Frames, refused: AbstractSet[SchemaId]) -> SchemaId:
        """Return the id whose records are the most JSON."""
        lengths: dict[SchemaId, int] = {}
        for place in np.flatnonzero(frames.places >= 0).tolist():
            number = frames.ids[frames.places[place]]
            if number not in refused:
                with suppress(Unreadable):
                    lengths[number] = lengths.get(number, 0) + len(self._values.text_of(values[place].as_py()))
        return max(lengths, key=lengths.__getitem__)


class Frames(NamedTuple):
    """The frames of values: each id once, which of these is in front of each value, and the bytes of its frame.

    The place is -1 where a value has no frame.
    """

    ids: Sequence[SchemaId]
    places: NDArray[np.int64]
    sizes: NDArray[np.uint8]

    @property
    def named(self) -> SchemaIds:
        """The ids without their bytes."""
        return SchemaIds(self.ids, self.places)

    def id_at(self, place: int) -> SchemaId | None:
        """Return the id in front of a value."""
        number = int(self.places[place])
        return self.ids[number] if number >= 0 else None


def frames_of(values: pa.BinaryArray) -> Frames:
    """Return the frames in front of values, as `frame_of` reads each."""
    found, sizes = np.full(len(values), NO_ID, np.int64), np.full(len(values), SHORT, np.uint8)
    if not len(values) or values.buffers()[2] is None:
        return Frames([], found, sizes)
    _, offsets, data = values.buffers()
    starts = np.frombuffer(offsets, np.int32, len(values) + 1, 4 * values.offset).astype(np.int64)
    held, lengths = np.frombuffer(data, np.uint8), np.diff(starts)
    framed = lengths >= SHORT
    if values.null_count:
        framed &= values.is_valid().to_numpy(zero_copy_only=False)
    places = np.flatnonzero(framed)
    begins = held[starts[:-1][places]]
    others, places = places[begins != NUMBERED[0]], places[begins == NUMBERED[0]]
    begins = held[starts[:-1][others]]
    found[places] = _number(held, starts[:-1][places] + 1)
    longer = places[(found[places] == 0) & (lengths[places] >= LONG)]
    found[longer], sizes[longer] = _number(held, starts[:-1][longer] + 5), LONG
    firsts, at = number_codes(found)
    ids: list[SchemaId] = found[firsts].tolist()
    if ids[0] == -1:
        ids, at = ids[1:], at - 1
    for beginning, size in ((BY_GUID, WITH_GUID), (BY_GLOBAL_ID, LONG)):
        named = others[(begins == beginning[0]) & (lengths[others] >= size)]
        if len(named):
            heads = held[starts[:-1][named][:, None] + np.arange(size)].view(f"V{size}").ravel()
            of_heads, kinds = np.unique(heads, return_inverse=True)
            frames = [frame_of(head.tobytes()) for head in of_heads]
            known = np.array([frame is not None for frame in frames])
            at[named] = np.where(known, len(ids) + np.cumsum(known) - 1, -1)[kinds]
            sizes[named] = size
            ids += [frame.number for frame in frames if frame is not None]
    return Frames(ids, at, sizes)


def _number(held: NDArray[np.uint8], first: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the number of the four bytes at each place."""
    if not len(first):
        return np.zeros(0, np.int64)
    words: NDArray[Any] = np.ndarray(len(held) - 3, ">u4", held.data, strides=(1,))  # from each byte on
    return words[first].astype(np.int64)
