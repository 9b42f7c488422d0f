"""The two changes that a report names for a version are of one row in truth, and the same however records are cut."""

import pytest
from change_histories import HistoryShape, make_history
from change_messages import DTS_1, DTS_2
from history_oracles import validate
from random_histories import random_history, swapped_history
from row_changes import SourceHabits
from topic_delivery import STRAY, DeliveryHabits
from written_reports import document_of

from cdc_contracts.registry.core.report.report_wording import notes


def pairs_of(report):
    """The pairs of changes by partition and version, each with what it is a pair of."""
    return {
        (line["partition"], version): (pair["by"], *((one["partition"], one["offset"]) for one in pair["changes"]))
        for line in document_of(report)["chains"]
        for version, pair in line["pairs"].items()
    }


def are_of_one_row(one, other):
    keyed = one.table == other.table and one.table.key
    images = [[image for image in (change.before, change.after) if image is not None] for change in (one, other)]
    if keyed:
        keys = [{tuple(image[name] for name in one.table.key) for image in mine} for mine in images]
        return bool(keys[0] & keys[1])
    return one.table == other.table and any(image in images[1] for image in images[0])


def join(one, other, *, by):
    """Whether the first leaves a row as the second finds it; in either order if they are a pair of a state."""
    orders = [(one, other)] if by == "link" else [(one, other), (other, one)]
    return any(left.after and right.before and _agree(left.after, right.before) for left, right in orders)


def _agree(left, right):
    """Whether two images agree where a column that was added in between is left out."""
    return all(left[name] == right[name] for name in left.keys() & right.keys())


def check_pairs(history, report):
    """Check every pair against the truth, and return their versions."""
    pairs = pairs_of(report)
    for (partition, version), (by, *places) in pairs.items():
        assert partition in {place[0] for place in places}
        told = [(one, other) for one in history.truth(*places[0]) for other in history.truth(*places[1])]
        assert any(are_of_one_row(*changes) for changes in told), (by, places)
        if version == history.shape.version:
            assert any(join(*changes, by=by) for changes in told), (by, places)
    return {version for _, version in pairs}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("seeds", [range(start, start + 10) for start in (0, 10, 20)], ids=str)
def test_the_pairs_of_random_histories_are_changes_of_one_row(seeds):
    named = 0
    for seed in seeds:
        history, declared = swapped_history(seed)
        named += history.shape.version in check_pairs(history, validate(history, declared).report)
        history = random_history(seed)
        check_pairs(history, validate(history, history.shape.version).report)
    assert named > len(seeds) / 2


@pytest.mark.one_in(3)
@pytest.mark.parametrize("seed", range(6))
def test_the_pairs_are_the_same_however_the_records_are_cut_and_mixed(seed):
    history, declared = swapped_history(seed)
    found = [
        pairs_of(validate(history, declared, size=size, mixed=mixed).report)
        for size in (None, 7, 90)
        for mixed in (False, True)
    ]
    assert all(one == found[0] for one in found)


def test_a_report_says_links_and_states_for_and_against_with_two_changes_of_each():
    source = SourceHabits(changes=300, inserts=0.2, key_changes=0.02)
    history = make_history(HistoryShape(DTS_1, source=source, delivery=DeliveryHabits(2, STRAY)), 3)

    report = validate(history, DTS_2).report

    pairs, lines = pairs_of(report), {line.partition: line for line in report.chains}
    check_pairs(history, report)
    for partition, line in lines.items():
        note = next(one for one in notes(report) if one.startswith(f"Evidence of orders {partition}: "))
        _, one, other = pairs[partition, DTS_1]
        counted = f"for {DTS_1} links {line.links[DTS_1]:,}, states {line.states[DTS_1]:,}"
        assert f"{counted}, such as changes {one[0]}:{one[1]} and {other[0]}:{other[1]}" in note


def test_a_report_without_votes_against_the_declaration_says_nothing_of_them():
    history = make_history(HistoryShape(DTS_1, source=SourceHabits(changes=300, inserts=0.2)), 3)
    report = validate(history, DTS_1).report
    assert set(pairs_of(report)) == {(0, DTS_1)}
    assert not any(note.startswith("Evidence of") for note in notes(report))
