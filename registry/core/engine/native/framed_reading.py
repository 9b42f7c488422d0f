"""Framed reading: records behind the id of their writer's schema as JSON, each by the schema that its id names.

An Avro record becomes what the JSON converter of Kafka Connect writes of it: with a schema block, for contracts that
read types from one, or without. In place of the block stands the id, and whoever parses the text puts the block there.
A value without a frame is left as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cdc_contracts.registry.core.common.errors import ContractError
from cdc_contracts.registry.core.common.json_messages import Unreadable
from cdc_contracts.registry.core.engine.native.avro_plans import AvroPlan, AvroProgram, NoAvroPlan
from cdc_contracts.registry.core.engine.native.native_library import native_library
from cdc_contracts.registry.core.engine.native.record_texts import AvroRecordReader
from cdc_contracts.registry.core.message.framed_values import FramedValues
from cdc_contracts.registry.core.writer_schemas.writer_schemas import LONG, SHORT

_MOST_PROGRAMS: Final = 512
MOST_JSON: Final = 512 * 1024 * 1024
"""The most JSON of the records of one schema in a batch, which has up to 16 MiB of them."""


class ReadValues(NamedTuple):
    """The JSON text of each value, and why the values at some places have none."""

    texts: pa.BinaryArray
    failures: Mapping[int, Unreadable]


class FramedReader:
    """Reads the values of batches by the schemas that their frames name."""

    def __init__(self, values: FramedValues, most_bytes: int) -> None:
        self._values, self._library = values, native_library()
        self._records = AvroRecordReader(self._library, most_bytes, MOST_JSON)
        self._programs: dict[int, AvroProgram | None] = {}

    def read(self, values: pa.BinaryArray) -> ReadValues:
        """Return the values as JSON. Raises UnavailableError if a schema cannot be asked for."""
        numbers, sizes = frames_of(values)
        framed = np.flatnonzero(numbers >= 0)
        if not len(framed):
            return ReadValues(values, {})
        failures: dict[int, Unreadable] = {}
        parts, places = [values.take(pa.array(np.flatnonzero(numbers < 0)))], [np.flatnonzero(numbers < 0)]
        for number, size in {*zip(numbers[framed].tolist(), sizes[framed].tolist(), strict=True)}:
            mine = np.flatnonzero((numbers == number) & (sizes == size))
            found = self._read_by(number, size, values.take(pa.array(mine)))
            parts.append(found.texts)
            places.append(mine)
            failures |= {int(mine[place]): error for place, error in found.failures.items()}
        order = np.argsort(np.concatenate(places), kind="stable")
        if len(parts) == 2 and not len(parts[0]):  # noqa: PLR2004  one id, and nothing without a frame
            return ReadValues(parts[1], failures)
        return ReadValues(pa.concat_arrays(parts).take(pa.array(order)), failures)

    def _read_by(self, number: int, size: int, values: pa.BinaryArray) -> ReadValues:
        """Read records of one schema; all are refused if their JSON is too long, as that of endless names may be."""
        program = self._program(number)
        failures: dict[int, Unreadable] = {}
        if program is None:
            texts = [self._text_of(value, place, failures) for place, value in enumerate(values.to_pylist())]
            return ReadValues(pa.array(texts, pa.binary()), failures)

        def text_of(place: int) -> bytes:
            return self._text_of(values[place].as_py(), place, failures)

        try:
            return ReadValues(self._records.read(program, values, size, np.zeros(1, np.int32), text_of), failures)
        except OverflowError:
            error = Unreadable("too-long", f"schema id {number}: more than {MOST_JSON:,} bytes of JSON in a batch")
            nothing = pa.array([b""] * len(values), pa.binary())
            return ReadValues(nothing, dict.fromkeys(range(len(values)), error))

    def _text_of(self, value: bytes, place: int, failures: dict[int, Unreadable]) -> bytes:
        try:
            return self._values.text_of(value)
        except Unreadable as error:
            failures[place] = error
            return b""

    def _program(self, number: int) -> AvroProgram | None:
        """Return the program of a schema; None if its records are read one by one, or not at all."""
        if number not in self._programs:
            if len(self._programs) >= _MOST_PROGRAMS:
                self._programs.clear()
            self._programs[number] = self._make_program(number)
        return self._programs[number]

    def _make_program(self, number: int) -> AvroProgram | None:
        if self._library is None:
            return None
        plan = AvroPlan()
        try:
            schema: Any = self._values.avro_schema(number)
            if schema is None:
                return None
            plan.add_writer_schema(schema, self._values.head(number))
            return AvroProgram(self._library, plan, 0)
        except (NoAvroPlan, Unreadable, ContractError):
            return None


def frames_of(values: pa.BinaryArray) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the id in front of each value, -1 where there is none, and the bytes of its frame, as `frame_of` does."""
    found, sizes = np.full(len(values), -1, np.int64), np.full(len(values), SHORT, np.int64)
    if not len(values) or values.buffers()[2] is None:
        return found, sizes
    _, offsets, data = values.buffers()
    starts = np.frombuffer(offsets, np.int32, len(values) + 1, 4 * values.offset).astype(np.int64)
    held, lengths = np.frombuffer(data, np.uint8), np.diff(starts)
    framed = lengths >= SHORT
    if values.null_count:
        framed &= values.is_valid().to_numpy(zero_copy_only=False)
    places = np.flatnonzero(framed)
    places = places[held[starts[:-1][places]] == 0]
    found[places] = _number(held, starts[:-1][places] + 1)
    longer = places[(found[places] == 0) & (lengths[places] >= LONG)]
    found[longer], sizes[longer] = _number(held, starts[:-1][longer] + 5), LONG
    return found, sizes


def _number(held: NDArray[np.uint8], first: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the number of the four bytes at each place."""
    total: NDArray[np.int64] = sum(
        (held[first + byte].astype(np.int64) << (24 - 8 * byte) for byte in range(4)), np.zeros(len(first), np.int64)
    )
    return total
