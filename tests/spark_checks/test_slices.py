"""Which offsets a sample reads, and the pieces of a long range."""

import itertools
from fractions import Fraction

import pyarrow as pa
import pytest

from cdc_contracts.registry.core.common.errors import UsageError
from cdc_contracts.registry.core.report.audit_report import Span
from cdc_contracts.registry.core.stats.partition_tallies import Source
from cdc_contracts.spark_checks.inputs.range_slices import cut, keep, parse_fraction, skipped, spread

A, B = Source("a", 0), Source("b", 1)


@pytest.mark.parametrize(
    ("text", "part"), [("1/10", (1, 10)), ("0.1", (1, 10)), (".25", (1, 4)), ("1", (1, 1)), ("2/3", (2, 3))]
)
def test_a_part_is_a_fraction_or_a_decimal(text, part):
    assert parse_fraction(text) == Fraction(*part)


@pytest.mark.parametrize("text", ["", "0", "1.5", "3/2", "1/0", "-1/2", "10%", "a", "1/2/3", "1e-3", "0/5"])
def test_anything_else_is_refused(text):
    with pytest.raises(UsageError) as refusal:
        parse_fraction(text)
    assert "1/10" in refusal.value.hint


@pytest.mark.parametrize(
    ("start", "end", "part", "slices"),
    [
        (0, 0, "1/10", [(0, 0)]),
        (5, 14, "1/10", [(5, 6)]),
        (0, 1_000, "1/10", [(0, 100)]),
        (0, 3_000, "1/10", [(0, 100), (1_450, 1_550), (2_900, 3_000)]),
        (100, 2_100, "1/8", [(100, 225), (1_975, 2_100)]),
        (0, 300, "1", [(0, 100), (100, 200), (200, 300)]),
    ],
)
def test_slices_lie_from_the_beginning_to_the_end(start, end, part, slices):
    found = spread({A: Span(start, end)}, parse_fraction(part))[A]
    assert list(found) == slices


def test_a_sample_of_a_long_range_has_slices_of_the_same_size_and_never_more_than_its_part():
    found = spread({A: Span(17, 1_000_018)}, Fraction(1, 3))[A]
    assert len(found) == 30
    assert found[0][0] == 17
    assert found[-1][1] == 1_000_018
    assert {end - start for start, end in found} <= {11_111, 11_112}
    assert all(before[1] <= after[0] for before, after in itertools.pairwise(found))
    assert skipped(Span(17, 1_000_018), found) == 1_000_001 - 333_334
    assert skipped(Span(17, 17 + 11_112), found) == 0


def test_partitions_are_sampled_at_different_parts_and_never_in_fewer_slices_than_ten():
    found = spread({Source("a", number): Span(0, 100_000) for number in range(4)}, Fraction(1, 10))
    assert {len(slices) for slices in found.values()} == {10}
    starts = sorted(start for slices in found.values() for start, _ in slices)
    assert (starts[0], starts[-1]) == (0, 99_000)  # 40 slices of 1,000 offsets
    assert {after - before for before, after in itertools.pairwise(starts)} <= {2_307, 2_308, 3_307, 3_308}
    assert found == spread({Source("a", number): Span(0, 100_000) for number in (3, 1, 0, 2)}, Fraction(1, 10))


def test_a_sample_of_everything_reads_everything():
    found = spread({A: Span(3, 5_000), B: Span(0, 7_001)}, Fraction(1))
    for source, (start, end) in {A: (3, 5_000), B: (0, 7_001)}.items():
        assert [bound for window in found[source] for bound in window][:: len(found[source]) * 2 - 1] == [start, end]
        assert all(before[1] == after[0] for before, after in itertools.pairwise(found[source]))


def test_a_range_is_cut_into_pieces_that_together_are_all_of_it():
    windows = {A: [(0, 25)], B: [(3, 8), (50, 55)]}
    assert cut(windows, None) == [{A: (0, 25), B: (3, 8)}, {B: (50, 55)}]
    assert cut(windows, 20) == [{A: (0, 10), B: (3, 8)}, {A: (10, 20), B: (50, 55)}, {A: (20, 25)}]
    assert cut({}, 20) == []


def test_the_records_of_slices_are_kept_apart_by_slice():
    columns = {"topic": ["a", "a", "b", "b", "c"], "partition": [0, 0, 1, 1, 0], "offset": [1, 2, 1, 7, 1]}
    batch = pa.RecordBatch.from_pydict(columns)
    kept = keep(batch, {A: [(2, 3)], B: [(0, 2), (7, 8)]})
    assert [one.column("offset").to_pylist() for one in kept] == [[2, 1], [7]]
    (whole,) = keep(batch, {A: [(0, 9)], B: [(0, 9)], Source("c", 0): [(0, 9)]})
    assert whole is batch
    assert keep(batch, {A: [(9, 12)]}) == []
