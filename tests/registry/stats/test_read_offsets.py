"""What was read of a partition, and its statements, put together from parts in any order."""

from itertools import permutations

from cdc_contracts.registry.core.stats.read_offsets import MOST_SPANS, MOST_STATEMENTS, ReadOffsets


def test_spans_that_touch_are_one_whatever_came_first():
    parts = [ReadOffsets([(0, 9)]), ReadOffsets([(20, 29)], [25]), ReadOffsets([(10, 19)]), ReadOffsets([(40, 49)])]
    for order in permutations(parts):
        total = ReadOffsets()
        for part in order:
            total.merge(part)
        assert total == ReadOffsets([(0, 29), (40, 49)], [25])


def test_rows_come_side_by_side_only_when_what_lay_between_was_read():
    offsets = ReadOffsets([(0, 9)])
    assert not offsets.merge(ReadOffsets([(20, 29)]))
    assert offsets.cell(5) != offsets.cell(25)
    assert offsets.merge(ReadOffsets([(10, 19)]))
    assert offsets.cell(5) == offsets.cell(25)
    assert not offsets.merge(ReadOffsets(statements=[12]))
    assert offsets.cell(5) != offsets.cell(25)
    assert not offsets.merge(ReadOffsets([(30, 39)]))


def test_of_very_many_gaps_the_widest_are_kept():
    offsets = ReadOffsets()
    wide = [1_000 * number for number in range(1, 11)]
    for number in range(4 * MOST_SPANS):
        start = 3 * number + sum(500 for place in wide if 3 * number >= place)
        offsets.merge(ReadOffsets([(start, start + 1)]))
        assert len(offsets.spans) <= 2 * MOST_SPANS
    gaps = [right[0] - left[1] for left, right in zip(offsets.spans, offsets.spans[1:], strict=False)]
    assert max(gaps) > 500
    assert (offsets.spans[0][0], offsets.spans[-1][1]) == (0, 3 * (4 * MOST_SPANS - 1) + 500 + 1)


def test_of_very_many_statements_the_first_are_kept_and_rows_behind_them_are_together():
    offsets = ReadOffsets([(0, 5_000)], [*range(2_000, 2_000 + MOST_STATEMENTS)])
    assert offsets.merge(ReadOffsets(statements=[1_000]))
    assert offsets.statements == [1_000, *range(2_000, 1_999 + MOST_STATEMENTS)]
