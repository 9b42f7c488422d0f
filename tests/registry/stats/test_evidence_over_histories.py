"""What is said and published of random histories agrees with the evidence they hold.

The tables of `tests/history_tables.py` count the same over as many histories as asked for.
"""

from __future__ import annotations

import pytest
from change_histories import HistoryShape, make_history
from change_messages import DTS_1, DTS_2
from history_evidence import CLEAR, goes_round_with_gaps
from history_oracles import (
    ACCUSED,
    INCONCLUSIVE,
    OTHER_DRIFT,
    PASS,
    judge_honest,
    judge_swapped,
    judge_switched,
    validate,
    verdicts_by_batches,
)
from row_changes import SourceHabits
from topic_delivery import DeliveryHabits

SHORT, LONG = 25, 500
AMOUNTS = [pytest.param(SHORT, id="short"), pytest.param(LONG, id="long", marks=pytest.mark.nightly)]


@pytest.mark.parametrize("amount", AMOUNTS)
def test_no_history_is_published_under_a_version_that_more_evidence_contradicts(amount, part):
    validated = judge_swapped(part(range(amount), 3))

    assert [one.seed for one in validated if one.is_published_wrong and one.outcome.verdict != OTHER_DRIFT] == []
    clear = [one for one in validated if one.evidence.strength == CLEAR and not one.outcome.by_message]
    accused = [one for one in clear if one.outcome.verdict == ACCUSED]
    assert len(accused) >= 0.85 * len(clear)


@pytest.mark.parametrize("amount", AMOUNTS)
def test_no_history_is_accused_under_its_own_version_and_few_are_in_doubt(amount, part):
    validated = judge_honest(part(range(amount), 3))

    assert [one.seed for one in validated if one.outcome.verdict in (ACCUSED, OTHER_DRIFT)] == []
    plain = [one for one in validated if not goes_round_with_gaps(one.shape)]
    doubted = [one.seed for one in plain if one.outcome.verdict == INCONCLUSIVE]
    assert len(doubted) <= max(1, len(plain) // 50), doubted


@pytest.mark.parametrize(
    ("amount", "most"),
    [pytest.param(15, 0.1, id="short"), pytest.param(200, 0.05, id="long", marks=pytest.mark.nightly)],
)
def test_a_switch_in_mid_topic_is_published_without_one_row_exchanged_and_little_left_open(amount, most, part):
    outcomes = {one.seed: one.outcome for one in judge_switched(part(range(amount), 5)) if one.is_placed}

    assert {seed: one.exchanged for seed, one in outcomes.items() if one.exchanged} == {}
    rows = sum(one.open + one.published_messages for one in outcomes.values())
    assert sum(one.open for one in outcomes.values()) <= most * rows


@pytest.mark.one_in(12)
@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_one_verdict_follows_however_a_history_is_cut_into_batches(seed, swapped):
    assert len(verdicts_by_batches(seed, swapped=swapped)) <= 1


@pytest.mark.nightly
@pytest.mark.parametrize("swapped", [False, True])
def test_one_verdict_follows_of_each_of_many_histories(swapped):
    unlike = [seed for seed in range(60) if len(verdicts_by_batches(seed, swapped=swapped)) > 1]

    assert unlike == []


@pytest.mark.parametrize("declared", [DTS_1, DTS_2])
def test_rows_without_a_key_are_followed_though_every_message_is_sent_again(declared):
    source = SourceHabits(changes=300, tables=1, keyless=1, rows=40, inserts=0.3, deletes=0.0)
    shape = HistoryShape(DTS_1, source=source, delivery=DeliveryHabits(repeated=1.0))

    outcome = validate(make_history(shape, 1), declared)

    assert outcome.verdict == (ACCUSED if declared == DTS_2 else PASS)
    assert outcome.exchanged == 0
