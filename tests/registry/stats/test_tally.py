"""Tallies add up in any order, whatever the records were cut into."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from cdc_contracts.registry.core.common.findings import Finding
from cdc_contracts.registry.core.stats.finding_tallies import MOST_SHAPES, Extent, FindingTally
from cdc_contracts.registry.core.stats.partition_tallies import Moment, PartitionTally, Source
from cdc_contracts.registry.core.stats.tally import Tally, bounded_runs
from cdc_contracts.registry.core.stats.version_runs import MOST_RUNS, Run, join_runs

SOURCE = Source("t", 0)


def one_record(offset: int, observed: str, path: str = "/a") -> Tally:
    moment = Moment("t", 0, offset, None)
    tally = Tally(partitions={SOURCE: PartitionTally(read=1, quarantined=1)})
    found = FindingTally(
        "error", Counter({"x": 1}), Counter({observed: 1}), Counter({"INSERT": 1}), Counter({"a/b@1": 1}),
        {SOURCE: Extent(1, moment, moment)},
    )  # fmt: skip
    tally.add_finding(Finding("D07.x", "value-form", "error", path, "x", observed), "db.t", found)
    return tally


def merged(tallies: list[Tally]) -> Tally:
    total = Tally()
    for tally in tallies:
        total.merge(tally)
    return total


@given(
    st.lists(st.tuples(st.integers(0, 50), st.sampled_from(["9", "99", "a9"])), min_size=1, max_size=30), st.randoms()
)
def test_the_order_of_merging_does_not_matter(records, random):
    forwards = merged([one_record(offset, observed) for offset, observed in records])
    random.shuffle(records)
    shuffled = merged([one_record(offset, observed) for offset, observed in records])
    assert forwards == shuffled
    (finding,) = forwards.findings.values()
    assert finding.count == len(records)
    assert finding.extents[SOURCE].first.offset == min(offset for offset, _ in records)
    assert finding.extents[SOURCE].last.offset == max(offset for offset, _ in records)


@given(st.lists(st.text("ab9", min_size=1, max_size=9), min_size=1, max_size=600), st.integers(1, 40))
def test_bounded_shapes_are_counted_in_full_whatever_the_cuts(shapes, size):
    whole = merged([one_record(number, shape) for number, shape in enumerate(shapes)])
    cut = merged(
        [
            merged([one_record(start + number, shape) for number, shape in enumerate(shapes[start : start + size])])
            for start in range(0, len(shapes), size)
        ]
    )
    (left,), (right,) = whole.findings.values(), cut.findings.values()
    expected = {shape: count for shape, count in Counter(shapes).items() if shape in sorted(set(shapes))[:MOST_SHAPES]}
    assert left.observed == right.observed == expected


def test_neighbouring_runs_of_one_version_are_joined_across_batches():
    left = Tally(runs={SOURCE: [Run("a@1", 0, 4, 5, 100, 104)]})
    right = Tally(runs={SOURCE: [Run("a@1", 5, 7, 3, 105, 107), Run("a@2", 8, 9, 2, 108, 109)]})
    assert merged([right, left]).runs == {SOURCE: [Run("a@1", 0, 7, 8, 100, 107), Run("a@2", 8, 9, 2, 108, 109)]}


def test_runs_are_bounded_from_the_front():
    runs = [Run(f"a@{number % 2}", number, number, 1) for number in range(3 * MOST_RUNS)]
    total = merged([Tally(runs={SOURCE: [run]}) for run in reversed(runs)])
    assert bounded_runs(total, SOURCE) == runs[:MOST_RUNS]
    assert SOURCE in total.cuts
    assert join_runs(reversed(runs)) == runs


def test_too_many_findings_are_cut_and_said_to_be():
    tallies = [one_record(number, "9", path=f"/member{number:06d}") for number in range(11_000)]
    total = merged(tallies)
    total.bound()
    assert total.dropped
    assert len(total.findings) == 5000
    assert min(key.path for key in total.findings) == "/member000000"
    assert total.partitions[SOURCE].read == 11_000
