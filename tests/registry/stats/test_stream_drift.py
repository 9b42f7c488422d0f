"""What one message cannot show: order, tables that change or are not listed, messages without rows, what never came."""

import os
import pickle
from copy import deepcopy
from dataclasses import replace
from functools import cache
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from record_batches import batch_of
from topics import CATALOGUE, WITH_TABLES, scope_of
from written_reports import build_report

from cdc_contracts.registry.core.common.errors import UsageError
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.contract.table_contracts import TableContracts, parse_table_contract
from cdc_contracts.registry.core.engine.kernel import Kernel
from cdc_contracts.registry.core.generate.drifting_messages import Drifter
from cdc_contracts.registry.core.generate.event_streams import ORDERS, row_stream
from cdc_contracts.registry.core.generate.message_samples import sample_messages
from cdc_contracts.registry.core.generate.rendering import Renderer
from cdc_contracts.registry.core.generate.source_events import Event
from cdc_contracts.registry.core.stats.partition_tallies import Source
from cdc_contracts.registry.core.stats.position_sequences import Point, PositionStep, Segment, SequenceLine, Sequences
from cdc_contracts.registry.core.stats.reference_tally import account
from cdc_contracts.registry.core.stats.tally import Tally
from cdc_contracts.registry.core.validate.validation_context import open_validation

LONG = os.environ.get("CDC_CONTRACTS_MUTATIONS", "some") != "some"
ALL = [version.reference for version in CATALOGUE.all_versions()]


def report_of(records, reference, reading_options=None, *, fail_on="warning"):
    validation = open_validation(CATALOGUE, reference, reading_options or ReadingOptions())
    tally = Kernel(validation).audit(batch_of(records))
    return build_report(
        tally,
        catalogue=CATALOGUE,
        contract=reference,
        validation=validation,
        source={"kind": "file"},
        spans={},
        fail_on=fail_on,
    )


def in_one_partition(values):
    return [(0, offset, value) for offset, value in enumerate(values)]


def reported(report, *, notes=False):
    """Rule, path, table, count and the first record of each finding."""
    return [
        (one["rule"], one["path"], one["table"], one["count"], one["first"]["partition"], one["first"]["offset"])
        for one in report["findings"]
        if notes or one["severity"] != "info"
    ]


WITHOUT_DATABASE = ("dts/shareplex@1", "goldengate/json@1", "goldengate/json-row@1")
"""Versions whose messages name no database, so that no table contract of one is theirs."""


@pytest.mark.one_in(4)
@pytest.mark.parametrize("split", [False, True], ids=["joined", "split"])
@pytest.mark.parametrize("reference", ALL)
def test_nothing_drifts_in_a_stream_as_the_documents_have_it(reference, split):
    version = CATALOGUE.version(reference)
    for reading_options, count in ((ReadingOptions(), 500 if LONG else 150), (WITH_TABLES, 60)):
        values = list(sample_messages(version, count, seed=5, reading_options=reading_options, split_updates=split))
        report = report_of(in_one_partition(values), reference, reading_options)
        unlisted = ["D10"] if reading_options.tables and reference in WITHOUT_DATABASE else []
        assert sorted({rule for rule, *_ in reported(report)}) == unlisted
        assert report["verdict"] == ("drift" if unlisted else "pass")


@pytest.mark.one_in(5)
@pytest.mark.parametrize("reference", ["dts/canal@2", "oms-community/default@2", "dataworks/streamx@1", "dts/avro@1"])
def test_the_fast_path_has_the_stream_statistics_of_the_reference(reference, part):
    version, validation = CATALOGUE.version(reference), open_validation(CATALOGUE, reference, WITH_TABLES)
    source = Source("orders", 0)
    for drift in part((None, "order", "table-schema", "unknown-table", "value-form", "type-change"), 3):
        try:
            values = list(
                sample_messages(
                    version, 300 if LONG else 120, seed=9, reading_options=WITH_TABLES, drift=drift, split_updates=True
                )
            )
        except UsageError:
            assert drift == "order"
            continue
        slow = account(validation, source, enumerate(values))
        fast = Kernel(validation).audit(batch_of(in_one_partition(values)))
        assert fast.statistics.sequences.breaches() == slow.statistics.sequences.breaches(), drift
        assert replace(fast.statistics, sequences=None) == replace(slow.statistics, sequences=None), drift
        assert fast.findings.keys() == slow.findings.keys(), drift


@settings(max_examples=100 if LONG else 30)
@given(st.data())
def test_a_stream_has_the_same_statistics_however_it_is_split_and_merged(data):
    values = drifting_stream()
    cuts = sorted(data.draw(st.sets(st.integers(1, len(values) - 1), max_size=12)))
    bounds = [0, *cuts, len(values)]
    parts = [in_one_partition(values)[start:stop] for start, stop in pairwise(bounds)]
    total = Tally()
    for part in data.draw(st.permutations(parts)):
        total.merge(drift_kernel().audit(batch_of(part)))
    assert total.statistics.sequences.breaches() == whole_stream().statistics.sequences.breaches()
    assert list(total.statistics.shapes.breaches()) == list(whole_stream().statistics.shapes.breaches())
    assert total.statistics.controls == whole_stream().statistics.controls
    assert total.statistics.rule_coverage == whole_stream().statistics.rule_coverage


@cache
def drift_kernel():
    return Kernel(scope_of("drs/json@2"))


@cache
def drifting_stream():
    version, half = CATALOGUE.version("drs/json@2"), []
    for drift in ("order", "table-schema"):
        half += sample_messages(version, 60, seed=3, reading_options=ReadingOptions(), drift=drift)
    return half


@cache
def whole_stream():
    return drift_kernel().audit(batch_of(in_one_partition(drifting_stream())))


# --- order

POSITIONS = st.lists(st.tuples(st.one_of(st.none(), st.integers(0, 9)), st.integers(0, 2)), min_size=1, max_size=40)


@given(POSITIONS, st.randoms(), st.sampled_from(["strict", "non-strict", "unique"]))
def test_breaches_of_order_are_those_of_neighbours_in_any_order_of_merging(records, random, constraint):
    line = SequenceLine("orders", 0, "dts/canal", "/id", constraint)
    steps = [
        None if position is None else PositionStep(Point(7 * offset, None), position, half, "a@1")
        for offset, (position, half) in enumerate(records)
    ]
    expected, before = set(), None
    for step in filter(None, steps):
        if before is not None and step.position < before.position and constraint != "unique":
            expected.add((step.point.offset, "goes-back"))
        halves = before is not None and before.half != 0 and step.half == 2
        if before is not None and step.position == before.position and constraint != "non-strict" and not halves:
            expected.add((step.point.offset, "repeats"))
        before = step
    segments = [Segment(7 * offset, 7 * offset, step, step) for offset, step in enumerate(steps)]
    random.shuffle(segments)
    sequences = Sequences()
    for segment in segments:
        other = Sequences()
        other.add(line, [segment])
        sequences.merge(other)
    counts = {cause: stretch.count for (_, cause), stretch in sequences.breaches().items()}
    firsts = {cause: stretch.first.offset for (_, cause), stretch in sequences.breaches().items()}
    by_cause = {cause: [offset for offset, one in sorted(expected) if one == cause] for _, cause in expected}
    assert counts == {cause: len(offsets) for cause, offsets in by_cause.items()}
    assert firsts == {cause: offsets[0] for cause, offsets in by_cause.items()}


def test_segments_that_touch_become_one_and_the_others_stay_few():
    line, sequences = SequenceLine("orders", 0, "dts/canal", "/id", "strict"), Sequences()
    for offset in range(30_000):
        step = PositionStep(Point(2 * offset, None), offset, 0, "a@1")
        sequences.add(line, [Segment(2 * offset, 2 * offset, step, step)])
    assert len(sequences.segments[line]) <= 10_000
    assert sequences.breaches() == {}
    for offset in range(30_000):
        step = PositionStep(Point(100_000 + offset, None), 100_000 + offset, 0, "a@1")
        sequences.add(line, [Segment(100_000 + offset, 100_000 + offset, step, step)])
    assert len(sequences.segments[line]) <= 10_001
    assert sequences.breaches() == {}


def renumbered(reference, positions, op="insert"):
    """Inserts with these positions; None leaves the position out."""
    renderer = Renderer(CATALOGUE.version(reference), ReadingOptions())
    events = [event for event in row_stream(1, 200) if event.op == "insert"]
    return [
        renderer.render(replace(event, op=op, position=None if position is None else str(position)))
        for event, position in zip(events, positions, strict=False)
    ]


@pytest.mark.parametrize(
    ("reference", "path", "found"),
    [
        ("drs/json@2", "/id", [("D12.repeats", 2, 2), ("D12.goes-back", 1, 4)]),
        ("dts/canal@2", "/id", [("D12.goes-back", 1, 4)]),
        ("oms/shareplex@1", "/meta/scn", [("D12.goes-back", 1, 4)]),
        ("dataworks/streamx@1", "/payload/sequenceId", [("D12.repeats", 2, 2)]),
        ("dts/avro@1", "", []),
        ("oms-community/debezium@1", "", []),
    ],
)
def test_order_is_what_the_documents_promise_of_it_and_no_more(reference, path, found):
    values = renumbered(reference, [10, 11, 11, 15, 12, 12, 13])
    expected = [(rule, path, None, count, 0, first) for rule, count, first in found]
    assert reported(report_of(in_one_partition(values), reference)) == expected


def test_rows_of_a_full_load_have_no_place_in_the_order():
    values = [*renumbered("dts/canal@2", [10, 11]), *renumbered("dts/canal@2", [3, 3], op="snapshot"),
              *renumbered("dts/canal@2", [12])]  # fmt: skip
    assert reported(report_of(in_one_partition(values), "dts/canal@2")) == []


def test_records_without_a_position_do_not_part_those_that_have_one():
    values = renumbered("oms-community/default@2", [10, None, None, 9, 10])
    assert reported(report_of(in_one_partition(values), "oms-community/default@2")) == [
        ("D12.goes-back", "/allMetaData/storeDataSequence", None, 1, 0, 3)
    ]


def test_positions_longer_than_any_machine_word_are_compared_digit_for_digit():
    values = renumbered("drs/json@2", [10**30, 10**30 + 1, 10**30])
    assert reported(report_of(in_one_partition(values), "drs/json@2")) == [("D12.goes-back", "/id", None, 1, 0, 2)]


# --- tables

WIDER = replace(ORDERS, types={**ORDERS.types, "shard": "varchar(20)"})
TEXTUAL = replace(ORDERS, types={**ORDERS.types, "quantity": "varchar(20)"})
NARROW = replace(ORDERS, types={name: reported for name, reported in ORDERS.types.items() if name != "note"})


def inserts(reference, tables, reading_options=None):
    renderer = Renderer(CATALOGUE.version(reference), reading_options or ReadingOptions())
    rows = [event.after for event in row_stream(4, 200) if event.op == "insert"]
    return [
        renderer.render(
            Event("insert", table, after={name: row.get(name, "7") for name in table.types}, position=str(number))
        )
        for number, (table, row) in enumerate(zip(tables, rows, strict=False))
    ]


def test_a_column_that_is_added_to_a_table_is_found_where_it_appears():
    values = inserts("dts/canal@2", [ORDERS, ORDERS, WIDER, WIDER])
    (finding,) = [one for one in report_of(in_one_partition(values), "dts/canal@2")["findings"] if one["count"]]
    assert {name: finding[name] for name in ("rule", "class", "severity", "table", "path", "count", "expected")} == {
        "rule": "D11.new-column", "class": "table-schema", "severity": "warning", "table": "shop.orders",
        "path": "/data/0/shard", "count": 2, "expected": "no such column",
    }  # fmt: skip
    assert finding["observed"] == ["varchar"]
    assert (finding["first"]["offset"], finding["last"]["offset"]) == (2, 3)
    assert finding["onset"] == {"kind": "every", "since": [finding["first"]]}
    assert finding["document"].startswith(
        "Data storage formats in message queues (Data Transmission Service), Canal Json"
    )


@pytest.mark.parametrize(
    ("reference", "tables", "expected"),
    [
        ("dts/canal@2", [ORDERS, TEXTUAL], [("D11.column-type", "/data/0/quantity", "shop.orders", 1, 0, 1)]),
        ("dts/canal@2", [ORDERS, NARROW], [("D11.lost-column", "/data/0/note", "shop.orders", 1, 0, 1)]),
        ("oms/default@2", [ORDERS, WIDER], [("D11.new-column", "/postStruct/shard", "shop.orders", 1, 0, 1)]),
        ("oms/default@2", [ORDERS, NARROW], [("D11.lost-column", "/postStruct/note", "shop.orders", 1, 0, 1)]),
        ("oms/default@2", [ORDERS, TEXTUAL], [("D11.column-form", "/postStruct/quantity", "shop.orders", 1, 0, 1)]),
        ("dts/avro@1", [ORDERS, NARROW], [("D11.lost-column", "/afterImages/note", "shop.orders", 1, 0, 1)]),
    ],
)
def test_a_table_changes_by_its_types_or_where_a_dialect_has_none_by_its_columns_and_how_they_are_written(
    reference, tables, expected
):
    assert reported(report_of(in_one_partition(inserts(reference, tables)), reference)) == expected


def test_two_producers_with_two_shapes_are_one_finding_that_comes_and_goes():
    values = inserts("oms-community/canal@2", [ORDERS, NARROW] * 20 + [ORDERS])
    report = report_of(in_one_partition(values), "oms-community/canal@2")
    assert reported(report) == [("D11.lost-column", "/data/0/note", "shop.orders", 20, 0, 1)]
    assert report["findings"][0]["onset"]["kind"] == "sporadic"


def test_a_statement_in_the_topic_explains_the_column_that_comes_after_it():
    renderer = Renderer(CATALOGUE.version("dts/canal@2"), ReadingOptions())
    statement = Event("ddl", ORDERS, position="2", ddl_text="ALTER TABLE orders ADD COLUMN shard varchar(20)")
    rows = inserts("dts/canal@2", [ORDERS, ORDERS, WIDER])
    values = [*rows[:2], renderer.render(statement), rows[2]]
    report = report_of(in_one_partition(values), "dts/canal@2")
    assert reported(report) == [("D11.new-column", "/data/0/shard", "shop.orders", 1, 0, 3)]
    explained = report["findings"][0]["explained_by"]
    assert (explained["offset"], explained["text"]) == (2, "ALTER TABLE orders ADD COLUMN shard varchar(20)")


def test_each_partition_is_compared_with_itself():
    old, new = inserts("dts/canal@2", [ORDERS] * 3), inserts("dts/canal@2", [WIDER] * 3)
    records = [*((0, offset, value) for offset, value in enumerate(old)),
               *((1, offset, value) for offset, value in enumerate(new))]  # fmt: skip
    assert reported(report_of(records, "dts/canal@2")) == []


def test_a_table_contract_settles_which_columns_a_table_has():
    values = inserts("oms/default@2", [WIDER, WIDER, NARROW])
    assert reported(report_of(in_one_partition(values), "oms/default@2", WITH_TABLES)) == [
        ("D11.new-column", "/postStruct/shard", "shop.orders", 2, 0, 0),
        ("D11.lost-column", "/postStruct/note", "shop.orders", 1, 0, 2),
    ]


def test_a_listed_column_that_never_comes_and_another_type_than_is_listed_are_found():
    never = inserts("dts/canal@2", [NARROW, NARROW])
    assert reported(report_of(in_one_partition(never), "dts/canal@2", WITH_TABLES)) == [
        ("D11.lost-column", "/data/0/note", "shop.orders", 2, 0, 0)
    ]
    other = report_of(in_one_partition(inserts("dts/canal@2", [TEXTUAL])), "dts/canal@2", WITH_TABLES)
    assert reported(other) == [("D11.column-type", "/data/0/quantity", "shop.orders", 1, 0, 0)]
    assert (other["findings"][0]["expected"], other["findings"][0]["observed"]) == ("int", ["varchar"])


def test_rows_are_compared_with_the_table_contract_that_they_were_judged_by():
    contract = {"table": "shop.orders", "columns": {name: {"type": reported} for name, reported in WIDER.types.items()}}
    widened = ReadingOptions(tables=TableContracts([parse_table_contract(contract, "here")]))
    records = in_one_partition(inserts("dts/canal@2", [ORDERS, ORDERS, ORDERS]))
    first, then = (
        Kernel(open_validation(CATALOGUE, "dts/canal@2", reading_options)).audit(batch_of(part))
        for reading_options, part in ((WITH_TABLES, records[:2]), (widened, records[2:]))
    )
    for tally in (deepcopy(first), deepcopy(then)):
        tally.merge(deepcopy(then if tally.partitions[Source("orders", 0)].read == len(records[:2]) else first))
        report = build_report(
            tally, catalogue=CATALOGUE, contract="dts/canal@2", source={"kind": "file"}, spans={}, fail_on="warning"
        )
        assert reported(report) == [("D11.lost-column", "/data/0/shard", "shop.orders", 1, 0, 2)]


def test_a_listed_type_is_the_same_by_the_name_that_a_dialect_has_for_it():
    values = inserts("dataworks/streamx@1", [ORDERS, ORDERS])
    assert b'"LONG"' in values[0]
    assert reported(report_of(in_one_partition(values), "dataworks/streamx@1", WITH_TABLES)) == []


def test_a_table_that_is_not_listed_is_found_with_the_nearest_that_is():
    other = [replace(ORDERS, name=name) for name in ("order", "warehouse_stock")]
    values = inserts("dts/canal@2", [ORDERS, other[0], other[1], other[0]])
    report = report_of(in_one_partition(values), "dts/canal@2", WITH_TABLES)
    assert reported(report) == [
        ("D10", "/table", "shop.order", 2, 0, 1), ("D10", "/table", "shop.warehouse_stock", 1, 0, 2)
    ]  # fmt: skip
    assert [one["expected"] for one in report["findings"][:2]] == [
        "a table that the table contracts list, nearest shop.orders", "a table that the table contracts list",
    ]  # fmt: skip
    assert reported(report_of(in_one_partition(values), "dts/canal@2")) == []


def test_a_thousand_shapes_and_tables_stay_few_and_say_that_there_were_more():
    tables = [replace(ORDERS, types={"id": "bigint", f"c{number}": "int"}) for number in range(100)]
    report = report_of(in_one_partition(inserts("dts/canal@2", [ORDERS, *tables])), "dts/canal@2")
    assert report["findings_cut"] is True
    assert {one["class"] for one in report["findings"]} >= {"table-schema"}


# --- notes


def test_messages_without_a_row_are_one_note_with_their_share():
    values = list(sample_messages(CATALOGUE.version("oms/default@2"), 500, seed=3, reading_options=ReadingOptions()))
    report = report_of(in_one_partition(values), "oms/default@2")
    (finding,) = [one for one in report["findings"] if one["class"] == "control-share"]
    assert finding["observed"] == [
        "ddl: 15 of 500 messages, 3.00 %", "heartbeat: 14 of 500 messages, 2.80 %"
    ]  # fmt: skip
    assert (finding["count"], finding["ops"]) == (29, {"DDL": 15, "HEARTBEAT": 14})
    assert finding["histogram"] == [
        {"observed": "ddl: 15 of 500 messages, 3.00 %", "count": 15},
        {"observed": "heartbeat: 14 of 500 messages, 2.80 %", "count": 14},
    ]
    assert report["verdict"] == "pass"


def test_what_never_came_is_reported_once_each_and_changes_no_verdict():
    values = renumbered("dts/canal@2", [1, 2, 3])
    report = report_of(in_one_partition(values), "dts/canal@2")
    never = [(one["rule"], one["expected"], one["count"]) for one in report["findings"]]
    assert never == [
        ("D15.ddl", "DDL", 0),
        ("D15.delete", "DELETE", 0),
        ("D15.old-keys-in-data", "old-keys-in-data", 0),
        ("D15.snapshot", "INIT", 0),
        ("D15.update", "UPDATE", 0),
        ("D15.value-forms", "a column of each value form", 0),
    ]
    assert report["verdict"] == "pass"


def test_what_never_came_is_not_reported_for_a_stream_of_which_nothing_was_read():
    assert report_of(in_one_partition([b"no json", None]), "dts/canal@2")["findings"][1:] == []


# --- one among many

CLEAN, CHUNK = (100_000, 5_000) if LONG else (8_000, 1_000)
DECLARED = {"dts/canal@2": ReadingOptions(), "oms/default@2": WITH_TABLES}
MESSAGE_CLASSES = ("malformed", "other-dialect", "other-version", "unknown-field", "missing-field", "type-change",
                   "value-form", "unknown-enum", "cross-field", "precision")  # fmt: skip
NOT_THERE = {
    ("dts/canal@2", "precision"): "every value is text, which has no bound",
    ("oms/default@2", "other-version"): "only DDL messages tell its versions apart, and the newer accepts both",
}


@cache
def clean(reference):
    """Thousands of messages over two partitions: the kernel, the events, and the tally of each chunk."""
    version, reading_options = CATALOGUE.version(reference), DECLARED[reference]
    renderer, kernel = (
        Renderer(version, reading_options),
        Kernel(open_validation(CATALOGUE, reference, reading_options)),
    )
    events = [one for one in row_stream(7, CLEAN + CLEAN // 10, snapshot=100, controls=17)
              if one.op in renderer._capabilities.ops][:CLEAN]  # fmt: skip
    records = [(number % 2, number // 2, renderer.render(event)) for number, event in enumerate(events)]
    chunks = [records[start : start + CHUNK] for start in range(0, CLEAN, CHUNK)]
    return kernel, events, chunks, [pickle.dumps(kernel.audit(batch_of(chunk))) for chunk in chunks]


def report_with(reference, number, value):
    """The report of the whole stream with another message in one place."""
    kernel, _, chunks, tallies = clean(reference)
    place, within = divmod(number, CHUNK)
    chunk = list(chunks[place])
    chunk[within] = (*chunk[within][:2], value)
    total = Tally()
    for at, tally in enumerate(tallies):
        total.merge(kernel.audit(batch_of(chunk)) if at == place else pickle.loads(tally))
    assert sum(counts.read for counts in total.partitions.values()) == CLEAN
    return build_report(
        total, catalogue=CATALOGUE, contract=reference, source={"kind": "file"}, spans={}, fail_on="warning"
    )


def drifted(reference, drift):
    """The number of a message in the middle and what stands there instead."""
    version, reading_options = CATALOGUE.version(reference), DECLARED[reference]
    _, events, _, _ = clean(reference)
    middle = range(CLEAN * 3 // 5 + 1_235, CLEAN * 3 // 5 + 2_235, 2)
    if drift in MESSAGE_CLASSES:
        drifter, validation = (
            Drifter(version, reading_options, drift),
            open_validation(CATALOGUE, reference, reading_options),
        )
        for number in middle:
            value = drifter.render(events[number]) if events[number].transaction else None
            if value and {one.name for one in validation.validate(value).verdict.findings} == {drift}:
                return number, value
        pytest.fail("no event shows it")
    number = next(number for number in middle if events[number].op == "insert")
    event = events[number]
    changed = {
        "order": replace(event, position="17"),
        "table-schema": replace(event, table=WIDER, after={**event.after, "shard": "7"}),
        "unknown-table": replace(event, table=replace(ORDERS, name="returns")),
    }
    return number, Renderer(version, reading_options).render(changed[drift])


@pytest.mark.one_in(5)
@pytest.mark.parametrize("drift", [*MESSAGE_CLASSES, "order", "table-schema", "unknown-table", None])
@pytest.mark.parametrize("reference", sorted(DECLARED))
def test_one_message_that_drifts_among_thousands_is_found_and_nothing_else(reference, drift):
    if (reference, drift) in NOT_THERE:
        pytest.skip(NOT_THERE[reference, drift])
    if drift is None:
        _, _, chunks, _ = clean(reference)
        report = report_with(reference, 0, chunks[0][0][2])
        assert (report["verdict"], reported(report)) == ("pass", [])
        return
    if (reference, drift) == ("dts/canal@2", "unknown-table"):
        pytest.skip("no tables are listed for it here")
    number, value = drifted(reference, drift)
    found = [one for one in report_with(reference, number, value)["findings"] if one["severity"] != "info"]
    assert {one["class"] for one in found} == {drift}
    for one in found:
        assert (one["count"], one["first"], one["last"]) == (1, one["first"], one["first"])
        assert (one["first"]["topic"], one["first"]["partition"], one["first"]["offset"]) == (
            "orders", number % 2, number // 2
        )  # fmt: skip
