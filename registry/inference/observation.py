"""Observation: the evidence in a batch of decoded rows, counted column by column and not row by row."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from cdc_contracts.registry.canonical.sightings import TableName
from cdc_contracts.registry.inference.evidence import (
    ColumnEvidence,
    Evidence,
    Place,
    Seen,
    TableEvidence,
    first_names,
)

Numbers = NDArray[np.int64]

_NAMES: Final = ["database", "schema", "table"]
_PLACES: Final = ["topic", "partition", "offset"]
_PLAIN_NUMBER: Final = r"^-?[0-9]+(\.[0-9]+)?$"
_BETWEEN: Final = "\x00"
"""Between the names of a key, where they are one text: no database takes it in a name."""


def observe(changes: pa.RecordBatch) -> Evidence:
    """Return what a batch of `changes/` shows of its tables."""
    evidence = Evidence(nameless=changes.column("table").null_count)
    rows = pa.Table.from_batches([changes]).filter(changes.column("table").is_valid()).combine_chunks()
    if rows.num_rows == 0:
        return evidence
    batch = _Rows(rows)
    for code, count, first, last in batch.grouped({}):
        evidence.tables[batch.names[code]] = TableEvidence(batch.seen(count, first, last))
    tables = {code: evidence.tables[name] for code, name in enumerate(batch.names)}
    for code, contract, count, first, last in batch.grouped({"value": rows.column("contract")}):
        tables[code].contracts[contract] = batch.seen(count, first, last)
    joined = pc.binary_join(rows.column("primary_key"), _BETWEEN)
    for code, key, count, first, last in batch.grouped({"value": joined}):
        if key is not None:
            tables[code].keys[tuple(key.split(_BETWEEN)) if key else ()] = batch.seen(count, first, last)
    _observe_types(batch, tables)
    for side in ("before", "after"):
        _observe_values(batch, side, tables)
    return evidence


@dataclass(frozen=True)
class _Entries:
    """The members of the maps of a column: of which row each is, its name and its value."""

    rows: Numbers
    names: pa.Array
    values: pa.Array


class _Rows:
    """Rows with the number of their table, and their rank in the order of topic, partition and offset."""

    def __init__(self, rows: pa.Table) -> None:
        self.table = rows
        grouped = rows.select(_NAMES).group_by(_NAMES).aggregate([([], "count_all")]).select(_NAMES).to_pylist()
        found = {TableName(one["database"], one["schema"], one["table"]): None for one in grouped}
        self.names = first_names(found, len(found))
        codes = {name: code for code, name in enumerate(self.names)}
        told = zip(*(_indices(rows.column(name)) for name in _NAMES), strict=True)
        seen: dict[tuple[int, ...], int] = {}
        columns = [rows.column(name) for name in _NAMES]
        self.codes = np.empty(rows.num_rows, np.int64)
        for row, key in enumerate(told):
            if key not in seen:
                seen[key] = codes[TableName(*(column[row].as_py() for column in columns))]
            self.codes[row] = seen[key]
        self._order = pc.sort_indices(rows, sort_keys=[(name, "ascending") for name in _PLACES]).to_numpy()
        self.ranks = np.empty(rows.num_rows, np.int64)
        self.ranks[self._order] = np.arange(rows.num_rows)

    def place(self, rank: int) -> Place:
        """Return where the row of a rank stands."""
        row = int(self._order[rank])
        return Place(*(self.table.column(name)[row].as_py() for name in _PLACES))

    def seen(self, count: int, first: int, last: int) -> Seen:
        """Return how often rows were seen between two ranks."""
        return Seen(count, self.place(first), self.place(last))

    def entries(self, name: str) -> _Entries:
        """Return the members of a column of maps."""
        maps = self.table.column(name)
        array = maps.chunk(0) if maps.num_chunks else pa.array([], maps.type)
        offsets = array.offsets.to_numpy()
        lengths = np.where(array.is_valid().to_numpy(zero_copy_only=False), np.diff(offsets), 0)
        begin, size = int(offsets[0]), int(offsets[-1] - offsets[0])
        rows = np.repeat(np.arange(len(array)), lengths)
        return _Entries(rows, array.keys.slice(begin, size), array.items.slice(begin, size))

    def grouped(self, keys: dict[str, Any]) -> Iterator[tuple[Any, ...]]:
        """Yield table and keys of each group of rows, how many they are, and the ranks of the first and the last."""
        return group({"code": self.codes, **keys}, self.ranks)


def group(keys: dict[str, Any], ranks: Numbers) -> Iterator[tuple[Any, ...]]:
    """Yield the keys of each group, how many there are, and the lowest and highest rank."""
    table = pa.table({**keys, "rank": ranks})
    found = table.group_by(list(keys)).aggregate([([], "count_all"), ("rank", "min"), ("rank", "max")])
    columns = [found.column(name).to_pylist() for name in (*keys, "count_all", "rank_min", "rank_max")]
    return zip(*columns, strict=True)


def _observe_types(batch: _Rows, tables: dict[int, TableEvidence]) -> None:
    told = pc.equal(batch.table.column("types_from"), "message").to_numpy()
    entries = batch.entries("column_types")
    chosen = told[entries.rows]
    rows = entries.rows[chosen]
    keys = {
        "code": batch.codes[rows],
        "name": entries.names.filter(pa.array(chosen)).dictionary_encode(),
        "type": entries.values.filter(pa.array(chosen)).dictionary_encode(),
    }
    for code, name, source_type, count, first, last in group(keys, batch.ranks[rows]):
        if source_type is not None:
            tables[code].column(name).types[source_type] = batch.seen(count, first, last)


def _observe_values(batch: _Rows, side: str, tables: dict[int, TableEvidence]) -> None:
    present = batch.codes[batch.table.column(side).is_valid().to_numpy()]
    for code, count in zip(*np.unique(present, return_counts=True), strict=True):
        tables[int(code)].images += int(count)
    entries = batch.entries(side)
    values = entries.values
    is_number = pc.fill_null(pc.match_substring_regex(values, _PLAIN_NUMBER), fill_value=False).to_numpy(
        zero_copy_only=False
    )
    length = pc.fill_null(pc.utf8_length(values), 0).to_numpy()
    point = pc.fill_null(pc.find_substring(values, "."), -1).to_numpy()
    signs = pc.fill_null(pc.starts_with(values, "-"), fill_value=False).to_numpy(zero_copy_only=False)
    whole = np.where(point < 0, length, point) - signs
    scale = np.where(point < 0, 0, length - point - 1)
    table = pa.table({
        "code": batch.codes[entries.rows],
        "name": entries.names.dictionary_encode(),
        "null": values.is_null().cast(pa.int64()),
        "number": is_number.astype(np.int64),
        "whole": np.where(is_number, whole, 0),
        "scale": np.where(is_number, scale, 0),
        "length": length,
    })  # fmt: skip
    found = table.group_by(["code", "name"]).aggregate([
        ([], "count_all"), ("null", "sum"), ("number", "sum"), ("whole", "max"), ("scale", "max"), ("length", "max"),
    ])  # fmt: skip
    names = ("code", "name", "count_all", "null_sum", "number_sum", "whole_max", "scale_max", "length_max")
    for code, name, *counts in zip(*(found.column(one).to_pylist() for one in names), strict=True):
        tables[code].column(name).merge(ColumnEvidence(*counts))


def _indices(column: pa.ChunkedArray) -> list[int]:
    """Return the number of each value among the different ones of a column, -1 for null."""
    encoded = column.combine_chunks().dictionary_encode()
    chunk = encoded.chunk(0) if isinstance(encoded, pa.ChunkedArray) else encoded
    return list(pc.fill_null(chunk.indices, -1).to_pylist())
