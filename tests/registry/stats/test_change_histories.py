"""The generator of histories tells the truth: its bytes say what happened, and all that it promises occurs."""

import json
from dataclasses import replace
from functools import cache

import pytest
from change_histories import HistoryShape, make_history, same_image
from change_messages import CHANGED, DIALECTS, DTS_1, MINIMAL
from history_evidence import Evidence, evidence_of, outliers_shown
from history_oracles import validate
from random_histories import outlier_history, random_history, swapped_history, switched_history
from row_changes import DELETE, INSERT, ROW_OPS, SNAPSHOT, TRUNCATE, UPDATE, SourceHabits
from topic_delivery import ROUND_ROBIN, DeliveryHabits
from topics import SCENARIOS as CATALOGUE

from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.validate.validation_context import open_validation

SEEDS = range(40)
READINGS = {
    "dts/canal@1": {"INSERT": "+*", "INIT": "+*", "UPDATE": "-data +old", "DELETE": "-old"},
    "dts/canal@2": {"INSERT": "+data", "INIT": "+data", "UPDATE": "-old +data", "DELETE": "-data"},
    "drs/json@1": {"INSERT": "+data", "UPDATE": "-old +data", "DELETE": "-old"},
    "drs/json@2": {"INSERT": "+data", "INIT": "+data", "UPDATE": "-old +data", "DELETE": "-old"},
    "drs/json-c@1": {"INSERT": "+data", "UPDATE": "-old +data", "DELETE": "-data"},
    "drs/json-c@2": {"INSERT": "+data", "INIT": "+data", "UPDATE": "-old +data", "DELETE": "-data"},
    "oms-community/canal@1": {"INSERT": "+data", "ROW": "+data", "UPDATE": "-old +data", "DELETE": "-data"},
    "oms-community/canal@2": {"INSERT": "+data", "ROW": "+data", "UPDATE": "-old +data", "DELETE": "-data"},
}
"""Where each version has the row before (-) and after (+), from the documents; * is whichever member holds a row."""


@cache
def history_of(seed):
    return random_history(seed)


def read_images(value, version):
    """The code of a message, and the rows before and after by its bytes alone; a partial image is completed."""
    message = json.loads(value, parse_int=str, parse_float=str)
    code = message["type"]
    sides = dict.fromkeys("-+")
    for place in READINGS[version].get(code, "").split():
        member = place[1:] if place[1:] != "*" else "data" if message.get("data") else "old"
        sides[place[0]] = message[member]
    images = [rows for rows in sides.values() if rows is not None]
    for row in range(len(images[0]) if len(images) == 2 else 0):
        one, other = dict(images[0][row]), dict(images[1][row])
        images[0][row], images[1][row] = {**other, **one}, {**one, **other}
    return code, sides["-"], sides["+"]


def plain(image):
    return None if image is None else {name: text and text.replace("T", " ") for name, text in image.items()}


@pytest.mark.one_in(4)
@pytest.mark.parametrize("seed", SEEDS)
def test_bytes_read_by_the_documents_give_the_true_rows(seed):
    history = history_of(seed)
    times = {"timestamp"} | ({"datetime"} if "oms" in history.shape.version else set())
    for record in history.records:
        changes = record.message.changes
        code, befores, afters = read_images(record.value, record.message.version)
        if changes[0].op not in ROW_OPS:
            assert befores is afters is None
            continue
        assert code == (DIALECTS[record.message.version].load if changes[0].op == SNAPSHOT else changes[0].op.upper())
        for place, change in enumerate(changes):
            left_out = {column.name for column in change.columns if column.type in times}
            for rows, true in ((befores, change.before), (afters, change.after)):
                assert (rows is None) == (true is None)
                if rows is not None:
                    shown = {name: text for name, text in plain(rows[place]).items() if name not in left_out}
                    assert shown.items() <= plain(true).items()
                    minimal = history.shape.wording.images == MINIMAL and change.op == UPDATE
                    assert minimal or rows[place].keys() == true.keys()


@pytest.mark.one_in(4)
@pytest.mark.parametrize("seed", SEEDS)
def test_every_message_conforms_to_its_version_and_is_decoded_to_the_true_rows(seed):
    history = history_of(seed)
    validation = open_validation(CATALOGUE, history.shape.version, ReadingOptions())
    for record in history.records[:60]:
        validated = validation.validate(record.value)
        true = [change for change in record.message.changes if change.row is not None]
        assert validated.verdict.outcome == ("conforming" if true else "control"), validated.verdict.findings
        assert len(validated.changes) == len(true)
        for decoded, change in zip(validated.changes, true, strict=True):
            before, after = (image and dict(image) for image in (decoded.before, decoded.after))
            assert same_image(before, change.before)
            assert same_image(after, change.after)


def test_the_rows_of_a_database_follow_from_one_another_until_they_are_gone():
    whole = [history_of(seed) for seed in SEEDS if is_whole(history_of(seed))]
    assert len(whole) >= 8
    for history in whole:
        live = {}
        log = {change.number: change for change in true_changes(history) if change.op in (INSERT, UPDATE, DELETE)}
        for _, change in sorted(log.items()):
            known = live.get(change.row, change.before)
            if known is not None and known.keys() == change.before.keys():
                assert change.before == known
            live[change.row] = change.after
        assert live


def is_whole(history):
    habits = history.shape.delivery
    return not (habits.lost or habits.compacted or habits.gone or habits.slices)


def shapes():
    return [history_of(seed) for seed in range(80)]


DIMENSIONS = {
    "several tables": lambda history: history.shape.source.tables > 1,
    "a table without a key": lambda history: any(not change.table.key for change in true_changes(history)),
    "a composite key": lambda history: any(len(change.table.key) == 2 for change in true_changes(history)),
    "a change of a key": lambda history: any(
        change.op == UPDATE and change.before["id"] != change.after["id"]
        for change in true_changes(history)
        if change.table.key
    ),
    "an update of nothing": lambda history: any(
        change.op == UPDATE and change.before == change.after for change in true_changes(history)
    ),
    "rows of few states": lambda history: history.shape.source.states is not None,
    "updates alone": lambda history: {change.op for change in true_changes(history)} == {UPDATE},
    "a truncated table": lambda history: any(change.op == TRUNCATE for change in true_changes(history)),
    "a column added in mid-topic": lambda history: (
        len({change.columns for change in true_changes(history) if change.table.number == 0 and change.columns}) > 1
    ),
    "a full load that overlaps the log": lambda history: any(
        change.op == SNAPSHOT and change.number > 5 for change in true_changes(history)
    ),
    "partial images": lambda history: history.shape.wording.images == CHANGED,
    "minimal images": lambda history: history.shape.wording.images == MINIMAL,
    "messages of several rows": lambda history: any(len(record.message.changes) > 1 for record in history.records),
    "repeats": lambda history: any(record.repeat for record in history.records),
    "a beginning that is gone": lambda history: (
        history.shape.delivery.gone > 0 and min(record.offset for record in history.records) > 0
    ),
    "compaction": lambda history: history.shape.delivery.compacted > 0 and history.shape.producer.keyed,
    "losses": lambda history: history.shape.delivery.lost > 0,
    "slices": lambda history: history.shape.delivery.slices is not None,
    "a row in two partitions": lambda history: (
        history.shape.producer.keyed
        and len({(one.partition, one.message.key) for one in history.records})
        > len({one.message.key for one in history.records})
    ),
    "several producers": lambda history: len({record.message.instance for record in history.records}) > 1,
    "disorder": lambda history: any(
        after.message.changes[0].number < before.message.changes[0].number and not after.repeat
        for before, after in zip(history.records, history.records[1:], strict=False)
        if before.partition == after.partition and after.message.changes[0].op != SNAPSHOT
    ),
    "times of whole seconds": lambda history: history.shape.producer.whole_seconds,
    "12 partitions": lambda history: len({record.partition for record in history.records}) == 12,
    "changes told by two producers": lambda history: history.shape.producer.doubled,
    "an id that stays": lambda history: history.shape.producer.ids == "constant",
}


def true_changes(history):
    return [change for record in history.records for change in record.message.changes]


@pytest.mark.parametrize("dimension", DIMENSIONS)
def test_every_dimension_occurs_and_is_absent_often_enough(dimension):
    found = sum(DIMENSIONS[dimension](history) for history in shapes())
    assert 3 <= found <= 77


def test_a_history_is_the_same_for_the_same_seed():
    one, again = random_history(3), random_history(3)
    assert one == again
    assert one != random_history(4)


def test_a_switch_writes_both_versions():
    both = [{record.message.version for record in switched_history(seed).records} for seed in range(20)]
    assert sum(len(versions) == 2 for versions in both) >= 18


def test_the_wrong_declaration_exchanges_the_images_of_updates_where_it_is_trusted():
    outcomes = [validate(history, declared, trusted=True) for history, declared in map(swapped_history, range(12))]
    assert sum(one.exchanged > 0 for one in outcomes) >= 9


def test_a_few_messages_are_of_another_version_and_most_of_them_are_shown_by_their_neighbours():
    histories = [outlier_history(seed, changes=600) for seed in range(10)]
    others = [
        {record.value for record in history.records if record.message.version != history.shape.version}
        for history in histories
    ]
    assert all(1 <= len(found) <= one.shape.producer.outliers for found, one in zip(others, histories, strict=True))
    shown = [outliers_shown(history) for history in histories]
    assert all(count <= len(found) for count, found in zip(shown, others, strict=True))
    assert sum(map(bool, shown)) >= 5


def test_a_history_without_anchors_or_order_holds_no_evidence():
    made = HistoryShape(source=SourceHabits(inserts=0), delivery=DeliveryHabits(window=None))
    assert evidence_of(make_history(made, 1)) == Evidence((0, 0), (0, 0))
    assert evidence_of(make_history(replace(made, delivery=DeliveryHabits()), 1)).strength == "clear"


def test_a_row_in_several_partitions_has_no_links_and_its_anchors_vote():
    scattered = DeliveryHabits(partitions=6, spread=ROUND_ROBIN)
    found = evidence_of(make_history(HistoryShape(source=SourceHabits(), delivery=scattered), 1))
    assert found.votes[0] >= 20
    assert found.votes[1] == 0
    assert sum(found.links) <= 5


def test_a_full_load_that_overlaps_the_log_is_no_anchor():
    loaded = HistoryShape(source=SourceHabits(inserts=0, rows=60, load=0.5), delivery=DeliveryHabits(window=None))
    assert evidence_of(make_history(loaded, 1)).votes == (0, 0)


def test_the_evidence_of_a_whole_history_in_order_speaks_for_the_truth():
    for seed in range(40):
        history = history_of(seed)
        delivery, wording = history.shape.delivery, history.shape.wording
        if delivery.window == 0 and delivery.partitions == 1 and not (delivery.lost or wording.images == MINIMAL):
            assert evidence_of(history).strength != "contrary"


def test_the_version_with_swapped_images_is_the_one_whose_documents_say_so():
    swapped = {reference for reference, reading in READINGS.items() if reading["UPDATE"] == "-data +old"}
    assert swapped == {DTS_1}
