"""A finding tells since when, what was sent, what explains it, what it nearly is, and how to see it again."""

import json

import pytest
import record_batches
from hypothesis import given, settings
from hypothesis import strategies as st
from topics import CATALOGUE, rendered, scope_of
from written_reports import build_report

from cdc_contracts.registry.core.engine.kernel import Kernel

REFERENCE = "oms-community/canal@2"
KAFKA = {"kind": "kafka", "bootstrap": "broker:9092"}
CLEAN = rendered(REFERENCE, 60)
NEW_MEMBER = [value[:-1] + b',"shard":7}' for value in CLEAN]
OLDER = rendered("oms-community/canal@1", 60)
BROKEN = [b'{"database":"shop"']


def ddl(text, table="orders"):
    told = {
        "data": None, "mysqlType": None, "old": None, "pkNames": None, "sqlType": None, "database": "shop",
        "table": table, "type": "ALTER", "isDdl": True, "sql": text, "es": 1718000000000, "ts": 1718000000000,
    }  # fmt: skip
    return json.dumps(told).encode()


def records_of(*values, partition=0):
    return [(partition, offset, value) for offset, value in enumerate(values)]


def batch_of(records):
    return record_batches.batch_of(records, time=lambda offset: 1_700_000_000_000_000 + offset * 1_000_000)


def kernel_of(reference=REFERENCE, **reading_options):
    return Kernel(scope_of(reference, **reading_options))


def reported(tally, *, reference=REFERENCE, source=KAFKA, **options):
    return build_report(
        tally, catalogue=CATALOGUE, contract=reference, source=source, spans={}, fail_on="warning", **options
    )  # fmt: skip


def findings_in(records, *, reference=REFERENCE, source=KAFKA, **options):
    tally = kernel_of(reference, **options).audit(batch_of(records))
    return reported(tally, reference=reference, source=source, **options)["findings"]


def the_finding(records, rule, **options):
    (finding,) = [one for one in findings_in(records, **options) if one["rule"] == rule]
    return finding


# --- since when


def test_what_every_message_has_from_some_offset_on_is_reported_from_that_offset():
    finding = the_finding(records_of(*CLEAN[:30], *NEW_MEMBER[30:50]), "D04")
    assert finding["onset"] == {
        "kind": "every",
        "since": [{"topic": "orders", "partition": 0, "offset": 30, "timestamp": "2023-11-14T22:13:50.000Z"}],
    }


def test_what_comes_and_goes_is_sporadic():
    finding = the_finding(records_of(*CLEAN[:10], *NEW_MEMBER[10:20], *CLEAN[20:30]), "D04")
    assert finding["onset"] == {"kind": "sporadic", "since": []}
    assert finding["count"] == 10


def test_a_last_message_that_happens_to_have_it_makes_no_series():
    mixed = [one for pair in zip(NEW_MEMBER[:20], CLEAN[:20], strict=True) for one in pair]
    assert the_finding(records_of(*mixed, NEW_MEMBER[20]), "D04")["onset"]["kind"] == "sporadic"


def test_one_record_is_described_as_one():
    finding = the_finding(records_of(*CLEAN[:3], NEW_MEMBER[3], *CLEAN[4:6]), "D04")
    assert finding["onset"]["kind"] == "once"
    assert [one["offset"] for one in finding["onset"]["since"]] == [3]


def test_messages_that_cannot_show_it_do_not_end_the_series():
    inserts = [value for value in CLEAN if b'"type":"INSERT"' in value]
    updates = [value[:-1] + b',"shard":7}' for value in CLEAN if b'"type":"UPDATE"' in value]
    finding = the_finding(
        records_of(updates[0], inserts[0], updates[1], ddl("ALTER TABLE orders ADD c int"), inserts[1]), "D04"
    )
    assert finding["onset"]["kind"] == "every"
    assert [one["offset"] for one in finding["onset"]["since"]] == [0]


def test_each_partition_has_its_own_onset():
    left = [(0, offset, value) for offset, value in enumerate([*CLEAN[:5], *NEW_MEMBER[5:10]])]
    right = [(1, 100 + offset, value) for offset, value in enumerate([*CLEAN[:8], *NEW_MEMBER[8:10]])]
    since = the_finding([*left, *right], "D04")["onset"]["since"]
    assert [(one["partition"], one["offset"]) for one in since] == [(0, 5), (1, 108)]


KINDS = {"clean": CLEAN, "new member": NEW_MEMBER, "older": OLDER, "broken": BROKEN, "null": [None],
         "ddl": [ddl("ALTER TABLE orders ADD shard int")]}  # fmt: skip
STREAMS = st.lists(
    st.tuples(st.sampled_from(sorted(KINDS)), st.integers(1, 8), st.integers(0, 59), st.sampled_from([1, 1, 1, 4])),
    min_size=1, max_size=10,
)  # fmt: skip


def stream_of(drawn):
    """Runs of messages of one kind, over two partitions, with gaps between offsets."""
    records, offsets = [], [0, 50]
    for name, length, start, gap in drawn:
        for number in range(start, start + length):
            partition = number % 3 % 2
            offsets[partition] += gap
            values = KINDS[name]
            records.append((partition, offsets[partition], values[number % len(values)]))
    return records


@settings(max_examples=40, deadline=None)
@given(STREAMS, st.randoms(use_true_random=False))
def test_a_report_is_the_same_to_the_byte_however_the_records_were_cut_and_added_up(drawn, random):
    records, kernel = stream_of(drawn), kernel_of()
    whole = reported(kernel.audit(batch_of(records)))
    cuts = sorted(random.sample(range(len(records)), random.randint(0, min(9, len(records) - 1))))
    parts = [records[a:b] for a, b in zip([0, *cuts], [*cuts, len(records)], strict=True) if a < b]
    tallies = [kernel.audit(batch_of(part)) for part in parts]
    random.shuffle(tallies)
    while len(tallies) > 1:
        tally = tallies.pop(random.randrange(len(tallies)))
        random.choice(tallies).merge(tally)
    assert json.dumps(reported(tallies[0])) == json.dumps(whole)


@settings(max_examples=40, deadline=None)
@given(STREAMS)
def test_a_series_begins_behind_the_last_message_without_the_finding(drawn):
    records = stream_of(drawn)
    found = [one for one in findings_in(records) if one["rule"] == "D04"]
    if not found or found[0]["onset"]["kind"] != "every":
        return
    messages = {
        (partition, offset): json.loads(value) for partition, offset, value in records if value not in (None, *BROKEN)
    }
    for start in found[0]["onset"]["since"]:
        mine = {offset: told for (partition, offset), told in messages.items() if partition == start["partition"]}
        dirty = {offset for offset, told in mine.items() if "shard" in told}
        shown = {mine[offset]["type"] for offset in dirty}
        clean = max((at for at, told in mine.items() if at not in dirty and told["type"] in shown), default=-1)
        assert start["offset"] in dirty
        assert start["offset"] > clean
        if all(told["type"] in shown for told in mine.values()):
            assert start["offset"] == min(offset for offset in dirty if offset > clean)


# --- what was sent


def test_a_change_of_type_lists_kinds_and_shapes_of_what_was_sent():
    values = [
        json_with(value, "quantity", given) for value, given in zip(CLEAN, ["12", "a-1", True, "34"], strict=False)
    ]
    finding = the_finding(records_of(*values), "D06")
    assert finding["observed"] == ["string", "boolean"]
    assert finding["histogram"] == [
        {"observed": "string 99", "count": 2}, {"observed": "boolean aaaa", "count": 1},
        {"observed": "string a-9", "count": 1},
    ]  # fmt: skip


def json_with(value, column, given):
    message = json.loads(value)
    for row in message["data"]:
        row[column] = given
    return json.dumps(message).encode()


def test_values_are_shown_only_where_asked_for():
    records = records_of(*[json_with(value, "seen", "24. Dezember") for value in CLEAN[:5]])
    rule = "D07.epoch-seconds.fraction"
    hidden, shown = the_finding(records, rule), the_finding(records, rule, show_values=True)
    assert hidden["histogram"] == [{"observed": "99. aaaaaaaa", "count": 5}]
    assert "Dezember" not in json.dumps(hidden)
    assert shown["histogram"] == [{"observed": "24. Dezember", "count": 5}]
    assert '"seen": "24. Dezember"' in shown["example"]["message"]


def test_the_first_record_is_shown_redacted_with_the_length_and_hash_of_the_whole():
    finding = the_finding(records_of(*CLEAN[:2], b'{"database":"shop","more', *CLEAN[2:4]), "D01.json")
    assert finding["example"] == {
        "topic": "orders", "partition": 0, "offset": 2, "message": '{"database": "aaaa", "aaaa', "bytes": 24,
        "sha256": "c54f2314f2096541c28f74f7bd0fa1b9fd288877862b25202d94a948293c48ce",  # of sha256sum
    }  # fmt: skip


def test_a_record_too_long_to_keep_is_shown_by_its_beginning():
    long = json_with(CLEAN[0], "seen", "x" * 100_000)
    example = the_finding(records_of(long), "D07.epoch-seconds.fraction")["example"]
    assert example["bytes"] == len(long)
    assert len(example["message"]) <= 2_001
    assert example["message"].endswith("…")


# --- what it nearly is


@pytest.mark.parametrize(
    ("change", "rule", "similar"),
    [
        ({"isDDL": True}, "D04", ["isDdl"]),
        ({"mysql_type": {}}, "D04", ["mysqlType", "sqlType"]),
        ({"zzz": 1}, "D04", []),
        ({"type": "INSRT"}, "D08.op", ["INSERT"]),
        ({"table": ..., "tables": "orders"}, "D05", ["tables"]),
    ],
)
def test_a_name_that_nobody_knows_is_reported_with_the_names_it_is_nearly(change, rule, similar):
    message = json.loads(CLEAN[0]) | change
    message = {name: value for name, value in message.items() if value is not ...}
    assert the_finding(records_of(json.dumps(message).encode()), rule)["similar"] == similar


def test_a_column_without_a_type_is_reported_with_the_types_that_have_no_column():
    message = json.loads(CLEAN[0])
    message["data"] = [{("custmer" if name == "customer" else name): one for name, one in message["data"][0].items()}]
    findings = findings_in(records_of(json.dumps(message).encode()))
    assert {one["path"]: one["similar"] for one in findings if one["rule"] == "D09.columns-typed"} == {
        "/data/0/custmer": ["customer"], "/data/0/customer": ["custmer"],
    }  # fmt: skip


# --- what explains it


def with_column(value, name):
    message = json.loads(value)
    for row in message["data"]:
        row[name] = "1"
    return json.dumps(message).encode()


def test_a_new_column_is_explained_by_the_statement_before_it_about_that_table_and_column():
    stream = [
        *CLEAN[:3], ddl("ALTER TABLE orders ADD other int"), ddl("ALTER TABLE visits ADD extra int", "visits"),
        ddl("ALTER TABLE `orders` ADD COLUMN `Extra` varchar(9) DEFAULT 'new one'"), CLEAN[4],
        *[with_column(value, "extra") for value in CLEAN[5:9]], ddl("ALTER TABLE orders MODIFY extra text"),
    ]  # fmt: skip
    finding = the_finding(records_of(*stream), "D09.columns-typed")
    assert finding["explained_by"] == {
        "topic": "orders", "partition": 0, "offset": 5, "timestamp": "2023-11-14T22:13:25.000Z",
        "text": "ALTER TABLE `orders` ADD COLUMN `Extra` varchar(9) DEFAULT 'aaa aaa'",
    }  # fmt: skip


def test_a_statement_a_little_late_explains_too_and_one_that_only_quotes_the_name_does_not():
    rows = [with_column(value, "extra") for value in CLEAN[5:9]]
    late = records_of(*rows, ddl("ALTER TABLE orders ADD extra int"))
    assert the_finding(late, "D09.columns-typed")["explained_by"]["offset"] == 4
    quoted = records_of(ddl("ALTER TABLE orders COMMENT 'no extra column'"), *rows)
    assert the_finding(quoted, "D09.columns-typed")["explained_by"] is None


def test_a_statement_in_another_partition_explains_by_its_time():
    rows = [(1, 90 + number, with_column(value, "extra")) for number, value in enumerate(CLEAN[5:9])]
    stream = [(0, 70, ddl("ALTER TABLE orders ADD extra int")), *rows]
    assert the_finding(stream, "D09.columns-typed")["explained_by"]["offset"] == 70


# --- how to see it again


@pytest.mark.parametrize(
    ("source", "command"),
    [
        (KAFKA, "cdc-contracts why topic orders -b broker:9092 --partition 0 --offset 3 --contract " + REFERENCE),
        ({"kind": "file", "paths": ["a b/orders"]}, f"cdc-contracts why 'a b/orders' --line 4 --contract {REFERENCE}"),
        ({"kind": "file", "paths": ["caps.parquet"]},
         f"cdc-contracts why caps.parquet --partition 0 --offset 3 --contract {REFERENCE}"),
        ({"kind": "file", "paths": ["a.parquet", "b.parquet"]}, None),
        ({"kind": "dataframe"}, None),
    ],
)  # fmt: skip
def test_the_command_that_shows_the_first_record_is_given(source, command):
    assert the_finding(records_of(*CLEAN[:3], NEW_MEMBER[3]), "D04", source=source)["reproduce"] == command


def test_a_message_that_no_contract_was_found_for_is_shown_without_one():
    tally = kernel_of().audit(batch_of(records_of(*CLEAN[:3], b"{")))
    (finding,) = [one for one in reported(tally, reference="auto")["findings"] if one["class"] == "malformed"]
    assert finding["reproduce"] == "cdc-contracts why topic orders -b broker:9092 --partition 0 --offset 3"
