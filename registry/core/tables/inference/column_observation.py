"""Column observation: the evidence in a batch of decoded rows, counted column by column and not row by row."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from cdc_contracts.registry.core.stats.observed_columns import TableName
from cdc_contracts.registry.core.tables.inference.column_evidence import (
    ColumnEvidence,
    InferenceEvidence,
    Seen,
    TableEvidence,
    ValuePlace,
    first_names,
)

Numbers = NDArray[np.int64]

_NAMES: Final = ["database", "schema", "table"]
_PLACES: Final = ["topic", "partition", "offset"]
_PLAIN_NUMBER: Final = r"^-?[0-9]+(\.[0-9]+)?$"
_SECONDS: Final = r":[0-9]{2}\.(?P<digits>[0-9]+)"
_MOST_COUNTED: Final = 60
_BETWEEN: Final = "\x00"
"""Between the names of a key, where they are one text: no database takes it in a name."""


def observe(changes: pa.RecordBatch) -> InferenceEvidence:
    """Return the evidence in a batch of `changes/`."""
    evidence = InferenceEvidence(nameless=changes.column("table").null_count)
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
        found = {TableName.of(one["database"], one["schema"], one["table"]): None for one in grouped}
        self.names = first_names(found, len(found))
        codes = {name: code for code, name in enumerate(self.names)}
        result = zip(*(_indices(rows.column(name)) for name in _NAMES), strict=True)
        seen: dict[tuple[int, ...], int] = {}
        columns = [rows.column(name) for name in _NAMES]
        self.codes = np.empty(rows.num_rows, np.int64)
        for row, key in enumerate(result):
            if key not in seen:
                seen[key] = codes[TableName.of(*(column[row].as_py() for column in columns))]
            self.codes[row] = seen[key]
        self._order = pc.sort_indices(rows, sort_keys=[(name, "ascending") for name in _PLACES]).to_numpy()
        self.ranks = np.empty(rows.num_rows, np.int64)
        self.ranks[self._order] = np.arange(rows.num_rows)

    def place(self, rank: int) -> ValuePlace:
        """Return where the row of a rank stands."""
        row = int(self._order[rank])
        return ValuePlace(*(self.table.column(name)[row].as_py() for name in _PLACES))

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
    result = pc.equal(batch.table.column("types_from"), "message").to_numpy()
    entries = batch.entries("column_types")
    chosen = result[entries.rows]
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
    is_number = _mask(pc.match_substring_regex(values, _PLAIN_NUMBER))
    length = pc.fill_null(pc.utf8_length(values), 0).to_numpy()
    point = pc.fill_null(pc.find_substring(values, "."), -1).to_numpy()
    whole = np.where(point < 0, length, point) - _mask(pc.starts_with(values, "-"))
    scale = np.where(point < 0, 0, length - point - 1)
    numbers = pc.if_else(pa.array(is_number), values, None)
    few = whole <= _MOST_COUNTED  # a number of more digits is beyond every integer type
    table = pa.table({
        "code": batch.codes[entries.rows],
        "name": entries.names.dictionary_encode(),
        "null": values.is_null().cast(pa.int64()),
        "number": is_number.astype(np.int64),
        "whole": np.where(is_number, whole, 0),
        "scale": np.where(is_number, scale, 0),
        "digits": _significant(numbers),
        "huge": _beyond_floats(numbers),
        "part": _whole_parts(pc.if_else(pa.array(few), numbers, None)),
        "second": pc.fill_null(pc.utf8_length(_fractions(values)), 0),
        "length": length,
    })  # fmt: skip
    found = table.group_by(["code", "name"]).aggregate([
        ([], "count_all"), ("null", "sum"), ("number", "sum"), ("whole", "max"), ("scale", "max"), ("digits", "max"),
        ("part", "min"), ("part", "max"), ("huge", "sum"), ("second", "max"), ("length", "max"),
    ])  # fmt: skip
    counts = {
        "values": "count_all", "nulls": "null_sum", "numbers": "number_sum", "whole": "whole_max", "scale": "scale_max",
        "digits": "digits_max", "least": "part_min", "most": "part_max", "beyond_floats": "huge_sum",
        "second_digits": "second_max", "longest": "length_max",
    }  # fmt: skip
    for row in found.to_pylist():
        evidence: dict[str, Any] = {name: int(row[counted] or 0) for name, counted in counts.items()}
        tables[row["code"]].column(row["name"]).merge(ColumnEvidence(**evidence))


def _mask(found: pa.Array) -> NDArray[np.bool_]:
    return pc.fill_null(found, fill_value=False).to_numpy(zero_copy_only=False)  # type: ignore[no-any-return]


def _significant(numbers: pa.Array) -> pa.Array:
    """Return how many digits numbers have from the first to the last that is not 0."""
    digits = pc.replace_substring_regex(numbers, r"[-.]", "")
    return pc.fill_null(pc.utf8_length(pc.utf8_trim(digits, "0")), 0)


def _beyond_floats(numbers: pa.Array) -> pa.Array:
    """Return which numbers are infinite or vanish as floats of 64 bits: 1, else 0."""
    floats = numbers.cast(pa.float64())
    vanishes = pc.and_(pc.equal(floats, 0.0), pc.match_substring_regex(numbers, "[1-9]"))
    return pc.fill_null(pc.or_(pc.is_inf(floats), vanishes), fill_value=False).cast(pa.int64())


def _whole_parts(numbers: pa.Array) -> pa.Array:
    """Return what stands before the point, as decimals."""
    return pc.replace_substring_regex(numbers, r"\..*", "").cast(pa.decimal256(_MOST_COUNTED + 1, 0))


def _fractions(values: pa.Array) -> pa.Array:
    """Return the digits of a second of texts that are times; an empty text if there is none."""
    return pc.struct_field(pc.extract_regex(values, _SECONDS), "digits")


def _indices(column: pa.ChunkedArray) -> list[int]:
    """Return the number of each value among the different ones of a column, -1 for null."""
    encoded = column.combine_chunks().dictionary_encode()
    chunk = encoded.chunk(0) if isinstance(encoded, pa.ChunkedArray) else encoded
    return list(pc.fill_null(chunk.indices, -1).to_pylist())
