"""Batch sizes: short batches are joined, more of them where many tables share a topic, and no record is lost or moved."""

import random

import pyarrow as pa
import pytest
from record_batches import batch_of_values

from cdc_contracts.registry.core.records.batch_sizes import NOT_JOINED, BatchSize, gather
from cdc_contracts.registry.core.records.record_batches import cut

KILOBYTE = b"x" * 1024


def batches_of(lengths, value=b"{}"):
    starts = [sum(lengths[:place]) for place in range(len(lengths))]
    return [
        batch_of_values([value] * max(1, length), start=start).slice(0, length)
        for length, start in zip(lengths, starts, strict=True)
    ]


def gathered(batches, size):
    return [batch.num_rows for batch in gather(batches, lambda: size)]


@pytest.mark.parametrize(
    ("shapes", "rows", "megabytes"), [(0, 10_240, 24), (5, 10_240, 24), (8, 16_384, 38.4), (15, 30_720, 40), (4_000, 30_720, 40)]
)  # fmt: skip
def test_many_shapes_have_larger_batches_up_to_a_bound(shapes, rows, megabytes):
    size = BatchSize.of_shapes(shapes)
    assert (size.rows, size.bytes) == (rows, int(megabytes * 1024 * 1024))


@pytest.mark.parametrize(
    ("lengths", "expected"),
    [
        ([3, 3, 3, 3], [9, 3]),
        ([3, 3, 3, 9], [9, 9]),
        ([8, 8], [8, 8]),
        ([2, 25, 2], [2, 25, 2]),
        ([10, 1], [10, 1]),
        ([4, 0, 4], [4, 0, 4]),
        ([0, 0], [0, 0]),
        ([], []),
    ],
)
def test_batches_are_joined_as_long_as_they_fit(lengths, expected):
    assert gathered(batches_of(lengths), BatchSize(rows=10)) == expected


def test_long_messages_fill_a_batch_by_their_bytes():
    assert gathered(batches_of([4, 4, 4, 4], KILOBYTE), BatchSize(rows=1_000, bytes=9 * 1024)) == [8, 8]


@pytest.mark.parametrize("seed", range(20))
def test_records_keep_their_order_whatever_is_joined(seed):
    draw = random.Random(seed)
    lengths = [draw.choice([0, 1, 2, 5, 9]) for _ in range(12)]
    sizes = iter([BatchSize(rows=draw.choice([3, 10, 40])) for _ in lengths])
    found = [*gather(batches_of(lengths), lambda: next(sizes))]
    offsets = [offset for batch in found for offset in batch.column("offset").to_pylist()]
    assert offsets == [*range(sum(lengths))]
    assert sum(batch.num_rows == 0 for batch in found) == lengths.count(0)


def test_batches_with_other_columns_are_not_joined():
    """Such as those of files of which some have headers, or of records of which none in a batch has a key."""
    plain = batches_of([2, 3, 1, 1])
    keyed = [batch.append_column("key", pa.nulls(batch.num_rows, pa.binary())) for batch in plain]
    found = [*gather([*plain[:2], *keyed[2:]], BatchSize)]
    assert [(batch.num_rows, "key" in batch.schema.names) for batch in found] == [(5, False), (2, True)]


def test_a_batch_does_not_wait_for_one_that_would_not_fit():
    asked = []

    def source():
        for place, batch in enumerate(batches_of([6, 6, 6])):
            asked.append(place)
            yield batch

    next(gather(source(), lambda: BatchSize(rows=10)))
    assert asked == [0]


def test_what_waits_is_delivered_when_nothing_arrives():
    asked = []

    def source():
        for place, batch in enumerate(batches_of([1, 1, 0, 1])):
            asked.append(place)
            yield batch

    assert next(gather(source(), lambda: BatchSize(rows=10))).num_rows == 2
    assert asked == [0, 1, 2]


@pytest.mark.parametrize(("rows", "parts"), [(30, [25]), (25, [25]), (24, [13, 12]), (10, [9, 9, 7])])
def test_a_batch_is_cut_evenly_into_parts_of_the_size(rows, parts):
    assert [len(part) for part in cut(batches_of([25])[0], BatchSize(rows=rows))] == parts


def test_a_batch_is_cut_by_bytes():
    (batch,) = batches_of([5], KILOBYTE)
    assert [len(part) for part in cut(batch, BatchSize(rows=10, bytes=2 * 1024))] == [2, 2, 1]


def test_batches_that_have_to_stay_apart_are_not_joined():
    assert gathered(batches_of([1, 1, 0, 30_000, 1]), NOT_JOINED) == [1, 1, 0, 30_000, 1]
