"""Which writer schemas the records of a table name, since when, what each changed, and whether readers read it."""

import json
import random

import msgspec
import pytest
from framed_topics import START, HeldSchemas, body_of, change, envelope_of, frame, json_envelope_of, scope_of, topic_of
from topics import CATALOGUE
from written_reports import build_report

from cdc_contracts.registry.authoring.compat.reader_comparison import compare_readers
from cdc_contracts.registry.core.common.errors import UnavailableError
from cdc_contracts.registry.core.contract.table_contracts import read_table_contracts
from cdc_contracts.registry.core.engine.kernel import Kernel
from cdc_contracts.registry.core.engine.messages.validation_without_arrow import ValidationWithoutArrow
from cdc_contracts.registry.core.report.audit_report import Span
from cdc_contracts.registry.core.report.reported_schemas import join_schemas, report_schemas
from cdc_contracts.registry.core.report.schema_wording import schema_rows
from cdc_contracts.registry.core.stats.partition_tallies import Source
from cdc_contracts.registry.core.stats.position_sequences import Point
from cdc_contracts.registry.core.stats.schema_timeline import SchemaStep, SchemaTimeline, trace_schemas
from cdc_contracts.registry.core.stats.schema_uses import SchemaLine, SchemaUses, UsedRange
from cdc_contracts.registry.core.stats.tally import Tally
from cdc_contracts.registry.core.writer_schemas.writer_schemas import ReaderVerdict, WriterSchemas

TOPIC = "shop.public.orders"
TABLE = "shop.public.orders"
ID = {"name": "id", "type": "int"}
NOTE = {"name": "note", "type": ["null", "string"], "default": None}
OLD, ADDED = envelope_of(ID), envelope_of(ID, NOTE)
TEXT_ID = envelope_of({"name": "id", "type": "string"})
KEY = {"type": "record", "name": "Key", "namespace": "shop.orders", "fields": [ID]}
LONG_KEY = {**KEY, "fields": [{"name": "id", "type": "string"}]}


@pytest.fixture(params=["eager", "off"], autouse=True)
def native(request, monkeypatch):
    monkeypatch.setenv("CDC_CONTRACTS_NATIVE", request.param)


def audited(schemas, batches, **options):
    validation = scope_of(schemas, **options)
    tally, kernel = Tally(), Kernel(validation)
    for batch in batches:
        tally.merge(kernel.audit(batch))
    spans = {source: Span(counts.first_offset, counts.last_offset + 1) for source, counts in tally.partitions.items()}
    return build_report(tally, spans=spans, catalogue=CATALOGUE, contract=validation.declared, validation=validation,
                        fail_on="warning")  # fmt: skip


def of_value(report):
    (line,) = (one for one in report["schemas"]["lines"] if one["of"] == "value")
    return line["schemas"]


def findings(report, rule):
    return [one for one in report["findings"] if one["rule"] == rule]


def rows(numbers, schemas, *, start=0, partition=0):
    """The record of each id, in order of offsets from `start` on."""
    return [
        (partition, offset, change(number, schemas[number], ROWS[number]))
        for offset, number in enumerate(numbers, start)
    ]


SCHEMAS = {1: OLD, 2: ADDED, 3: TEXT_ID}
ROWS = {1: {"id": 7}, 2: {"id": 7, "note": "new"}, 3: {"id": "7"}}


def test_each_id_of_a_table_has_its_first_and_last_record_in_each_partition():
    report = audited(SCHEMAS, [topic_of([*rows([1, 1, 2], SCHEMAS), *rows([2, 2], SCHEMAS, start=5, partition=1)])])
    (line,) = report["schemas"]["lines"]
    assert (line["topic"], line["table"], line["of"], line["ids"]) == (TOPIC, TABLE, "value", 2)
    assert [(one["id"], one["records"]) for one in line["schemas"]] == [(1, 2), (2, 3)]
    assert [
        (one["partition"], one["records"], one["first_offset"], one["last_offset"])
        for one in line["schemas"][1]["partitions"]
    ] == [(0, 1, 2, 2), (1, 2, 5, 6)]
    assert line["schemas"][1]["partitions"][0]["first_timestamp"] == "2025-10-09T08:53:22.000Z"
    assert "before" not in line["schemas"][0]


def test_an_id_says_what_it_changed_and_that_readers_read_it():
    (_, second) = of_value(audited(SCHEMAS, [topic_of(rows([1, 2, 2], SCHEMAS))]))
    assert second["before"] == 1
    assert second["changes"] == [{"path": ["note"], "change": "added", "old": None, "new": "string"}]
    assert (second["reads_before"], second["read_by_before"]) == (True, True)
    assert "reasons" not in second


def test_a_finding_that_began_with_an_id_names_it():
    report = audited(SCHEMAS, [topic_of(rows([1, 1, 2, 2], SCHEMAS))])
    (found,) = findings(report, "D11.new-column")
    assert found["began_with"] == {
        "topic": TOPIC, "partition": 0, "offset": 2, "timestamp": "2025-10-09T08:53:22.000Z", "id": 2, "of": "value",
    }  # fmt: skip
    assert findings(report, "D11.incompatible-schema") == []


def test_an_id_whose_types_contradict_the_table_contract_is_named_even_if_it_is_the_first(tmp_path):
    (tmp_path / "orders.yaml").write_text(f"table: {TABLE}\ncolumns: {{id: {{type: int64}}}}\nprimary_key: [id]\n")
    tables = read_table_contracts(tmp_path)
    report = audited(SCHEMAS, [topic_of(rows([1, 1], SCHEMAS))], tables=tables)
    (found,) = findings(report, "D11.column-type")
    assert (found["expected"], found["observed"]) == ("int64", ["int32"])
    assert (found["began_with"]["id"], found["began_with"]["offset"]) == (1, 0)


def test_an_id_that_readers_do_not_read_is_a_finding_since_its_first_record():
    report = audited(SCHEMAS, [topic_of(rows([1, 1, 3, 3, 3], SCHEMAS))])
    (found,) = findings(report, "D11.incompatible-schema")
    assert (found["severity"], found["table"], found["count"], found["denominator"]) == ("warning", TABLE, 3, 5)
    assert (found["onset"]["kind"], found["onset"]["since"][0]["offset"]) == ("every", 2)
    assert found["observed"][0].startswith("id 3 after id 1: C205")
    assert found["began_with"]["id"] == 3
    (_, broken) = of_value(report)
    assert (broken["reads_before"], broken["read_by_before"]) == (False, False)
    assert {"path": ["id"], "change": "type", "old": "int32", "new": "string"} in broken["changes"]
    assert report["verdict"] == "drift"


def test_an_id_is_compared_in_words_with_one_before_it_that_is_a_guid():
    guid = "01234567-89ab-cdef-0123-456789abcdef"
    used = {0: UsedRange(1, Point(0, None), Point(0, None))}
    verdict = ReaderVerdict(later_reads=False, earlier_reads=True, reasons=("why",))
    steps = [SchemaStep(guid, used), SchemaStep("7 (global)", used, guid, (), verdict)]
    (line,) = report_schemas(SchemaTimeline({SchemaLine(TOPIC, TABLE, "value"): steps})).lines
    first, later = schema_rows(line)
    assert (first.changed, first.readers) == ("the first", "")
    assert later.changed == "no column"
    assert later.readers == f"readers of id 7 (global) do not read records of id {guid}, or misread them"


def test_json_schemas_of_a_registry_are_traced_and_compared_alike():
    schemas = {1: json_envelope_of(id="int32"), 2: json_envelope_of(id="string", note="string")}
    values = [change(1, schemas[1], {"id": 7})] * 2 + [change(2, schemas[2], {"id": "7", "note": "new"})] * 2
    report = audited(schemas, [topic_of([(0, offset, value) for offset, value in enumerate(values)])])
    (_, second) = of_value(report)
    assert second["changes"] == [
        {"path": ["id"], "change": "type", "old": "int32", "new": "string"},
        {"path": ["note"], "change": "added", "old": None, "new": "string"},
    ]
    assert (second["reads_before"], second["read_by_before"]) == (False, False)
    (found,) = findings(report, "D11.incompatible-schema")
    assert (found["count"], found["began_with"]["id"]) == (2, 2)


def test_producers_that_take_turns_change_the_table_once_and_are_said_to_overlap():
    report = audited(SCHEMAS, [topic_of(rows([1, 3, 1, 3, 1, 3], SCHEMAS))])
    (first, second) = of_value(report)
    assert (first["id"], second["id"]) == (1, 3)
    assert second["overlap"] == {"partition": 0, "last_offset": 4}
    (found,) = findings(report, "D11.incompatible-schema")
    assert (found["count"], found["onset"]["kind"]) == (3, "sporadic")


def test_what_comes_later_without_a_change_of_its_column_began_with_no_id():
    nullable = envelope_of({"name": "id", "type": ["null", "int"], "default": None})
    later = [(0, offset, change(1, nullable, {"id": 7 if offset < 3 else None})) for offset in range(5)]
    described = envelope_of({"name": "id", "type": ["null", "int"], "default": None, "doc": "the id"})
    later += [(0, offset, change(2, described, {"id": None if offset > 6 else 7})) for offset in range(5, 9)]
    report = audited({1: nullable, 2: described}, [topic_of(later)])
    assert [one for one in report["findings"] if "began_with" in one] == []
    assert of_value(report)[1]["changes"] == []


def test_keys_have_ids_of_their_own_and_a_key_that_readers_do_not_read_is_a_finding_of_its_own():
    schemas = {1: OLD, 8: KEY, 9: LONG_KEY}
    keys = [frame(8, body_of(KEY, {"id": 7}))] * 2 + [frame(9, body_of(LONG_KEY, {"id": "7"}))] * 2
    report = audited(schemas, [topic_of(rows([1] * 4, schemas), keys)])
    lines = {one["of"]: [step["id"] for step in one["schemas"]] for one in report["schemas"]["lines"]}
    assert lines == {"value": [1], "key": [8, 9]}
    (found,) = findings(report, "D11.incompatible-key")
    assert (found["count"], found["began_with"]["id"], found["began_with"]["of"]) == (2, 9, "key")


def test_keys_that_only_look_like_a_frame_have_no_id():
    keys = [(1 << 30).to_bytes(8, "big")] * 2
    report = audited(SCHEMAS, [topic_of(rows([1, 1], SCHEMAS), keys)])
    assert [one["of"] for one in report["schemas"]["lines"]] == ["value"]


def test_a_topic_without_frames_has_no_schemas():
    plain = json.dumps({"schema": None, "payload": {}}).encode()
    assert "schemas" not in audited(SCHEMAS, [topic_of([(0, 0, plain)])])


def test_ids_and_guids_of_one_table_stand_in_the_order_of_their_first_records():
    guid = "0a1b2c3d-0000-4000-8000-00000000000f"
    schema = envelope_of({"name": "id", "type": "int"})
    by_id = change(7, schema, {"id": 1})
    by_guid = b"\1" + bytes.fromhex(guid.replace("-", "")) + by_id[5:]
    held = {7: schema, 8: schema, guid: schema}
    records = [by_guid, by_id, change(8, schema, {"id": 2}), by_guid, by_id]
    report = audited(held, [topic_of([(0, offset, value)]) for offset, value in reversed([*enumerate(records)])])
    (line,) = report["schemas"]["lines"]
    assert [(one["id"], one["records"]) for one in line["schemas"]] == [(guid, 2), (7, 2), (8, 1)]
    assert [one.get("before") for one in line["schemas"]] == [None, guid, 7]


@pytest.mark.parametrize("cuts", [1, 7, 40])
def test_cuts_and_orders_of_merging_change_no_byte(cuts):
    numbers = [1] * 12 + [1, 2] * 3 + [3] * 2
    records = [*rows(numbers, SCHEMAS), *rows(numbers[::-1], SCHEMAS, partition=1)]
    size = -(-len(records) // cuts)
    validation = scope_of(SCHEMAS)
    kernel = Kernel(validation)
    parts = [kernel.audit(topic_of(records[start : start + size])) for start in range(0, len(records), size)]
    shown = told([part.statistics.schemas for part in parts], validation.reading_options.schemas)
    (line,) = msgspec.json.decode(shown)["lines"]
    assert [(one["id"], one["records"]) for one in line["schemas"]] == [(1, 30), (3, 4), (2, 6)]


@pytest.mark.parametrize("cuts", [1, 7, 400])
def test_parts_in_any_order_come_to_the_same_bytes(cuts):
    draw = random.Random(cuts)
    records = [(draw.randrange(3), offset, draw.choice([1, 2, 3])) for offset in range(400)]
    uses = [SchemaUses() for _ in range(cuts)]
    for partition, offset, number in records:
        point = Point(offset, START + offset)
        line = SchemaLine(TOPIC, draw.choice([None, TABLE]), "value")
        uses[draw.randrange(cuts)].add(line, number, partition, UsedRange(1, point, point))
    schemas = WriterSchemas(HeldSchemas(SCHEMAS), comparison=compare_readers)
    assert len({told(draw.sample(uses, cuts), schemas) for _ in range(3)}) == 1


def told(parts, schemas):
    """The report of the parts of a run, merged in their order, as bytes."""
    total = SchemaUses()
    for part in parts:
        total.merge(part)
    return msgspec.json.encode(report_schemas(trace_schemas(total, schemas)))


def test_without_arrow_the_same_ids_are_counted():
    records = rows([1, 2, 1, 2], SCHEMAS)
    validation = scope_of(SCHEMAS)
    alone = ValidationWithoutArrow(validation)
    for partition, offset, value in records:
        alone.add(Source("orders", partition), offset, value)
    held = alone.finish().statistics.schemas.held
    line = SchemaLine("orders", TABLE, "value")
    assert held == {line: {1: {0: UsedRange(2, Point(0, None), Point(2, None))},
                           2: {0: UsedRange(2, Point(1, None), Point(3, None))}}}  # fmt: skip


def test_ten_thousand_ids_are_a_small_report_with_the_first_those_that_break_and_the_last():
    reads = ReaderVerdict(later_reads=True, earlier_reads=True)
    breaks = reads._replace(earlier_reads=False, reasons=("C205: another type",))
    steps = [
        SchemaStep(number, {0: UsedRange(1, Point(number, START), Point(number, START))}, number - 1 or None, (),
                   breaks if number in (4_000, 5_000) else reads)
        for number in range(1, 10_001)
    ]  # fmt: skip
    shown = report_schemas(SchemaTimeline({SchemaLine(TOPIC, TABLE, "value"): steps}))
    assert shown.lines[0].ids == 10_000
    assert [one.number for one in shown.lines[0].schemas] == [1, 4_000, 5_000, *range(9_984, 10_001)]
    assert len(msgspec.json.encode(shown)) < 10_000


def test_a_registry_that_does_not_answer_leaves_open_what_changed_and_is_asked_once():
    asked = []

    class Silent(HeldSchemas):
        def find(self, number):
            asked.append(number)
            raise UnavailableError("the registry cannot be reached")

    uses = SchemaUses()
    for number in range(1, 51):
        point = Point(number, None)
        uses.add(SchemaLine(TOPIC, TABLE, "value"), number, 0, UsedRange(1, point, point))
    (steps,) = trace_schemas(uses, WriterSchemas(Silent({}), comparison=compare_readers)).lines.values()
    assert len(asked) == 1
    assert {one.verdict for one in steps[1:]} == {
        ReaderVerdict(None, None, ("not compared: the registry cannot be reached",))
    }


def test_an_id_that_a_registry_has_lost_is_asked_for_once_however_often_a_stream_is_traced():
    asked = []

    class Lost(HeldSchemas):
        def find(self, number):
            asked.append(number)
            return super().find(number)

    schemas, uses = WriterSchemas(Lost({1: SCHEMAS[1]}), comparison=compare_readers), SchemaUses()
    for number in (1, 2):
        point = Point(number, None)
        uses.add(SchemaLine(TOPIC, TABLE, "value"), number, 0, UsedRange(1, point, point))
    traced = [trace_schemas(uses, schemas).lines for _ in range(3)]
    assert traced[0] == traced[1] == traced[2]
    assert [one.verdict.later_reads for one in next(iter(traced[0].values()))] == [None, None]
    assert sorted(asked) == [1, 2]


def test_where_messages_name_no_table_an_id_follows_the_last_of_its_record():
    order, visit = ({"type": "record", "name": name, "fields": [ID]} for name in ("Order", "Visit"))
    changed = {**order, "fields": [{"name": "id", "type": "string"}]}
    uses = SchemaUses()
    for number, offset in ((1, 0), (2, 1), (3, 2)):
        uses.add(SchemaLine(TOPIC, None, "value"), number, 0, UsedRange(1, Point(offset, None), Point(offset, None)))
    source = HeldSchemas({1: order, 2: visit, 3: changed})
    (steps,) = trace_schemas(uses, WriterSchemas(source, comparison=compare_readers)).lines.values()
    assert [(one.number, one.before) for one in steps] == [(1, None), (2, None), (3, 1)]


def test_of_too_many_uses_those_of_the_lowest_ids_are_kept_in_any_order(monkeypatch):
    monkeypatch.setattr("cdc_contracts.registry.core.stats.schema_uses.MOST_USES", 5)
    used = [(SchemaLine(TOPIC, TABLE, "value"), number, 0, UsedRange(1, Point(number, None), Point(number, None)))
            for number in range(30)]  # fmt: skip
    for order in (used, used[::-1], random.Random(1).sample(used, 30)):
        uses = SchemaUses()
        for one in order:
            uses.add(*one)
        uses.bound()
        assert sorted(number for _, number, _, _ in uses) == [0, 1, 2, 3, 4]
        assert uses.cut


def test_ids_that_were_left_out_once_are_not_counted_again_in_part(monkeypatch):
    monkeypatch.setattr("cdc_contracts.registry.core.stats.schema_uses.MOST_USES", 2)
    for order in ([1, 2, 3, 4, 5, 5], [5, 5, 1, 2, 3, 4]):
        uses = SchemaUses()
        for offset, number in enumerate(order):
            point = Point(offset, None)
            uses.add(SchemaLine(TOPIC, TABLE, "value"), number, 0, UsedRange(1, point, point))
        timeline = trace_schemas(uses, WriterSchemas(HeldSchemas({1: OLD, 2: ADDED})))
        (steps,) = timeline.lines.values()
        assert [(one.number, one.records) for one in steps] == [(1, 1), (2, 1)]
        assert timeline.cut


def timeline_of(topic, *tables):
    """Tables with as many ids as are said."""
    used = {0: UsedRange(1, Point(0, None), Point(0, None))}
    lines = {
        SchemaLine(topic, table, "value"): [SchemaStep(number, used) for number in range(1, ids + 1)]
        for table, ids in tables
    }
    return SchemaTimeline(lines)


def test_the_schemas_of_all_topics_of_a_run_are_joined():
    joined = join_schemas(
        [report_schemas(timeline_of("b", ("orders", 2))), report_schemas(timeline_of("a", ("visits", 1)))]
    )
    assert (joined.tables, joined.tables_changed, joined.key_tables) == (2, 1, 0)
    assert [(one.topic, one.ids) for one in joined.lines] == [("a", 1), ("b", 2)]


def test_of_many_tables_those_with_several_ids_are_listed_and_all_are_counted(monkeypatch):
    monkeypatch.setattr("cdc_contracts.registry.core.report.reported_schemas.MOST_LINES", 2)
    shown = report_schemas(timeline_of("a", ("a", 1), ("b", 2), ("c", 1), ("d", 2)))
    assert (shown.tables, shown.tables_changed) == (4, 2)
    assert [one.table for one in shown.lines] == ["b", "d"]
