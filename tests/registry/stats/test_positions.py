"""Positions of changes: whether any may have come twice, however the rows were cut."""

from random import Random

import pyarrow as pa
import pytest

from cdc_contracts.registry.core.stats.positions import PositionLine, Positions, read_positions, write_positions

LINE = PositionLine("t", 0, "dts/canal")


def rows(positions, *, start=0, op="update", partition=0, parts=None):
    """Changes of one message each, with these positions."""
    count = len(positions)
    return pa.RecordBatch.from_pydict({
        "topic": ["t"] * count, "partition": pa.array([partition] * count, pa.int32()),
        "offset": list(range(start, start + count)), "row_index": pa.array([0] * count, pa.int32()),
        "contract": ["dts/canal@2"] * count, "op": [op] * count,
        "update_part": pa.array(parts or [None] * count, pa.string()), "position": pa.array(positions, pa.string()),
    })  # fmt: skip


@pytest.mark.parametrize(
    ("positions", "if_shared", "if_each_its_own"),
    [
        (["1", "2", "9"], False, False),
        (["1", "2", "2", "3"], False, True),
        (["1", "5", "4", "6"], True, True),
        (["1", None, "2"], False, False),
        (["9", "10", "11"], False, False),
        (["mysql-bin.000003:9", "mysql-bin.000003:10"], True, True),
    ],
)
def test_a_position_may_come_again_only_where_one_fell_or_stayed(positions, if_shared, if_each_its_own):
    for cut in range(1, len(positions)):
        seen, late = Positions(), Positions()
        seen.note(rows(positions[:cut]))
        late.note(rows(positions[cut:], start=cut))
        late.merge(seen)
        (whole,) = late.whole().values()
        assert whole.comes_again(each_its_own=False) is if_shared, cut
        assert whole.comes_again(each_its_own=True) is if_each_its_own, cut


def test_both_messages_of_a_split_update_may_share_a_position():
    seen = Positions()
    seen.note(rows(["1", "1", "2", "2"], parts=["before", "after"] * 2))
    (whole,) = seen.whole().values()
    assert not whole.comes_again(each_its_own=True)


def test_rows_of_a_full_load_and_rows_without_a_position_say_nothing():
    seen = Positions()
    seen.note(rows(["5", "5", "1"], op="snapshot"))
    seen.note(rows([None, None], start=3))
    assert seen.whole() == {}


def test_partitions_are_distinguished_and_kept_as_a_record_keeps_them():
    seen = Positions()
    seen.note(pa.Table.from_batches([rows(["7", "8"]), rows(["3"], partition=1)]).combine_chunks().to_batches()[0])
    whole = seen.whole()
    assert {line.partition: (one.least, one.most) for line, one in whole.items()} == {0: (7, 8), 1: (3, 3)}
    assert read_positions(write_positions(whole)) == whole


@pytest.mark.parametrize("seed", range(60))
def test_a_position_that_comes_twice_is_never_missed_however_the_rows_are_dealt_to_parts(seed, part):
    """Where parts overlap the order is not known, and rows are compared although none may come twice."""
    draw = Random(seed)
    positions = sorted(draw.sample(range(90), draw.randint(2, 30)))
    if draw.random() < 0.7:
        positions.insert(draw.randrange(len(positions) + 1), draw.choice(positions))
    if draw.random() < 0.3:
        draw.shuffle(positions)
    twice = len(set(positions)) < len(positions)
    records = [rows([str(position)], start=offset) for offset, position in enumerate(positions)]
    for turn in part(range(10), 5):
        draw = Random(f"{seed} {turn}")
        parts = [Positions() for _ in range(draw.randint(1, 4))]
        for record in draw.sample(records, len(records)) if draw.random() < 0.3 else records:
            draw.choice(parts).note(record)
        total = Positions()
        for one in draw.sample(parts, len(parts)):
            total.merge(one)
        (whole,) = total.whole().values()
        assert whole.comes_again(each_its_own=True) or not twice
        assert (whole.start, whole.end, whole.least, whole.most) == (
            0,
            len(positions) - 1,
            min(positions),
            max(positions),
        )
