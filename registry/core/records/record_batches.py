"""Record batches as a source delivers them: values with their coordinates."""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from cdc_contracts.registry.core.common.named_tuples import make_all
from cdc_contracts.registry.core.records.batch_sizes import SIZE_OF_FEW, BatchSize
from cdc_contracts.registry.core.records.code_orders import number_codes, order_by_code
from cdc_contracts.registry.core.records.message_values import MessageValues
from cdc_contracts.registry.core.records.output_schemas import HEADERS_TYPE, INSTANT
from cdc_contracts.registry.core.stats.partition_tallies import Source
from cdc_contracts.registry.core.stats.position_sequences import Point
from cdc_contracts.registry.core.writer_schemas.writer_schemas import SchemaId

_SCHEMA_ID: Final = "_writer_schema_id"
NO_ID: Final = -1
"""In place of the id of a value without a frame."""


class SchemaIds(NamedTuple):
    """The writer schemas that values or keys name: each id once, and the place here of that of each value, or NO_ID."""

    ids: Sequence[SchemaId]
    places: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Batch:
    """Records with the columns of the Kafka source, as a source delivers them.

    They are `key`, `value`, `topic`, `partition`, `offset`, `timestamp` (microseconds since 1970 UTC),
    `timestampType` and perhaps `headers`. Where a value or key is not the text of a message, `value_text` and
    `key_text` are. `read_values` are the texts of messages where they were read with what else is known of them.
    """

    records: pa.RecordBatch
    read_values: MessageValues | None = None

    def __len__(self) -> int:
        return int(self.records.num_rows)

    @cached_property
    def values(self) -> MessageValues:
        """The texts of messages."""
        return MessageValues(self._text_or("value")) if self.read_values is None else self.read_values

    @cached_property
    def keys(self) -> pa.BinaryArray:
        """The texts of keys."""
        return self._text_or("key")

    def _text_or(self, name: str) -> pa.BinaryArray:
        text = f"{name}_text"
        return self.column(text if text in self.records.schema.names else name, pa.binary())

    def with_texts(self, values: MessageValues, keys: MessageValues | None = None) -> Batch:
        """Return the batch with the texts of its values, and perhaps of its keys."""
        records = self.records
        for name, texts in (("value_text", values), ("key_text", keys)):
            if texts is not None:
                field, place = pa.field(name, pa.binary()), records.schema.get_field_index(name)
                records = (
                    records.append_column(field, texts.array) if place < 0
                    else records.set_column(place, field, texts.array)
                )  # fmt: skip
        return Batch(records, values)

    def with_schema_ids(self, values: SchemaIds, keys: SchemaIds | None) -> Batch:
        """Return the batch with the ids of the writer schemas of its values, and perhaps of its keys."""
        records = self.records
        for of, named in (("value", values), ("key", keys)):
            if named is not None:
                known = pa.array(map(json.dumps, named.ids), pa.string())
                places = pa.array(named.places.astype(np.int32), mask=named.places == NO_ID)
                records = records.append_column(f"{of}{_SCHEMA_ID}", pa.DictionaryArray.from_arrays(places, known))
        return Batch(records, self.read_values)

    def schema_ids(self, of: str) -> SchemaIds | None:
        """Return the ids of the writer schemas of `value` or `key`; None if nobody asked for them."""
        name = f"{of}{_SCHEMA_ID}"
        if name not in self.records.schema.names:
            return None
        column = self.records.column(name)
        places = pc.fill_null(column.indices, NO_ID).to_numpy(zero_copy_only=False)
        return SchemaIds([*map(json.loads, column.dictionary.to_pylist())], places.astype(np.int64))

    def part(self, failures: Collection[int]) -> tuple[Batch, Batch]:
        """Return the records without those of some numbers, and these, both in their order."""
        if not failures:
            return self, Batch(self.records.slice(0, 0))
        refused = np.array(sorted(failures), np.int64)
        return self.select(np.setdiff1d(np.arange(len(self)), refused)), self.select(refused)

    def select(self, numbers: NDArray[np.int64]) -> Batch:
        """Return some of the records."""
        return Batch(self.records.take(pa.array(numbers)))

    @cached_property
    def offsets(self) -> NDArray[np.int64]:
        return self.records.column("offset").to_numpy(zero_copy_only=False).astype(np.int64)  # type: ignore[no-any-return]

    @cached_property
    def timestamps(self) -> NDArray[np.int64]:
        """Microseconds per record; the least integer where there is none."""
        if "timestamp" not in self.records.schema.names:
            return np.full(len(self), NO_TIMESTAMP)
        column = self.column("timestamp", INSTANT).cast(pa.int64())
        return pc.fill_null(column, NO_TIMESTAMP).to_numpy(zero_copy_only=False)  # type: ignore[no-any-return]

    @cached_property
    def sources(self) -> list[Source]:
        """The partitions of the batch; `source_of` has the place here of each record."""
        return self._sources[0]

    @property
    def source_of(self) -> NDArray[np.int64]:
        return self._sources[1]

    def column(self, name: str, kind: pa.DataType) -> pa.Array:
        """Return a column in the type wanted; nulls where the source does not have it."""
        if name not in self.records.schema.names:
            return pa.nulls(len(self), kind)
        column = self.records.column(name)
        return column if column.type == kind else column.cast(kind)

    def fill(
        self, schema: pa.Schema, columns: Mapping[str, Any], numbers: pa.Array, taken: Mapping[str, pa.Array]
    ) -> pa.RecordBatch:
        """Return rows of a schema that is written: `columns` as they are, the rest from the records by their numbers.

        `taken` has the columns that the rest is taken from; what is in neither are the coordinates.
        """
        coordinates = {"topic": pa.string(), "partition": pa.int32(), "offset": pa.int64()}
        arrays = []
        for wanted in schema:
            if wanted.name in columns:
                column = columns[wanted.name]
                arrays.append(column if isinstance(column, pa.Array) else pa.array(column, wanted.type))
            elif wanted.name in taken:
                arrays.append(taken[wanted.name].take(numbers))
            else:
                arrays.append(self.column(wanted.name, coordinates[wanted.name]).take(numbers))
        return pa.RecordBatch.from_arrays(arrays, schema=schema)

    def points(self, numbers: NDArray[np.int64]) -> list[Point]:
        """Return some records by offset and time."""
        held = self.timestamps[numbers]
        times: list[int | None] = held.tolist()
        if (held == NO_TIMESTAMP).any():
            times = [None if time == NO_TIMESTAMP else time for time in times]
        return list(make_all(Point, zip(self.offsets[numbers].tolist(), times, strict=True)))

    def source(self, number: int) -> Source:
        """Return the partition of a record."""
        return self.sources[int(self.source_of[number])]

    def by_source(self, numbers: NDArray[np.int64]) -> Iterator[tuple[Source, slice | NDArray[np.int64]]]:
        """Yield the partitions of some records, with the records in each."""
        if not len(numbers):
            return
        sources = self.source_of[numbers]
        if len(self.sources) == 1 or len(numbers) == 1:
            yield self.sources[int(sources[0])], slice(None)
            return
        for place, chosen in split_by_code(sources):
            yield self.sources[place], chosen

    def by_topic(self, numbers: NDArray[np.int64]) -> Iterator[tuple[str, slice | NDArray[np.int64]]]:
        """Yield the topics of some records, with the records in each."""
        topics = list(dict.fromkeys(topic for topic, _ in self.sources))
        if len(topics) == 1:
            yield topics[0], slice(None)
            return
        codes = np.array([topics.index(topic) for topic, _ in self.sources])
        for place, chosen in split_by_code(codes[self.source_of[numbers]]):
            yield topics[place], chosen

    @cached_property
    def _sources(self) -> tuple[list[Source], NDArray[np.int64]]:
        topics = pc.dictionary_encode(self.column("topic", pa.string()))
        partitions = pc.dictionary_encode(self.column("partition", pa.int32()))
        names, numbers = topics.dictionary.to_pylist(), partitions.dictionary.to_pylist()
        if len(names) == len(numbers) == 1:
            return [Source(names[0], numbers[0])], np.zeros(len(self), np.int64)
        codes = topics.indices.to_numpy().astype(np.int64) * len(numbers) + partitions.indices.to_numpy()
        firsts, places = number_codes(codes)
        pairs = codes[firsts].tolist()
        return [Source(names[pair // len(numbers)], numbers[pair % len(numbers)]) for pair in pairs], places


def split_by_code(codes: NDArray[np.int64]) -> Iterator[tuple[int, NDArray[np.int64]]]:
    """Yield the distinct codes in ascending order, each with the indices where it stands."""
    if not len(codes):
        return
    order = order_by_code(codes)
    starts = np.flatnonzero(np.diff(codes[order], prepend=-1))
    ends = np.append(starts[1:], len(order))
    for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
        yield int(codes[order[start]]), order[start:end]


NO_TIMESTAMP: Final = -(2**63)


def cut(records: pa.RecordBatch, size: BatchSize = SIZE_OF_FEW) -> Iterator[Batch]:
    """Yield a record batch in parts of a size at most, small enough to hold their texts."""
    total, start = records.num_rows, 0
    if size.holds([records]):
        if total:
            yield Batch(records)
        return
    even = -(-total // max(1, -(-total // size.rows)))
    lengths = pc.fill_null(pc.binary_length(records.column("value")), 0).to_numpy(zero_copy_only=False)
    reach: NDArray[Any] = np.cumsum(lengths, dtype=np.int64)
    while start < total:
        before = int(reach[start - 1]) if start else 0
        stop = int(np.searchsorted(reach, before + size.bytes, side="right"))
        stop = max(start + 1, min(stop, start + even, total))
        yield Batch(records.slice(start, stop - start))
        start = stop


def read_headers(column: pa.Array) -> pa.Array:
    """Return headers as arrays of key and value.

    A source may deliver them as JSON text with Base64 values, which costs Spark a fraction of the arrays.
    """
    if not is_header_text(column):
        return column.cast(HEADERS_TYPE)
    result = [None if text is None else json.loads(text) for text in column.to_pylist()]
    opened = [
        None
        if headers is None
        else [
            {"key": header["key"], "value": b64decode(header["value"]) if "value" in header else None}
            for header in headers
        ]
        for headers in result
    ]
    return pa.array(opened, HEADERS_TYPE)


def is_number(kind: pa.DataType) -> bool:
    """Return whether a column holds numbers: no bytes of messages, and no times, as nothing says what they count."""
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def is_header_text(column: pa.Array) -> bool:
    """Return whether headers are delivered as JSON text."""
    return bool(pa.types.is_string(column.type) or pa.types.is_large_string(column.type))


CAPTURE_SCHEMA: Final = pa.schema([
    ("key", pa.binary()),
    ("value", pa.binary()),
    ("topic", pa.string()),
    ("partition", pa.int32()),
    ("offset", pa.int64()),
    ("timestamp", pa.timestamp("us", tz="UTC")),
    ("timestampType", pa.int32()),
    ("headers", HEADERS_TYPE),
])  # fmt: skip


def as_capture(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return records with exactly the columns of `CAPTURE_SCHEMA`; those that they lack are null."""
    arrays = []
    for field in CAPTURE_SCHEMA:
        if field.name not in batch.schema.names:
            arrays.append(pa.nulls(batch.num_rows, field.type))
        elif field.name == "headers":
            arrays.append(read_headers(batch.column("headers")))
        else:
            arrays.append(batch.column(field.name).cast(field.type))
    return pa.RecordBatch.from_arrays(arrays, schema=CAPTURE_SCHEMA)
