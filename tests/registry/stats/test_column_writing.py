"""Columns without a type whose form changes in mid-stream: reported with the onset, in any order of the records."""

import json
import pickle
import random
from functools import cache

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from record_batches import batch_of
from topics import CATALOGUE, WITH_TABLES, rendered
from version_switches import AT, audited, switching
from written_reports import build_report

from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.engine.kernel import Kernel
from cdc_contracts.registry.core.engine.statistics.column_layouts import _codes_of_numbers, _layouts_of_texts
from cdc_contracts.registry.core.stats.column_ways import JoinedStretches, RowWays, WrittenTable
from cdc_contracts.registry.core.stats.column_writing import ColumnWriting, Writing, layout_of, layout_of_token
from cdc_contracts.registry.core.stats.partition_tallies import Source
from cdc_contracts.registry.core.stats.position_sequences import Point, Stretch
from cdc_contracts.registry.core.stats.reference_tally import account
from cdc_contracts.registry.core.stats.tally import Tally
from cdc_contracts.registry.core.validate.validation_context import open_validation

SWITCHING = {"oms-community/default": "/postStruct", "oms-community/shareplex": "/data"}
TURNS = {"flags": "BIT", "made": "DATETIME", "seen": "TIMESTAMP"}
TOLD = {
    "flags": ("bit-number", "bit-base64"),
    "made": ("iso-datetime-minutes", "sql-datetime-zone"),
    "seen": ("epoch-seconds-integer", "epoch-seconds.fraction"),
}


def first_of(records, offsets, name):
    """Where each partition has the first value of a column among some offsets, found by plain reading."""
    found = {}
    for partition, offset, value in records:
        message = json.loads(value)
        row = message.get("postStruct") or message.get("data") or message.get("prevStruct")
        if offset in offsets and row.get(name) is not None:
            found[partition] = min(offset, found.get(partition, offset))
    return found


def findings_of(report):
    """What is told of each column, whether it is a finding of its own or one of several of a cause."""
    reported = [one for one in report["findings"] if one["class"] not in ("not-exercised", "control-share")]
    return {column["path"]: {**one, **column} for one in reported for column in one.get("columns", [one])}


def report_of(tally, contract):
    return build_report(
        tally, catalogue=CATALOGUE, contract=contract, source={"kind": "file"}, spans={}, fail_on="warning"
    )


@pytest.mark.one_in(6)
@pytest.mark.parametrize("order", ["in order", "partitions backwards", "shuffled"])
@pytest.mark.parametrize("contract", ["@1", "@2", ""])
@pytest.mark.parametrize("subject", SWITCHING)
def test_a_switch_of_versions_without_types_is_reported_with_its_onset(subject, contract, order):
    records = list(switching(subject, tables=False))
    reported = report_of(audited(_ordered(records, order), subject + contract, ReadingOptions()), subject + contract)
    findings = findings_of(reported)
    at = SWITCHING[subject]
    assert set(findings) == {f"{at}/{name}" for name in TURNS}
    before, after = f"{subject}@1", f"{subject}@2"
    since = range(AT) if contract == "@2" else range(AT, 240)
    for name, source_type in TURNS.items():
        one = findings[f"{at}/{name}"]
        was, now = TOLD[name]
        ways = [f"{was}, as {before} writes {source_type}", f"{now}, as {after} writes {source_type}"]
        assert (one["expected"], one["observed"]) == ((ways[1], ways[:1]) if contract == "@2" else (ways[0], ways[1:]))
        assert (one["class"], one["severity"]) == (
            ("other-version", "error") if contract else ("table-schema", "warning")
        )
        assert one["table"] == "shop.orders"
        assert one["first"]["offset"] == first_of(records, since, name)[0]
        firsts = {part["partition"]: part["first_offset"] for part in one["partitions"]}
        assert firsts == {
            partition: min(first_of(records, since, one)[partition] for one in TURNS) for partition in range(4)
        }
        assert one["onset"]["kind"] == ("sporadic" if contract == "@2" else "every")
    assert reported["verdict"] == "drift"


@pytest.mark.parametrize("share", [2, 5])
@pytest.mark.parametrize("contract", ["@1", "@2"])
@pytest.mark.parametrize("subject", SWITCHING)
def test_two_versions_side_by_side_without_types_are_reported_by_every_column_that_they_write_differently(
    subject, contract, share
):
    """Also by times alone: no form reads both a number of seconds and a text with a part of a second."""
    own, other = (rendered(f"{subject}{one}", 200, seed=3) for one in (contract, {"@1": "@2", "@2": "@1"}[contract]))
    for name in (None, *TURNS):
        records = [
            (0, number, value if number % share else with_columns(value, other[number], name))
            for number, value in enumerate(own)
        ]
        findings = findings_of(report_of(audited(records, subject + contract, ReadingOptions()), subject + contract))
        at = SWITCHING[subject]
        assert set(findings) == {f"{at}/{one}" for one in TURNS if name in (None, one)}


def with_columns(value, other, name):
    """A message with the values that a column, or all of them, have in the same change as another version writes it."""
    if name is None:
        return other
    message, theirs = json.loads(value), json.loads(other)
    for at in ("prevStruct", "postStruct", "data"):
        if (message.get(at) or {}).get(name) is not None:
            message[at][name] = theirs[at][name]
    return json.dumps(message).encode()


@pytest.mark.parametrize("subject", SWITCHING)
def test_a_switch_of_versions_is_a_note_where_table_contracts_declare_the_types(subject):
    records = list(switching(subject, tables=True))
    reported = report_of(audited(records, subject, WITH_TABLES), subject)
    assert {(one["class"], one["severity"]) for one in findings_of(reported).values()} == {("table-schema", "info")}
    assert set(findings_of(reported)) == {f"{SWITCHING[subject]}/{name}" for name in TURNS}
    assert reported["verdict"] == "pass"
    assert [one["at"] for one in reported["switches"]] == [AT] * 4


@pytest.mark.parametrize("subject", SWITCHING)
@pytest.mark.parametrize("tables", [False, True])
def test_the_fast_path_sees_the_writing_that_the_reference_sees(subject, tables):
    records = [record for record in switching(subject, tables) if record[0] == 0]
    validation = open_validation(CATALOGUE, subject, WITH_TABLES if tables else ReadingOptions())
    slow = account(validation, Source("orders", 0), [(offset, value) for _, offset, value in records])
    fast = audited(records, subject, validation.reading_options, size=50)
    assert fast.statistics.writing == slow.statistics.writing


@settings(max_examples=8)
@given(st.data())
def test_writing_adds_up_in_any_order_however_it_is_cut(data):
    records = list(switching("oms-community/default", tables=False))
    parts = [records[at : at + 96] for at in range(0, len(records), 96)]
    tallies = [whole_kernel().audit(batch_of(part)) for part in data.draw(st.permutations(parts))]
    while len(tallies) > 1:
        at = data.draw(st.integers(0, len(tallies) - 2))
        tallies[at].merge(tallies.pop(at + 1))
    assert tallies[0].statistics.writing == whole_stream().statistics.writing


@cache
def whole_kernel():
    return Kernel(open_validation(CATALOGUE, "oms-community/default", ReadingOptions()))


@cache
def whole_stream():
    return audited(
        list(switching("oms-community/default", tables=False)), "oms-community/default", ReadingOptions(), size=10_000
    )


def turned(change):
    """A stream of one version in which a change of each message begins at an offset."""
    values = rendered("oms-community/default@2", 200, seed=3)
    return [(0, offset, change(value) if offset >= AT else value) for offset, value in enumerate(values)]


def rewritten(name, write):
    def change(value):
        message = json.loads(value)
        for at in ("prevStruct", "postStruct"):
            if (message.get(at) or {}).get(name) is not None:
                message[at][name] = write(message[at][name])
        return json.dumps(message).encode()

    return change


@pytest.mark.parametrize(
    ("name", "write", "ways"),
    [
        ("note", len, ("text", "number")),
        ("id", str, ("number", "text (digits)")),
        ("made", lambda text: text.replace(" ", "T"), ("text (SQL date and time)", "text (ISO date and time)")),
    ],
)
def test_a_turn_that_no_version_explains_is_a_table_that_changed(name, write, ways):
    records = turned(rewritten(name, write))
    reported = findings_of(report_of(audited(records, "oms/default@2", ReadingOptions()), "oms/default@2"))
    one = reported[f"/postStruct/{name}"]
    assert (one["rule"], one["severity"], one["expected"], one["observed"]) == (
        "D11.column-form", "warning", ways[0], [ways[1]],
    )  # fmt: skip
    assert one["first"]["offset"] == first_of(records, range(AT, 200), name)[0]
    assert [path for path, found in reported.items() if found["rule"] == "D11.column-form"] == [f"/postStruct/{name}"]


def test_texts_of_many_layouts_and_numbers_of_many_sizes_turn_nowhere():
    values = rendered("oms-community/default@2", 200, seed=3)
    draw = random.Random(1)
    texts = ["1700000000.5", "2024-01-02 03:04:05", "2024-01-02T03:04:05", "12", "", "a word"]
    records = []
    for offset, value in enumerate(values):
        message = json.loads(value)
        for at in ("prevStruct", "postStruct"):
            if message.get(at):
                message[at] |= {"note": draw.choice(texts), "id": draw.choice([1, 1_700_000_000, 10**17])}
        records.append((0, offset, json.dumps(message).encode()))
    reported = findings_of(
        report_of(audited(records, "oms-community/default", ReadingOptions()), "oms-community/default")
    )
    assert [path for path, one in reported.items() if one["rule"] == "D11.column-form"] == []


def test_large_unsigned_numbers_that_are_documented_as_texts_are_no_turn():
    values = rendered("oms/debezium-flatten@1", 200, seed=3)
    records = []
    for offset, value in enumerate(values):
        message = json.loads(value)
        for row in (message.get("after"), message.get("before")):
            if row:
                row["big"] = str(2**63 + offset) if offset % 3 else offset
        records.append((0, offset, json.dumps(message).encode()))
    reported = findings_of(
        report_of(audited(records, "oms/debezium-flatten@1", ReadingOptions()), "oms/debezium-flatten@1")
    )
    assert [path for path, one in reported.items() if one["rule"] == "D11.column-form"] == []


@settings(max_examples=300)
@given(
    st.lists(
        st.one_of(
            st.from_regex(r"\A[0-9]{1,21}(\.[0-9]{0,10})?\Z"),
            st.from_regex(r"\A20[0-9]{2}-[0-9]{2}-[0-9]{2}[T x][0-9]{2}:[0-9]{2}(:[0-9]{2})?\Z"),
            st.text(max_size=20),
        ),
        min_size=1,
        max_size=8,
    )
)
def test_layouts_of_whole_columns_are_those_of_each_text(texts):
    layouts = ["", "ISO date and time", "SQL date and time", "seconds since 1970", "digits"]
    found = _layouts_of_texts(pa.array(texts, pa.string()))
    assert [layouts[code] for code in found.tolist()] == [layout_of(text) for text in texts]


@pytest.mark.parametrize(
    ("token", "layout"),
    [
        ("1700000000", "seconds since 1970"),
        ("946684800", ""),
        ("4102444800", ""),
        ("17000000.0", ""),
        ("-170000000", ""),
    ],
)
def test_numbers_that_may_be_moments_have_ten_digits(token, layout):
    assert layout_of_token(token) == layout
    assert str(Writing("number", layout)) == ("number (seconds since 1970)" if layout else "number")
    seconds = {"": 0, "seconds since 1970": 3}[layout]
    assert _codes_of_numbers([token.encode()]).tolist() == [seconds]


def _ordered(records, order):
    if order == "partitions backwards":
        return sorted(records, key=lambda record: (-record[0], record[1]))
    if order == "shuffled":
        return random.Random(7).sample(records, len(records))
    return records


def test_a_column_that_was_sent_as_text_once_has_its_numbers_looked_at_all_the_same():
    subject = "oms-community/default"
    old, new = (rendered(f"{subject}@{number}", 240) for number in (1, 2))
    kernel, total = Kernel(open_validation(CATALOGUE, f"{subject}@1", ReadingOptions())), Tally()
    late = [(0, offset, value) for offset, value in enumerate(new) if offset >= AT]
    early = [(0, offset, value) for offset, value in enumerate(old) if offset < AT]
    for part in (late[:60], early[:60], late[60:], early[60:]):
        total.merge(kernel.audit(batch_of(part)))
    reported = findings_of(report_of(total, f"{subject}@1"))
    assert {one["class"] for one in reported.values()} == {"other-version"}
    assert reported["/postStruct/seen"]["expected"].startswith("epoch-seconds-integer")


def test_rows_that_are_alike_in_all_columns_are_counted_as_column_by_column_in_any_order():
    draw = random.Random(4)
    tables = [WrittenTable("t", 0, name, "s/d", loaded=False, at="/data", typed=False) for name in ("a", "b", "c")]
    ways = [None, Writing("text"), Writing("text", "digits"), Writing("number")]
    records = [
        (draw.choice(tables), tuple((name, draw.choice(ways)) for name in ("x", "y", "z")), offset)
        for offset in range(200)
    ]
    by_column = ColumnWriting()
    for table, row, offset in records:
        by_column.add_ways(table, row, stretch_at(offset))
    for _ in range(4):
        draw.shuffle(records)
        parts = [ColumnWriting(), ColumnWriting(), ColumnWriting()]
        for place, (table, row, offset) in enumerate(records):
            if place % 11 == 0:
                parts[place % 3].add_ways(table, row, stretch_at(offset))
            else:
                parts[place % 3].add_rows(table, RowWays(row), stretch_at(offset), JoinedStretches())
        whole = ColumnWriting()
        for part in parts:
            whole.merge(pickle.loads(pickle.dumps(part)))

        assert whole == by_column
        assert [*whole.turns()] == [*by_column.turns()] != []


def test_a_table_whose_rows_hold_no_values_is_not_among_those_that_are_written():
    writing = ColumnWriting()
    table = WrittenTable("t", 0, "a", "s/d", loaded=False, at="/data", typed=False)
    writing.add_rows(table, RowWays((("x", None),)), stretch_at(0), JoinedStretches())
    assert writing.seen == {}


def stretch_at(offset):
    return Stretch(1, Point(offset, None), Point(offset, None), {"s/d@1": 1}, {"I": 1})
