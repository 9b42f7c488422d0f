"""What a sample in slices states about the rest of a range holds, wherever the drift lies."""

import random
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from msgspec import UNSET

from cdc_contracts.registry.core.report.audit_report import Span
from cdc_contracts.registry.core.report.reported_slices import join_slices, report_slices, slice_notes
from cdc_contracts.registry.core.stats import slice_shares
from cdc_contracts.registry.core.stats.partition_tallies import PartitionTally, SliceCount, Source
from cdc_contracts.registry.core.stats.slice_shares import bound_share, count_slices
from cdc_contracts.registry.core.stats.tally import Tally
from cdc_contracts.spark_checks.inputs.range_slices import skipped, spread

DRAWS = [(100, 90), pytest.param(1_000, 934, marks=pytest.mark.nightly)]
"""How often drift is drawn, and for how many draws a bound of 95 % holds at least, but for 2.3 standard deviations."""


@pytest.mark.parametrize("slices", [1, 2, 10, 30, 100, 1_000])
def test_without_drift_the_bound_is_the_rule_of_three_on_slices(slices):
    assert bound_share({0.0: slices}, 1) == pytest.approx(1 - 0.05 ** (1 / slices), rel=0.003)


@pytest.mark.parametrize(
    ("drifting", "bound"),
    [(1, 0.3942), (2, 0.5069), (5, 0.7776), (9, 0.9949)],  # of 10, one-sided, as tables of the binomial have them
)
def test_of_slices_that_drift_whole_it_is_that_of_the_binomial(drifting, bound):
    assert bound_share({0.0: 10 - drifting, 1.0: drifting}, 1) == pytest.approx(bound, rel=0.003)


def test_what_all_slices_have_alike_is_stated_closely_and_one_large_slice_counts_as_few():
    assert 0.01 < bound_share({0.01: 1_000}, 1) < 0.0145
    assert bound_share({0.0: 100}, 10) == pytest.approx(1 - 0.05 ** (1 / 10), rel=0.003)
    assert bound_share({1.0: 4}, 1) == 1


def blocks_anywhere(draw, sizes, share):
    """Blocks of 0.1 to 2 % of the range, until this share drifts."""
    found = [[] for _ in sizes]
    left = share * sum(sizes)
    while left > 0:
        length = min(left, sum(sizes) * draw.uniform(0.001, 0.02))
        number = draw.choices(range(len(sizes)), sizes)[0]
        start = draw.uniform(0, sizes[number])
        found[number].append((start, min(sizes[number], start + length)))
        left -= length
    return found


def at_one_time(draw, sizes, share):
    """One stretch of time in which all partitions drift."""
    start = draw.uniform(0, 1 - share)
    return [[(start * size, (start + share) * size)] for size in sizes]


def from_some_time_on(draw, sizes, share):
    return [[((1 - share) * size, size)] for size in sizes]


def some_partitions(draw, sizes, share):
    return [[(0, size)] if draw.random() < share else [] for size in sizes]


def in_some_place(draw, sizes, share):
    """One block in one partition, no longer than this share of the range."""
    return blocks_anywhere(draw, sizes, 0.0001 + share * draw.random() / 50)


DRIFT = [
    (blocks_anywhere, 0.1), (blocks_anywhere, 0.02), (at_one_time, 0.05), (at_one_time, 0.2),
    (from_some_time_on, 0.04), (from_some_time_on, 0.4), (some_partitions, 0.1), (in_some_place, 0.5),
]  # fmt: skip


def overlap(intervals, start, end):
    """How many offsets of a slice lie in intervals, which may overlap each other."""
    covered, last = 0.0, start
    for low, high in sorted(intervals):
        covered += max(0.0, min(high, end) - max(low, last))
        last = max(last, min(high, end))
    return round(covered)


def sampled(sizes, drifting):
    """The tally of a sample of 1/100, and the spans, of partitions in which `drifting(number, start, end)` drift."""
    spans = {Source("t", number): Span(0, size) for number, size in enumerate(sizes)}
    windows = spread(spans, Fraction(1, 100))
    tally = Tally()
    for source, slices in windows.items():
        counts = tally.partitions[source] = PartitionTally()
        counts.slices = {
            number: SliceCount(end - start, drifting(source.partition, start, end))
            for number, (start, end) in enumerate(slices)
        }
    return tally, {place: (span.end, span.end - skipped(span, windows[place])) for place, span in spans.items()}


@cache
def bound(shares, largest):
    return bound_share(dict(shares), largest)


@pytest.fixture(autouse=True)
def known_bounds(monkeypatch):
    """Many draws see the same: their bound is computed once."""
    from cdc_contracts.registry.core.report import reported_slices

    monkeypatch.setattr(reported_slices, "bound_share", lambda shares, largest: bound(tuple(shares.items()), largest))


@pytest.mark.parametrize(("draws", "fewest"), DRAWS)
@pytest.mark.parametrize("partitions", [1, 12])
@pytest.mark.parametrize(("place", "share"), DRIFT)
def test_the_stated_bound_holds_for_drift_in_clusters(place, share, partitions, draws, fewest):
    draw = random.Random(f"{place.__name__} {share} {partitions}")
    held = 0
    for _ in range(draws):
        sizes = [draw.choice((50_000, 200_000, 400_000)) for _ in range(partitions)]
        drift = place(draw, sizes, share)
        truth = sum(overlap(drift[number], 0, size) for number, size in enumerate(sizes)) / sum(sizes)
        found = report_slices(
            *sampled(sizes, lambda number, start, end, drift=drift: overlap(drift[number], start, end))
        )
        held += truth <= found.at_most
    assert held >= fewest


@pytest.mark.parametrize(("draws", "fewest"), DRAWS)
@pytest.mark.parametrize("share", [0.0001, 0.01, 0.3])
def test_the_stated_bound_holds_for_drift_here_and_there(share, draws, fewest):
    draw, held = np.random.default_rng(7), 0
    for _ in range(draws):
        found = report_slices(*sampled([200_000] * 6, lambda _, start, end: int(draw.binomial(end - start, share))))
        held += share <= found.at_most
    assert held >= fewest


def test_slices_are_counted_alike_in_any_order_and_cut():
    places = {Source("t", 0): ((0, 10), (90, 100)), Source("t", 1): ((5, 9),)}
    records = [(0, 0, 4, 1), (0, 4, 10, 0), (0, 90, 92, 2), (0, 92, 100, 1), (1, 5, 9, 4)]
    expected = {0: {0: (10, 1), 1: (10, 3)}, 1: {0: (4, 4)}}
    for seed in range(20):
        parts = []
        for partition, start, end, drifting in random.Random(seed).sample(records, len(records)):
            counts = PartitionTally(read=end - start, quarantined=drifting, first_offset=start, last_offset=end - 1)
            parts.append(Tally({Source("t", partition): counts}))
            count_slices(parts[-1], places)
        while len(parts) > 1:
            left = parts.pop(random.Random(seed).randrange(len(parts)))
            parts[0].merge(left) if left is not parts[0] else parts.append(left)
        assert {one.partition: counts.slices for one, counts in parts[0].partitions.items()} == expected


def test_the_statement_says_what_may_have_been_missed():
    (clean,) = slice_notes(report_slices(*sampled([1_000_000], lambda *_: 0)))
    assert clean == (
        "With 95 % confidence at most 9.6 % of the messages in the whole range do not conform: none of the 30 slices "
        "read has one. Drift confined to less than 2.3 % of the range is more often missed than found."
    )
    some = report_slices(*sampled([1_000_000], lambda _, start, end: 100 if start == 0 else 0))
    assert (some.read, some.drifting, some.share, some.spread[1].share) == (30, 1, 0.01, 0.3)
    assert "1 of the 30 slices read have such messages (1 % of all)" in slice_notes(some)[0]


def test_ranges_together_say_no_more_than_the_one_that_says_least_and_a_whole_range_says_nothing():
    one = report_slices(*sampled([1_000_000], lambda *_: 0))
    both = join_slices([one, one])
    assert (both.read, both.at_most) == (60, one.at_most)
    assert not join_slices([one, UNSET])
    assert not join_slices([])
    tally, ranges = sampled([1_000], lambda *_: 0)
    assert not report_slices(tally, {place: (offsets, offsets) for place, (offsets, _) in ranges.items()})
    assert not slice_notes(join_slices([]))
    assert slice_shares.CONFIDENCE == 0.95
