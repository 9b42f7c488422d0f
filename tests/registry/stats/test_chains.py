"""Key chains over a whole range: which version the changes of rows prove, however the records were cut."""

import itertools
import json
import pickle
from random import Random

import pyarrow as pa
import pytest
from chain_topics import NEW, OLD, records, report_of, scope_of
from changing_rows import Rows, audited, message, stream, update
from run_verdicts import why_withheld
from written_reports import headline, notes

from cdc_contracts.registry.core.common.errors import UsageError
from cdc_contracts.registry.core.engine.count.tallying import count
from cdc_contracts.registry.core.engine.group.batch_results import BatchResult
from cdc_contracts.registry.core.engine.kernel import Kernel
from cdc_contracts.registry.core.engine.kernel_checks import KernelChecks
from cdc_contracts.registry.core.records.record_batches import Batch
from cdc_contracts.registry.core.report.message_checks import check_batches
from cdc_contracts.registry.core.stats import change_links, row_changes
from cdc_contracts.registry.core.stats.tally import Tally


def decoded(values, contract):
    """The tally of a decode, and why nothing of it is to be published."""
    kernel, tally = Kernel(scope_of(contract)), Tally()
    for written in kernel.decode(records(values)):
        tally.merge(written.tally)
    return why_withheld(tally, scope_of(contract))


def reported(report):
    return [
        (one["class"], one["rule"], one["path"], one["count"], one["first"]["offset"], one["last"]["offset"])
        for one in report["findings"]
        if one["severity"] != "info"
    ]


@pytest.mark.parametrize(("detected", "declared", "path"), [(OLD, NEW, "/old"), (NEW, OLD, "/data")])
def test_a_swapped_topic_without_a_delete_fails_under_the_wrong_declaration_and_publishes_nothing(
    detected, declared, path
):
    values = stream(300, lambda _: detected)
    first = next(number for number, value in enumerate(values) if b"UPDATE" in value)
    updates = sum(b"UPDATE" in value for value in values)

    report = report_of(audited([records(values)], declared), declared)

    assert report["verdict"] == "drift"
    assert reported(report) == [("other-version", "D03.images", path, updates, first, 299)]
    assert (report["findings"][0]["expected"], report["findings"][0]["observed"]) == (declared, [detected])
    assert report["findings"][0]["onset"]["kind"] == "every"
    assert f"row changes prove {detected}" in decoded(values, declared)
    assert decoded(values, detected) is None
    assert report_of(audited([records(values)], detected), detected)["verdict"] == "pass"


@pytest.mark.parametrize("turn", [0, 1, 40, 150, 260, 293])
@pytest.mark.parametrize(("before", "after"), [(OLD, NEW), (NEW, OLD)])
def test_a_switch_in_mid_stream_is_reported_with_the_offsets_between_which_it_lies(before, after, turn):
    values = stream(300, lambda number: before if number < turn else after)
    updates = [number for number, value in enumerate(values) if b"UPDATE" in value]
    last = max((number for number in updates if number < turn), default=None)
    first = min(number for number in updates if number >= turn)

    report = report_of(audited([records(values)], before), before)

    assert reported(report)[0][0] == "other-version"
    assert reported(report)[0][4] == first
    assert decoded(values, before) is not None
    switches = [(one["from"], one["to"], one["after"], one["at"]) for one in report["switches"]]
    assert switches == ([(before, after, last, first)] if turn >= 40 else [])


def cut_at_random(values, draw, partition):
    places = sorted({0, len(values), *(draw.randint(0, len(values)) for _ in range(9))})
    return [records(values[start:stop], partition=partition, start=start) for start, stop in itertools.pairwise(places)]


@pytest.mark.one_in(2)
@pytest.mark.parametrize("seed", range(4))
def test_chains_are_the_same_however_the_records_are_cut_and_in_whatever_order_they_come(seed):
    draw = Random(seed)
    turns = [draw.randint(100, 300) for _ in range(3)]
    topic = [
        stream(400, lambda number, turn=turn: OLD if number < turn else NEW, keys=40, seed=seed * 9 + turn)
        for turn in turns
    ]
    topic = [[value.replace(b'"orders"', b'"orders%d"' % n) for value in values] for n, values in enumerate(topic)]
    whole = audited([records(values, partition=n) for n, values in enumerate(topic)], NEW)
    parts = [part for n, values in enumerate(topic) for part in cut_at_random(values, draw, n)]
    draw.shuffle(parts)
    tallies = [audited([part], NEW) for part in parts]
    left, right = Tally(), Tally()
    for number, tally in enumerate(tallies):
        (left if number % 2 else right).merge(pickle.loads(pickle.dumps(tally)))
    right.merge(left)

    assert right.chains == whole.chains
    assert report_of(right, NEW)["chains"] == report_of(whole, NEW)["chains"]
    assert report_of(right, NEW)["switches"] == report_of(whole, NEW)["switches"]


def test_records_judged_one_by_one_chain_as_those_judged_together_do():
    values = stream(200, lambda number: OLD if number < 90 else NEW, deletes=True)
    values[50] = message(
        "UPDATE", 50, data=[{"id": "1", "name": "x", "size": "1"}, {"id": "2", "name": "y", "size": "1"}],
        old=[{"id": "1", "name": "v", "size": "1"}, {"id": "2", "name": "w", "size": "1"}],
    )  # fmt: skip
    validation, batch = scope_of(NEW), Batch(records(values))
    alone = BatchResult(
        pa.array([None], pa.string()), alone=[(n, validation.validate(value)) for n, value in enumerate(values)]
    )

    slow = count(alone, batch, orders_by_subject=Kernel(validation).orders_by_subject)

    assert slow.chains == audited([records(values)], NEW).chains
    assert any(line["links"][OLD] for line in report_of(slow, NEW)["chains"])


def test_a_partial_image_in_the_place_of_the_whole_one_is_of_the_other_version_and_nothing_else():
    values = stream(60, lambda _: OLD, partial=True)
    updates = [number for number, value in enumerate(values) if b"UPDATE" in value]

    report = report_of(audited([records(values)], NEW), NEW)

    assert reported(report) == [("other-version", "D03.images", "/old", len(updates), updates[0], updates[-1])]
    assert report["ledger"]["quarantined"] == len(updates)
    assert report_of(audited([records(values)], OLD), OLD)["verdict"] == "pass"


@pytest.mark.parametrize("version", [OLD, NEW])
def test_a_partial_image_in_its_own_place_is_conforming_and_chains_distinguish_it_from_the_other_version(version):
    other = NEW if version == OLD else OLD
    partial = []
    for value in stream(120, lambda _: version):
        one = json.loads(value)
        if one["type"] == "UPDATE":
            one["old"] = [{"name": one["old"][0]["name"]}]
        partial.append(json.dumps(one).encode())

    assert report_of(audited([records(partial)], version), version)["verdict"] == "pass"
    report = report_of(audited([records(partial)], other), other)
    assert [finding[:2] for finding in reported(report)] == [("other-version", "D03.images")]
    assert decoded(partial, other) is not None


def test_a_declaration_that_no_message_could_put_to_the_test_is_said_and_fails_where_it_is_asked_to():
    rows = Rows(range(60))
    values = [rows.step(number, NEW) for number in range(20)]
    values = [value for value in values if b"INSERT" in value]

    report = report_of(audited([records(values)], NEW), NEW)

    assert report["verdict"] == "pass"
    assert report["unproven"] == [{"contract": NEW, "others": [OLD], "records": len(values)}]
    assert headline(report).endswith(f"conform to {NEW}, but no message distinguishes {NEW} from {OLD}")
    assert report_of(audited([records(values)], NEW), NEW, "warning,unproven")["verdict"] == "drift"


@pytest.mark.parametrize("deletes", [True, False])
def test_a_declaration_that_a_message_or_chains_prove_is_not_called_unproven(deletes):
    values = stream(200, lambda _: NEW, deletes=deletes)

    report = report_of(audited([records(values)], NEW), NEW, "warning,unproven")

    assert (report["verdict"], report["unproven"]) == ("pass", [])


def test_too_few_chains_against_the_declaration_prove_nothing_and_hold_a_decode_back():
    rows = Rows(range(2))
    values = [rows.step(number, OLD) for number in range(5)]
    assert sum(b"UPDATE" in value for value in values) == 3

    report = report_of(audited([records(values)], NEW), NEW)

    assert (report["verdict"], reported(report)) == ("inconclusive", [])
    assert "3 key chains of orders 0" in notes(report)[0]
    assert "too few to prove it" in decoded(values, NEW)


def test_a_word_of_fail_on_that_is_none_names_unproven_among_those_that_are():
    with pytest.raises(UsageError) as error:
        report_of(Tally(), NEW, "unprovable")
    assert "unproven" in error.value.hint


def test_the_chains_of_earlier_batches_of_a_stream_are_evidence_against_a_later_one():
    rows = Rows(range(20))
    values = [rows.step(number, NEW) for number in range(200)]
    kernel = Kernel(scope_of(NEW))
    (earlier,) = [written.tally for written in kernel.decode(records(values))]
    batch = records([update(200, rows.rows[3], {**rows.rows[3], "name": "z"}, version=OLD)], start=200)
    (later,) = [written.tally for written in kernel.decode(batch)]

    assert why_withheld(later, scope_of(NEW)) is None
    withheld = why_withheld(later, scope_of(NEW), pickle.loads(pickle.dumps(earlier)).chains)
    assert "row changes support dts/canal@1 from offset 200 to 200 (1 vote, too few to prove it)" in withheld
    assert why_withheld(earlier, scope_of(NEW), earlier.chains) is None


@pytest.mark.parametrize(("most", "of_a_row"), [(90, 1_500), (150, 12), (40, 6)])
def test_of_too_many_rows_the_same_are_followed_however_the_records_are_cut(monkeypatch, most, of_a_row):
    monkeypatch.setattr(row_changes, "MOST_CHANGES", most)
    monkeypatch.setattr(row_changes, "MOST_OF_A_ROW", of_a_row)
    monkeypatch.setattr(row_changes, "BLOCK", 64)
    monkeypatch.setattr(change_links, "BLOCK", 64)
    values = stream(400, lambda _: OLD, keys=40)
    whole = audited([records(values)], NEW)
    draw = Random(5)
    for _ in range(3):
        parts = cut_at_random(values, draw, 0)
        draw.shuffle(parts)
        cut = audited(parts, NEW)
        assert cut.chains == whole.chains
        assert report_of(cut, NEW)["chains"] == report_of(whole, NEW)["chains"]
    left_out = whole.chains.left_out()
    kept = sum(len(whole.chains.changes_of(line)) for line in whole.chains.lines)

    assert 0 < kept <= most
    assert kept + left_out == 400
    assert f"Key chains of {left_out} row changes were not followed" in notes(report_of(whole, NEW))[-1]
    assert report_of(whole, NEW)["verdict"] == "drift"


def test_a_busy_row_is_followed_in_blocks_so_that_a_switch_late_in_the_topic_is_seen(monkeypatch):
    monkeypatch.setattr(row_changes, "MOST_OF_A_ROW", 700)
    monkeypatch.setattr(row_changes, "BLOCK", 512)
    monkeypatch.setattr(change_links, "BLOCK", 512)
    rows = Rows([7])
    values = [rows.step(number, NEW if number < 6_000 else OLD) for number in range(8_000)]

    report = report_of(audited(cut_at_random(values, Random(3), 0), NEW), NEW)

    (switch,) = report["switches"]
    assert (switch["from"], switch["to"]) == (NEW, OLD)
    assert 4_000 < switch["after"] < 6_000 <= switch["at"] < 8_000
    assert report["verdict"] == "drift"


def test_behind_too_many_gaps_nothing_is_followed_and_what_lies_before_them_still_proves(monkeypatch):
    monkeypatch.setattr(row_changes, "MOST_INTERVALS", 1)
    values = stream(100, lambda _: OLD) + [
        value if number % 3 else None for number, value in enumerate(stream(100, lambda _: NEW, seed=2))
    ]

    tally = audited([records(values)], OLD)

    (line,) = report_of(tally, OLD)["chains"]
    assert line["links"][NEW] == 0
    assert line["links"][OLD] > 50


@pytest.mark.parametrize(
    ("changes", "links"),
    [
        ([("a", "b"), ("b", "c")], 1),  # neighbours
        ([("a", "b"), ("b", "a")], 0),  # back and forth: whole either way
        ([("a", "b"), ("a", "b")], 0),  # the same once more: whole in two mixed ways
        ([("a", "a"), ("a", "b")], 1),  # nothing changed: read alike, and what it leaves is known
        ([("a", "b"), ("x", "y")], 0),  # something is missing
        ([("a", "b"), None, ("b", "c")], 0),  # an offset is missing between them
    ],
)
@pytest.mark.parametrize("version", [OLD, NEW])
def test_two_changes_of_a_row_prove_what_only_one_reading_makes_whole(version, changes, links):
    values = [
        None if one is None else update(n, {"id": "1", "name": one[0]}, {"id": "1", "name": one[1]}, version=version)
        for n, one in enumerate(changes)
    ]

    (line,) = report_of(audited([records(values)], version), version)["chains"]

    assert line["links"] == {OLD: 0, NEW: 0} | {version: links}


@pytest.mark.parametrize("partitions", [2, 3, 6])
def test_rows_in_several_partitions_are_followed_in_the_order_of_their_times(partitions):
    values = stream(200, lambda _: OLD, keys=5)
    parts = [records(values[n::partitions], partition=n) for n in range(partitions)]

    assert report_of(audited(parts, NEW), NEW)["verdict"] == "drift"
    assert report_of(audited(parts, OLD), OLD)["verdict"] == "pass"


@pytest.mark.parametrize("partitions", [2, 6])
def test_without_order_rows_still_leave_the_states_that_inserts_entered(partitions):
    values = _at_one_moment(stream(400, lambda _: OLD, keys=40, deletes=False))
    parts = [records(values[n::partitions], partition=n) for n in range(partitions)]
    updates = sum(b"UPDATE" in value for value in values)

    report = report_of(audited(parts, NEW), NEW)

    assert report["verdict"] == "drift"
    assert sum(one["count"] for one in report["findings"] if one["class"] == "other-version") == updates
    assert report_of(audited(parts, OLD), OLD)["verdict"] == "pass"


@pytest.mark.parametrize("partitions", [2, 6])
def test_updates_alone_of_rows_in_several_partitions_at_one_moment_prove_nothing(partitions):
    values = [value for value in _at_one_moment(stream(400, lambda _: OLD, keys=4)) if b"UPDATE" in value]
    parts = [records(values[n::partitions], partition=n) for n in range(partitions)]

    report = report_of(audited(parts, NEW), NEW)

    assert report["verdict"] == "pass"
    assert report["unproven"]


@pytest.mark.parametrize("declared", [OLD, NEW])
def test_changes_of_one_moment_are_in_the_order_of_their_offsets(declared):
    values = [value for value in _at_one_moment(stream(200, lambda _: OLD, keys=20)) if b"UPDATE" in value]

    report = report_of(audited([records(values)], declared), declared)

    assert report["verdict"] == ("pass" if declared == OLD else "drift")


def _at_one_moment(values):
    """Return messages that all have one id and one event time."""
    return [
        value.replace(b'"id": %d,' % (n + 1), b'"id": 7,').replace(
            b'"es": %d' % (1_760_000_000_000 + 1000 * n), b'"es": 9'
        )
        for n, value in enumerate(values)
    ]


def test_one_row_in_another_partition_costs_no_evidence_of_other_rows():
    values = stream(300, lambda _: OLD, keys=20)
    stray = next(n for n, value in enumerate(values) if n > 100 and b"UPDATE" in value)
    rest = [value if n != stray else None for n, value in enumerate(values)]

    report = report_of(audited([records(rest), records([values[stray]], partition=1)], NEW), NEW)

    assert report["verdict"] == "drift"
    assert sum(sum(line["links"].values()) for line in report["chains"]) > 150


def test_check_prints_what_chains_prove_in_a_line_of_its_own():
    values = stream(80, lambda _: OLD)
    first = next(number for number, value in enumerate(values) if b"UPDATE" in value)
    lines = []

    check_batches(
        [records(values)],
        KernelChecks(scope_of(NEW)),
        plan=None,
        paths=["a.jsonl"],
        fail_on="warning",
        print_line=lines.append,
    )

    assert len(lines) == 1
    assert lines[0].startswith(f"orders:{first + 1} error other-version /old expected {NEW}, observed {OLD} (")


@pytest.mark.parametrize("torn", [False, True])
def test_more_links_against_the_declaration_than_for_it_are_never_a_pass(torn):
    circle = [("s0", "s1"), ("s2", "s0")]  # the change between them is missing
    others = [("a", "b"), ("x", "y")] if torn else [("a", "b"), ("b", "c")]
    changes = [("2", *one) for one in others] + [("1", *one) for one in circle]
    values = [
        update(n, *({"id": key, "name": name, "size": "1"} for name in names), version=NEW)
        for n, (key, *names) in enumerate(changes)
    ]

    tally = audited([records(values)], NEW)

    assert tally.contradicting_stretches(NEW)
    assert report_of(tally, NEW)["verdict"] == "inconclusive"
    assert decoded(values, NEW) is not None


@pytest.mark.parametrize("swapped", [3, None])
@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("declared", [OLD, NEW])
def test_one_update_that_both_neighbours_show_to_be_swapped_holds_a_decode_back(declared, missing, swapped):
    changes = [("1", f"s{n}", f"s{n + 1}") for n in range(7)]
    if missing:
        del changes[5]  # then the row may have lost more, and nothing is said of it
    changes += [("2", f"s{n}", f"s{n + 1}") for n in range(60)]
    values = [
        update(
            n, *({"id": key, "name": name, "size": "1"} for name in names),
            version=declared if n != swapped else {OLD: NEW, NEW: OLD}[declared],
        )
        for n, (key, *names) in enumerate(changes)
    ]  # fmt: skip

    seen = swapped is not None and not missing
    assert report_of(audited([records(values)], declared), declared)["verdict"] == ("inconclusive" if seen else "pass")
    assert (decoded(values, declared) is not None) == seen
