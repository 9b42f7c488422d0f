"""Repeats found in this process: positions are read first, images only of rows at a position that occurs again.

This takes about forty bytes of memory per row of the lines compared, and as much again per row whose images are read.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from cdc_contracts.registry.core.records.output_schemas import REPEATS_SCHEMA
from cdc_contracts.registry.core.stats.positions import SNAPSHOT, PositionLine
from cdc_contracts.spark_checks.engines.repeat_search import COMPARED, SAME, FoundRepeats, RepeatSearch, write_repeats
from cdc_contracts.spark_checks.files.part_files import BATCH_ROWS, read_columns

Integers = NDArray[np.int64]

_PLACED: Final = ("topic", "partition", "contract", "offset", "row_index", "position", "op")
_WRITTEN: Final = tuple(name for name in REPEATS_SCHEMA.names if name != "first_offset")
_DIGEST_WORDS: Final = 4
_NONE: Final = -1


class _Rows(NamedTuple):
    """Rows of one line: their row numbers, their offsets, and their positions."""

    numbers: list[Integers]
    offsets: list[Integers]
    row_indexes: list[Integers]
    positions: list[pa.Array]


class _Revisits(NamedTuple):
    """Rows at a position that occurs more than once: row numbers, and the number of the stretch each belongs to."""

    numbers: Integers
    visits: Integers


def search_in_process(search: RepeatSearch) -> FoundRepeats:
    """Write the repeats that a search finds, in the order of the files."""
    again = _find_revisits(search)
    first_offsets = _find_repeated(search, again)
    return write_repeats(search.place, _repeated_rows(search, first_offsets))


def _find_revisits(search: RepeatSearch) -> _Revisits:
    """Return the rows at positions that their line has more than once, by number."""
    lines: dict[PositionLine, _Rows] = {line: _Rows([], [], [], []) for line in search.lines}
    for start, _, batch in _batches(search, _PLACED):
        kept = pc.and_(pc.not_equal(batch.column("op"), SNAPSHOT), pc.is_valid(batch.column("position")))
        numbers = np.flatnonzero(kept.to_numpy(zero_copy_only=False))
        for line, mine in _by_line(batch, numbers, lines):
            rows, taken = lines[line], batch.take(pa.array(mine))
            rows.numbers.append(mine + start)
            rows.offsets.append(taken.column("offset").to_numpy().astype(np.int64))
            rows.row_indexes.append(taken.column("row_index").to_numpy().astype(np.int64))
            rows.positions.append(taken.column("position"))
    found = [
        _line_revisits(
            rows,
            [offset for at, offset in search.skipped if at == line],
            each_its_own=line.subject in search.each_its_own,
        )
        for line, rows in lines.items()
        if rows.numbers
    ]
    if not found:
        return _Revisits(np.empty(0, np.int64), np.empty(0, np.int64))
    return _Revisits(np.concatenate([one.numbers for one in found]), np.concatenate([one.visits for one in found]))


def _by_line(
    batch: pa.RecordBatch, numbers: Integers, lines: dict[PositionLine, _Rows]
) -> Iterator[tuple[PositionLine, Integers]]:
    """Yield the rows of each line to be compared, among these rows of a batch."""
    if not len(numbers):
        return
    names = ("topic", "partition", "contract")
    codes = np.zeros(len(numbers), np.int64)
    for name in names:
        encoded = batch.column(name).take(pa.array(numbers)).dictionary_encode()
        codes = codes * len(encoded.dictionary) + encoded.indices.to_numpy().astype(np.int64)
    for code in np.unique(codes):
        mine = codes == code
        topic, partition, contract = (batch.column(name)[int(numbers[mine][0])].as_py() for name in names)
        line = PositionLine(topic, partition, contract.partition("@")[0])
        if line in lines:
            yield line, numbers[mine]


def _line_revisits(rows: _Rows, skipped: Sequence[int], *, each_its_own: bool) -> _Revisits:
    """Return the rows of a line at positions that it returned to; at `skipped` offsets it was at other positions."""
    codes = pa.chunked_array(rows.positions).combine_chunks().dictionary_encode().indices.to_numpy()
    between = np.full(len(skipped), _NONE, np.int64)
    position = np.concatenate([codes.astype(np.int64), between])
    offset = np.concatenate([*rows.offsets, np.asarray(skipped, np.int64)])
    row_index = np.concatenate([*rows.row_indexes, np.zeros(len(skipped), np.int64)])
    number = np.concatenate([*rows.numbers, between])
    order = np.lexsort((row_index, offset))
    position, row_index, number = position[order], row_index[order], number[order]
    begins = np.ones(len(order), np.bool_)
    begins[1:] = position[1:] != position[:-1]
    if each_its_own:
        begins |= row_index == 0
    visit = np.cumsum(begins)
    held = position != _NONE
    position, visit, number = position[held], visit[held], number[held]
    first, last = np.full(position.max() + 1, visit.max()), np.zeros(position.max() + 1, visit.dtype)
    np.minimum.at(first, position, visit)
    np.maximum.at(last, position, visit)
    again = (first < last)[position]
    return _Revisits(number[again], visit[again])


def _find_repeated(search: RepeatSearch, again: _Revisits) -> dict[int, int]:
    """Return the rows of the changes files that repeat others, each with the offset of the first one."""
    order = np.argsort(again.numbers)
    numbers, visits = again.numbers[order], again.visits[order]
    digests, offsets, own = bytearray(), np.empty(len(numbers), np.int64), np.empty(len(numbers), np.bool_)
    for start, mine, batch in _batches(search, COMPARED.names):
        low, high = np.searchsorted(numbers, (start, start + batch.num_rows))
        if low < high:
            rows = batch.take(pa.array(numbers[low:high] - start))
            digests += b"".join(map(_digest, rows.to_pylist()))
            offsets[low:high] = rows.column("offset").to_numpy()
            own[low:high] = mine
    words = np.frombuffer(bytes(digests), np.uint64).reshape(-1, _DIGEST_WORDS)
    same = _groups(*words.T)
    nth = _count_up(same, visits, offsets)
    group = _groups(same, nth)
    first = np.full(len(group), np.iinfo(np.int64).max)
    np.minimum.at(first, group, offsets)
    repeated = own & (offsets > first[group])
    return dict(zip(numbers[repeated].tolist(), first[group][repeated].tolist(), strict=True))


def _digest(row: dict[str, object]) -> bytes:
    """Return a digest of the columns that have to be equal for one row to repeat another."""
    images = [None if (image := row[side]) is None else sorted(image) for side in ("before", "after")]  # type: ignore[call-overload]
    subject = str(row["contract"]).partition("@")[0]
    facts = [row[name] for name in SAME if name not in {"subject", "images"}]
    return hashlib.blake2b(repr((subject, facts, images)).encode(), digest_size=8 * _DIGEST_WORDS).digest()


def _groups(*keys: NDArray[np.generic]) -> Integers:
    """Return a number for each row, the same for rows with equal keys."""
    order = np.lexsort(keys)
    changes = np.zeros(len(order), np.bool_)
    for key in keys:
        changes[1:] |= key[order][1:] != key[order][:-1]
    found = np.empty(len(order), np.int64)
    found[order] = np.cumsum(changes)
    return found


def _count_up(same: Integers, visits: Integers, offsets: Integers) -> Integers:
    """Return the rank of each row, by offset, among equal ones of the same visit to a position."""
    group = _groups(same, visits)
    order = np.lexsort((offsets, group))
    places = np.arange(len(order))
    begins = np.ones(len(order), np.bool_)
    begins[1:] = group[order][1:] != group[order][:-1]
    found = np.empty(len(order), np.int64)
    found[order] = places - np.maximum.accumulate(np.where(begins, places, 0))
    return found


def _repeated_rows(search: RepeatSearch, first_offsets: dict[int, int]) -> Iterator[pa.RecordBatch]:
    numbers = np.fromiter(first_offsets, np.int64)
    for start, own, batch in _batches(search, _WRITTEN):
        if not own:
            return
        low, high = np.searchsorted(numbers, (start, start + batch.num_rows))
        if low < high:
            rows = batch.take(pa.array(numbers[low:high] - start))
            columns = {name: rows.column(name) for name in _WRITTEN}
            columns["first_offset"] = pa.array([first_offsets[number] for number in numbers[low:high].tolist()])
            yield pa.RecordBatch.from_arrays([columns[name] for name in REPEATS_SCHEMA.names], REPEATS_SCHEMA.names)


def _batches(search: RepeatSearch, columns: Sequence[str]) -> Iterator[tuple[int, bool, pa.RecordBatch]]:
    """Yield columns of all files, the number of rows before, and whether they belong to the run itself."""
    filesystem, root = search.place.open()
    start = 0
    for number, path in enumerate([*search.changes, *search.earlier]):
        for batch in read_columns(filesystem, f"{root}/{path}", columns, most=BATCH_ROWS):
            yield start, number < len(search.changes), batch
            start += batch.num_rows
