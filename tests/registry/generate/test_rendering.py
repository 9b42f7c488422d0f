"""Contracts run backwards: what is written is as the contract says, conforms, and reads back as what happened."""

from __future__ import annotations

import json
import os
import re
from dataclasses import replace
from pathlib import Path

import pytest
from topics import as_decoded, expressed_op

from cdc_contracts.registry.core.common.errors import UsageError
from cdc_contracts.registry.core.contract.catalogue import Catalogue, shipped_catalogue
from cdc_contracts.registry.core.contract.document_model import CONTROL_OPS
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.contract.table_contracts import TableContracts, parse_table_contract
from cdc_contracts.registry.core.generate.event_streams import ORDERS, row_stream
from cdc_contracts.registry.core.generate.rendering import Renderer
from cdc_contracts.registry.core.generate.source_events import Event, SourceTable
from cdc_contracts.registry.core.validate.capabilities import capabilities_of
from cdc_contracts.registry.core.validate.reference_validator import ReferenceValidator, VersionVerdict

CATALOGUE = shipped_catalogue()
VERSIONS = list(CATALOGUE.all_versions())
LISTED = parse_table_contract(
    {
        "table": "shop.orders",
        "columns": {name: {"type": reported} for name, reported in ORDERS.types.items()},
        "primary_key": ["id"],
    },
    "a test",
)
TABLES = TableContracts([LISTED])
SHANGHAI = {"timestamp_zone": "+08:00"}

VISITS = SourceTable(
    name="visits",
    types={"id": "bigint", "note": "varchar(20)", "seen": "timestamp(6)"},
    primary_key=("id",),
    tenant="mall",
    database="shop",
)
BEFORE = {"id": "7", "note": 'é "1"', "seen": "2024-05-06T12:53:20.012345Z"}
AFTER = {"id": "7", "note": None, "seen": "2024-05-06T12:53:20.012345Z"}
UPDATE = Event(
    "update", VISITS, BEFORE, AFTER, event_time=1_718_000_000_000_000, process_time=1_718_000_001_234_000,
    position="42", transaction="t:1",
)  # fmt: skip
INSERT, DELETE = replace(UPDATE, op="insert", before=None), replace(UPDATE, op="delete", after=None)
DDL = Event(
    "ddl", VISITS, event_time=1_718_000_000_000_000, process_time=1_718_000_001_234_000, position="43",
    ddl_text="ALTER TABLE visits COMMENT = 'x'", ddl_type="ALTER",
)  # fmt: skip
HEARTBEAT = Event("heartbeat", event_time=1_718_000_000_000_000)


def validate(version, message: bytes, reading_options: ReadingOptions) -> VersionVerdict:
    reference = ReferenceValidator(version, reading_options)
    return reference.validate(reference.wire.open(message))


# --- by hand

CANAL_HEAD = (
    '{"database":"shop","table":"visits","type":"%s","isDdl":%s,"es":1718000000000,"ts":1718000001234,"sql":"",'
)
CANAL_TYPES = (
    '"sqlType":{"id":-5,"note":12,"seen":93},'
    '"mysqlType":{"id":"bigint","note":"varchar(20)","seen":"timestamp(6)"},"pkNames":["id"],'
)
BARE_TYPES = CANAL_TYPES.replace("(20)", "").replace("(6)", "")
DTS_HEAD = (
    '{"database":"shop","table":"visits","type":"%s","isDdl":false,"id":42,"es":1718000000000,"ts":1718000001234,'
    '"sql":"","gtid":"t:1",'
)
DEFAULT_TAIL = (
    '"allMetaData":{"checkpoint":null,"record_primary_key":"id","record_primary_value":"7","source_identity":null,'
    '"dbType":"OB_MYSQL","storeDataSequence":42,"table_name":"visits","db":"mall.shop","timestamp":"1718000000",'
    '"uniqueId":"t:1"},"recordType":"%s"}'
)
OLD = r'"id":7,"note":"é \"1\"","seen":'
NEW = '"id":7,"note":null,"seen":'
DTS_OLD = r'{"id":"7","note":"é \"1\"","seen":"2024-05-06 20:53:20.012345"}'
DTS_NEW = '{"id":"7","note":null,"seen":"2024-05-06 20:53:20.012345"}'
CHANGED = r'{"note":"é \"1\""}'
BY_HAND = [
    ("oms-community/canal@2", INSERT,
     CANAL_HEAD % ("INSERT", "false") + CANAL_TYPES + '"data":[{' + NEW + '"1715000000.012345"}],"old":null}'),
    ("oms-community/canal@2", UPDATE,
     CANAL_HEAD % ("UPDATE", "false") + CANAL_TYPES + '"data":[{' + NEW + '"1715000000.012345"}],'
     + '"old":[' + CHANGED + "]}"),
    ("oms-community/canal@1", DELETE,
     CANAL_HEAD % ("DELETE", "false") + CANAL_TYPES + '"data":[{' + OLD + '1715000000}],"old":null}'),
    ("oms-community/canal@1", replace(INSERT, op="snapshot"),
     CANAL_HEAD % ("ROW", "false") + CANAL_TYPES + '"data":[{' + NEW + '1715000000}],"old":null}'),
    ("oms-community/canal@2", DDL,
     (CANAL_HEAD % ("ALTER", "true")).replace('"sql":""', "\"sql\":\"ALTER TABLE visits COMMENT = 'x'\"")
     + '"sqlType":null,"mysqlType":null,"pkNames":null,"data":null,"old":null}'),
    ("dts/canal@2", UPDATE,
     DTS_HEAD % "UPDATE" + BARE_TYPES + '"data":[' + DTS_NEW + '],"old":[' + CHANGED + "]}"),
    ("dts/canal@1", UPDATE,
     DTS_HEAD % "UPDATE" + BARE_TYPES + '"data":[' + DTS_OLD + '],"old":[{"note":null}]}'),
    ("dts/canal@2", DELETE, DTS_HEAD % "DELETE" + BARE_TYPES + '"data":[' + DTS_OLD + '],"old":null}'),
    ("dts/canal@1", DELETE, DTS_HEAD % "DELETE" + BARE_TYPES + '"data":null,"old":[' + DTS_OLD + "]}"),
    ("oms-community/default@2", UPDATE,
     '{"prevStruct":{' + OLD + '"1715000000.012345"},"postStruct":{' + NEW + '"1715000000.012345"},'
     + DEFAULT_TAIL % "UPDATE"),
    ("oms-community/default@1", DELETE,
     '{"prevStruct":{' + OLD + '1715000000},"postStruct":null,' + DEFAULT_TAIL % "DELETE"),
    ("oms-community/default@2", HEARTBEAT,
     ('{"prevStruct":null,"postStruct":null,"allMetaData":{"checkpoint":null,"record_primary_key":null,'
      '"record_primary_value":null,"source_identity":null,"dbType":null,"storeDataSequence":null,"table_name":null,'
      '"db":null,"timestamp":"1718000000","uniqueId":null},"recordType":"HEARTBEAT"}')),
]  # fmt: skip


@pytest.mark.parametrize(("reference", "event", "expected"), BY_HAND, ids=[f"{one[0]} {one[1].op}" for one in BY_HAND])
def test_a_message_is_written_as_by_hand(reference, event, expected):
    renderer = Renderer(CATALOGUE.version(reference), ReadingOptions(parameters=SHANGHAI))

    assert renderer.render(event).decode() == expected
    assert renderer.render(event).decode() == expected


def test_every_column_of_the_old_row_is_sent_where_that_is_asked_for():
    renderer = Renderer(CATALOGUE.version("oms-community/canal@2"), ReadingOptions(), full_old=True)

    old = json.loads(renderer.render(UPDATE))["old"]

    assert old == [{"id": 7, "note": 'é "1"', "seen": "1715000000.012345"}]


@pytest.mark.parametrize("version", VERSIONS, ids=str)
def test_an_update_of_nothing_is_written_and_read(version):
    event = replace(UPDATE, after=BEFORE)

    changes = validate(version, Renderer(version, ReadingOptions()).render(event), ReadingOptions()).changes

    assert len(changes) == 1
    assert changes[0].before == (changes[0].after if capabilities_of(version).update_before else None)


@pytest.mark.parametrize(
    ("reported", "text", "token"),
    [
        ("decimal(65,30)", "1.10", b"1.10"),
        ("decimal(65,30)", "-0.000000000000000000000000000001", b"-0.000000000000000000000000000001"),
        ("bigint unsigned", "18446744073709551615", b"18446744073709551615"),
        ("double", "1e+21", b"1e+21"),
        ("double", "0.1", b"0.1"),
        ("boolean", "true", b"1"),
        ("year", "2024", b"2024"),
    ],
)
def test_a_number_is_written_with_its_exact_digits(reported, text, token):
    table = SourceTable("t", {"c": reported}, (), None, "shop")

    message = Renderer(CATALOGUE.version("oms-community/canal@2"), ReadingOptions()).render(
        Event("insert", table, None, {"c": text})
    )

    assert b'"data":[{"c":' + token + b"}]" in message


@pytest.mark.parametrize(
    ("reference", "event", "what"),
    [
        ("oms-community/canal@2", HEARTBEAT, "has no heartbeat"),
        ("dts/canal@2", replace(UPDATE, op="truncate"), "has no truncate"),
        (
            "oms-community/canal@2",
            replace(INSERT, table=replace(VISITS, types={"id": "vector"})),
            "vector of column id",
        ),
        ("oms-community/canal@2", replace(INSERT, after={"id": "one"}), "column id"),
        ("oms-community/canal@2", replace(INSERT, after={"seen": "yesterday"}), "column seen"),
        ("dts/canal@2", replace(INSERT, position="mysql-bin.7"), "position"),
    ],
)
def test_what_a_version_cannot_say_is_refused(reference, event, what):
    renderer = Renderer(CATALOGUE.version(reference), ReadingOptions())

    with pytest.raises(UsageError, match=what):
        renderer.render(event)


# --- streams


@pytest.mark.one_in(8, any_subject=True)
@pytest.mark.parametrize("version", VERSIONS, ids=str)
@pytest.mark.parametrize("full_old", [True, False], ids=["full old rows", "changed columns"])
def test_a_stream_conforms_to_the_version_it_is_written_in_without_a_finding(version, full_old):
    reading_options = ReadingOptions(tables=TABLES)
    ops = capabilities_of(version).ops
    events = [event for event in row_stream(5, 120, snapshot=20, controls=30) if event.op in ops]
    renderer = Renderer(version, reading_options, full_old=full_old)
    reference = ReferenceValidator(version, reading_options)

    version_verdicts = [reference.validate(reference.wire.open(renderer.render(event))) for event in events]

    assert {event.op for event in events} >= {"insert", "update", "delete", "snapshot"} | ({"ddl"} & {*ops})
    assert [version_verdict.findings for version_verdict in version_verdicts if version_verdict.findings] == []
    reported = [
        version_verdict.changes[0].op if version_verdict.changes else version_verdict.control.kind
        for version_verdict in version_verdicts
    ]
    assert reported == [expressed_op(version, event.op) for event in events]


def test_the_same_seed_gives_the_same_bytes_and_another_seed_others():
    version = CATALOGUE.version("oms-community/default@2")

    def written(seed):
        return list(Renderer(version, ReadingOptions()).render_all(row_stream(seed, 300, controls=50)))

    assert written(1) == written(1)
    assert written(1)[:50] != written(2)[:50]


def test_a_stream_is_of_rows_that_exist():
    live: dict[str, dict] = {}
    seen: dict[str, int] = {}
    for event in row_stream(9, 3000, snapshot=100):
        seen[event.op] = seen.get(event.op, 0) + 1
        if event.before is not None:
            assert live.pop(event.before["id"]) == event.before
        if event.after is not None:
            assert event.after["id"] not in live
            live[event.after["id"]] = event.after
        assert (event.before is None) == (event.op in ("insert", "snapshot"))
        assert (event.after is None) == (event.op == "delete")
        seen["key change"] = seen.get("key change", 0) + (
            event.op == "update" and event.before["id"] != event.after["id"]
        )

    assert seen["snapshot"] == 100
    assert 1000 < seen["insert"] < 1400
    assert 1300 < seen["update"] < 1600
    assert seen["delete"] > 200
    assert seen["key change"] > 5


def test_a_stream_has_fractions_in_every_timestamp_or_in_no_time_at_all():
    times = ("at", "made", "seen")
    with_fractions = [event.after for event in row_stream(3, 500) if event.after]
    without = [event.after for event in row_stream(3, 500, fractions=False) if event.after]

    assert all("." in row["seen"] for row in with_fractions if row["seen"])
    assert not any("." in row[name] for row in without for name in times if row[name])
    for name in ORDERS.types:
        values = {row[name] for row in with_fractions}
        assert len(values) > 20
        assert (None in values) == (name != "id")


# --- what a version can say


MARKS = {"ddl", "truncate", "heartbeat", "begin", "commit", "rollback", "mark"}
CARRIED = {
    # subject: tenant, position, transaction, unit of event time in µs, types in the message, control ops
    "debezium/json": (False, False, True, 1000, False, MARKS - {"rollback"}),
    "debezium/json-schema": (False, False, True, 1000, True, MARKS - {"rollback"}),
    "debezium/flat": (False, False, True, 1000, False, set()),
    "debezium/mongodb": (False, False, True, 1000, False, set()),
    "debezium/mongodb-schema": (False, False, True, 1000, False, set()),
    "debezium/flat-schema": (False, False, True, 1000, True, set()),
    "oms-community/canal": (False, False, False, 1000, True, {"ddl"}),
    "dts/canal": (False, True, True, 1000, True, {"ddl"}),
    "oms-community/default": (True, True, True, 1_000_000, False, {"ddl", "heartbeat"}),
    "oms-community/default-extend-column-type": (True, True, True, 1_000_000, True, {"ddl", "heartbeat"}),
    "oms-community/dataworks": (False, True, False, 1000, True, MARKS),
    "oms-community/shareplex": (False, True, True, None, False, set()),
    "oms-community/debezium": (False, True, False, 1000, False, {"heartbeat"}),
    "oms/default": (True, True, True, 1_000_000, False, {"ddl", "heartbeat"}),
    "oms/default-extend-column-type": (True, True, True, 1_000_000, True, {"ddl", "heartbeat"}),
    "oms/canal": (False, False, False, 1000, True, {"ddl"}),
    "oms/dataworks": (False, True, False, 1000, True, MARKS),
    "oms/shareplex": (False, True, True, None, False, {"ddl"}),
    "oms/debezium": (False, True, False, 1000, False, {"heartbeat"}),
    "oms/debezium-flatten": (False, True, False, 1000, False, {"heartbeat"}),
    "oms/debezium-smt": (False, False, False, None, False, set()),
    "oms/avro": (False, True, True, 1_000_000, True, {"ddl"}),
    "dataworks/streamx": (False, True, False, 1000, True, MARKS),
    "dts/shareplex": (False, True, True, 1_000_000, False, {"ddl", "truncate"}),
    "dts/avro": (False, True, True, 1_000_000, True, MARKS - {"truncate"}),
    "drs/json": (False, True, False, 1000, True, {"ddl"}),
    "drs/json-c": (False, True, False, 1000, True, {"ddl"}),
    "ticdc/canal-json": (False, True, False, 1000, True, {"ddl", "truncate", "heartbeat"}),
    "flink-cdc/canal-json": (False, False, False, None, False, set()),
    "flink-cdc/debezium-json": (False, False, False, None, False, set()),
    "aws-dms/json": (False, True, True, 1_000_000, False, {"ddl"}),
    "goldengate/json": (False, True, True, None, False, {"truncate"}),
    "goldengate/json-row": (False, True, False, None, False, {"truncate"}),
    "ticdc/debezium": (False, True, False, 1000, True, {"ddl", "heartbeat"}),
    "ticdc/debezium-payload": (False, True, False, 1000, False, {"ddl", "heartbeat"}),
    "ticdc/avro": (True, True, False, 1000, True, set()),
    "maxwell/json": (False, True, True, 1_000_000, False, {"ddl", "mark"}),
    "canal/flat@3": (False, True, True, 1000, True, MARKS - {"begin"}),
    "canal/flat": (False, True, False, 1000, True, MARKS - {"begin"}),
}
MICROS = {f"debezium/{name}@{number}": 1 for name in ("json", "json-schema") for number in (3, 4)}
"""The unit of event times in versions whose messages have got a finer one."""
NUMBERED_TRANSACTIONS = {"maxwell/json", "aws-dms/json"}
"""Subjects whose ids of transactions are numbers."""
WITHOUT_KEY = {
    "debezium/flat", "debezium/flat-schema", "debezium/json", "debezium/json-schema", "debezium/mongodb", "debezium/mongodb-schema", "oms-community/shareplex", "oms-community/debezium", "oms/shareplex", "oms/debezium", "oms/debezium-flatten",
    "oms/debezium-smt", "dts/shareplex", "canal/flat@1", "maxwell/json@1",
    "flink-cdc/debezium-json", "aws-dms/json", "ticdc/debezium", "ticdc/debezium-payload", "ticdc/avro",
}  # fmt: skip
WITH_SCHEMA = {
    "goldengate/json", "goldengate/json-row", "debezium/flat", "debezium/flat-schema", "debezium/json", "debezium/json-schema", "oms-community/dataworks", "oms/dataworks", "dataworks/streamx", "dts/shareplex", "dts/avro", "oms/avro",
}  # fmt: skip
WITHOUT_DATABASE = ("oms/debezium-smt", "dts/shareplex", "goldengate/json", "goldengate/json-row")
WITHOUT_BEFORE = ("oms/debezium-smt", "debezium/flat", "debezium/flat-schema", "goldengate/json-row", "ticdc/avro")
"""Subjects whose messages have no name of a database, and those whose updates have no row before them."""
DEBEZIUM = (
    "debezium/json",
    "debezium/json-schema",
    "debezium/flat",
    "debezium/flat-schema",
    "ticdc/debezium",
    "ticdc/debezium-payload",
    "ticdc/avro",
)
"""Subjects that have JSON as a type."""
AS_SENT = ("aws-dms/json", "goldengate/json", "goldengate/json-row", "debezium/mongodb", "debezium/mongodb-schema")
"""Subjects of whose values no document says how they are written."""
FLINK = ("flink-cdc/canal-json", "flink-cdc/debezium-json")
AS_TEXT = ("dts/canal", "drs/json", "drs/json-c")
"""Subjects that send every value as text; what a BIT looks like is not documented, and JSON is a type of theirs."""
BITS = {
    **dict.fromkeys(AS_TEXT, "opaque"), "debezium/mongodb": "opaque", "debezium/mongodb-schema": "opaque", "dataworks/streamx": "integer", "dts/avro": "integer", "oms/avro": "integer",
    "dts/shareplex": "text", "aws-dms/json": "opaque", "goldengate/json": "opaque", "goldengate/json-row": "opaque", "flink-cdc/canal-json": "opaque", "flink-cdc/debezium-json": "opaque",
}  # fmt: skip
UNSIGNED = {
    "aws-dms/json": "opaque",
    "goldengate/json": "opaque",
    "goldengate/json-row": "opaque",
    "flink-cdc/canal-json": "decimal",
    "flink-cdc/debezium-json": "decimal",
    "debezium/json": "opaque",
    "debezium/flat": "opaque",
    "debezium/mongodb": "opaque",
    "debezium/mongodb-schema": "opaque",
    "debezium/json-schema": "decimal",
    "debezium/flat-schema": "decimal",
    "ticdc/debezium": "decimal",
    "ticdc/avro": "decimal",
}
"""What an unsigned number of 64 bits is: an option decides, or there is none that large."""
FRACTIONS = {
    # subject or version: digits of time, datetime and timestamp, and whether a timestamp stays an instant
    **dict.fromkeys(
        [
            f"oms-community/{name}@1"
            for name in ("canal", "default", "default-extend-column-type", "dataworks", "shareplex")
        ],
        (0, 0, 0, True),
    ),
    **dict.fromkeys(
        [
            f"oms-community/{name}@2"
            for name in ("canal", "default", "default-extend-column-type", "dataworks", "shareplex")
        ],
        (9, 9, 9, True),
    ),
    **dict.fromkeys(
        [f"oms/{name}" for name in ("canal", "default", "default-extend-column-type", "dataworks", "shareplex")],
        (9, 9, 9, True),
    ),
    **dict.fromkeys(
        ["oms-community/debezium", "oms/debezium", "oms/debezium-flatten", "oms/debezium-smt"], (6, 3, 9, True)
    ),
    "debezium/flat": (None, None, 9, True),
    "debezium/mongodb": (None, None, None, False),
    "debezium/mongodb-schema": (None, None, None, False),
    "debezium/json": (None, None, 9, True),
    "debezium/json-schema": (6, 6, 9, True),
    "debezium/flat-schema": (6, 6, 9, True),
    "dts/avro": (6, 6, 6, True),
    "oms/avro": (9, 9, 9, True),
    "dts/canal": (9, 9, 9, False),
    "canal/flat": (9, 9, 9, False),
    "ticdc/canal-json": (9, 9, 9, False),
    "flink-cdc/canal-json": (9, 9, 9, True),
    "flink-cdc/debezium-json": (9, 9, 9, True),
    "aws-dms/json": (None, None, None, False),
    "goldengate/json": (None, None, None, False),
    "ticdc/debezium": (6, 6, 9, True),
    "ticdc/debezium-payload": (6, 6, 9, True),
    "ticdc/avro": (9, 9, 9, False),
    "goldengate/json-row": (None, None, None, False),
    "maxwell/json@1": (9, 9, 9, False),
    "maxwell/json@2": (9, 9, 9, True),
    "drs/json": (9, 9, 9, True),
    "drs/json-c": (9, 9, 9, False),
    "dataworks/streamx": (None, 3, 3, True),
    "dts/shareplex": (None, None, None, False),
}


@pytest.mark.parametrize("version", VERSIONS, ids=str)
def test_what_a_version_carries_is_computed_as_its_document_says(version):
    tenant, position, transaction, unit, types, controls = CARRIED.get(version.reference) or CARRIED[version.subject]
    unit = MICROS.get(version.reference, unit)
    can = capabilities_of(version)

    assert (can.tenant, can.position, can.transaction) == (tenant, position, transaction)
    assert (can.event_time_unit, can.column_types) == (unit, types)
    assert {op for op in can.ops if op in CONTROL_OPS} == controls
    assert (
        set(can.ops) - {"update-before", "update-after", "upsert"}
        == {"insert", "update", "delete", "snapshot"} | controls
    )
    assert can.table == (version.subject != "oms/debezium-smt")
    assert can.update_before == (version.subject not in WITHOUT_BEFORE)
    assert can.database == (version.subject not in WITHOUT_DATABASE)
    assert can.primary_key == (not WITHOUT_KEY & {version.subject, version.reference})
    assert can.schema == (version.subject in WITH_SCHEMA)


@pytest.mark.parametrize("version", VERSIONS, ids=str)
def test_what_a_column_keeps_of_a_time_is_computed(version):
    can = capabilities_of(version)
    digits = tuple(can.types.fraction_digits(reported) for reported in ("time(6)", "datetime(6)", "timestamp(6)"))

    expected = FRACTIONS.get(version.reference) or FRACTIONS[version.subject]
    assert (*digits, can.types.instants("timestamp")) == expected
    assert capabilities_of(version, ReadingOptions(parameters=SHANGHAI)).types.instants("timestamp") == (
        expected[2] is not None
    )
    assert can.types.fraction_digits("int") is None
    assert can.types.fraction_digits("geography") is None
    assert can.types.kind_of("bigint(20)") == ("opaque" if version.subject in AS_SENT else "integer")
    assert can.types.kind_of("bigint(20) unsigned") == UNSIGNED.get(version.subject, "integer")
    assert can.types.kind_of("bit(8)") == BITS.get(version.subject, "bit")
    assert (can.types.kind_of("json") == "json") == (
        version.subject in (*AS_TEXT, *DEBEZIUM, "canal/flat", "ticdc/canal-json", *FLINK)
    )


def test_a_part_of_a_second_of_a_record_is_counted_as_the_user_says():
    version = CATALOGUE.version("dts/avro@1")

    assert (
        capabilities_of(version, ReadingOptions(parameters={"avro_timestamp_fraction": "nanos"})).types.fraction_digits(
            "timestamp"
        )
        == 9
    )


# --- the same rows through every contract

EVENTS = 150 if os.environ.get("CDC_CONTRACTS_MUTATIONS", "some") != "some" else 15


def decode(version, events, reading_options):
    renderer, reference = Renderer(version, reading_options), ReferenceValidator(version, reading_options)
    version_verdicts = [reference.validate(reference.wire.open(renderer.render(event))) for event in events]
    assert [version_verdict.findings for version_verdict in version_verdicts if version_verdict.findings] == []
    return [version_verdict.changes[0] for version_verdict in version_verdicts]


def test_the_same_rows_decode_alike_through_every_contract_with_one_table_contract():
    reading_options = ReadingOptions(parameters=SHANGHAI, tables=TABLES, table="shop.orders")
    events = list(row_stream(21, EVENTS, snapshot=EVENTS // 7))
    assert sum(bool(event.before) + bool(event.after) for event in events) > EVENTS * 4 // 3
    decoded = {version: decode(version, events, reading_options) for version in VERSIONS}
    can = {version: capabilities_of(version, reading_options) for version in VERSIONS}
    compared = 0
    for version in VERSIONS:
        sides = {"before", "after"}
        for event, change in zip(events, decoded[version], strict=True):
            reported = sides if can[version].update_before or event.op != "update" else {"after"}
            for side in reported:
                sent, found = getattr(event, side), getattr(change, side)
                assert (sent is None) == (found is None)
                for name, text in (sent or {}).items():
                    assert found[name] == as_decoded(text, ORDERS.types[name], can[version])
                    compared += 1
            assert_told_around_the_row(version, event, change, can[version])

    assert compared > 500 * EVENTS


def as_sent_transaction(version, event):
    """The id of a transaction as the version writes it."""
    if version.subject in NUMBERED_TRANSACTIONS:
        return re.search("[0-9]+", event.transaction)[0]
    return event.transaction


def assert_told_around_the_row(version, event, change, can):
    assert change.op == expressed_op(version, event.op)
    assert (change.database, change.table) == ("shop" if can.database or not can.table else None, "orders")
    assert change.primary_key == (["id"] if can.primary_key else None)
    timeless = can.event_time_unit is None or (event.op == "snapshot" and version.subject == "dataworks/streamx")
    assert change.event_time == (None if timeless else event.event_time)  # whole seconds
    reported = change.position if change.position is None else change.position.partition("@")[0]
    assert reported == (event.position if can.position else None)
    assert change.transaction == (as_sent_transaction(version, event) if can.transaction else None)
    if can.column_types:
        assert change.types_from == "message"
        assert change.column_types == {
            name: can.types.type_name_of(reported) for name, reported in ORDERS.types.items()
        }
    elif can.database or not can.table:
        assert change.types_from == "table"
        assert change.column_types == dict(ORDERS.types)
    else:  # the table contract is of a table in a database
        assert (change.types_from, change.column_types) == ("none", None)


def test_without_a_table_contract_the_typed_dialects_still_decode_alike():
    events = list(row_stream(22, 200))
    oms, dts = (CATALOGUE.version(reference) for reference in ("oms-community/canal@2", "dts/canal@2"))
    reading_options = ReadingOptions(parameters=SHANGHAI)
    known = [
        name
        for name, reported in ORDERS.types.items()
        if capabilities_of(oms).types.kind_of(reported) == capabilities_of(dts).types.kind_of(reported)
    ]

    pairs = list(zip(decode(oms, events, reading_options), decode(dts, events, reading_options), strict=True))

    assert len(known) == 10  # all but bit and blob, which no document describes for the second
    for left, right in pairs:
        for mine, other in ((left.before, right.before), (left.after, right.after)):
            assert (mine is None) == (other is None)
            if mine is not None:
                assert [mine[name] for name in known] == [other[name] for name in known]


def test_a_timestamp_without_a_zone_to_write_it_in_reads_back_as_its_utc_clock():
    version = CATALOGUE.version("dts/canal@2")

    change = validate(version, Renderer(version, ReadingOptions()).render(INSERT), ReadingOptions()).changes[0]

    assert change.after["seen"] == "2024-05-06T12:53:20.012345"


def test_the_zone_of_a_table_contract_wins_over_the_parameter():
    table = parse_table_contract(
        {"table": "shop.visits", "columns": {"seen": {"type": "timestamp"}}, "source_time_zone": "-03:00"}, "a test"
    )
    reading_options = ReadingOptions(parameters=SHANGHAI, tables=TableContracts([table]))
    version = CATALOGUE.version("dts/canal@2")

    message = Renderer(version, reading_options).render(INSERT)

    assert json.loads(message)["data"][0]["seen"] == "2024-05-06 09:53:20.012345"
    assert validate(version, message, reading_options).changes[0].after["seen"] == "2024-05-06T12:53:20.012345Z"


# --- the rest of the vocabulary, in contracts made for the purpose

COMMON = """
applies: {since: "1.0.0", counted_from: product-version}
status: current
transport: json
provenance: {document: none.txt}
values: {mapping: plain}
rules: [image-present-for-op]
version_evidence: []
"""
MAPPING = """
mapping: plain
names: [upper, drop-parameters]
forms:
  integer-or-text: [BIGINT]
  text: [VARCHAR]
  iso-instant: [TIMESTAMP]
"""
STREAMS = """
contract: made/streams@1
envelope:
  op:
    at: /op
    flags: [{at: /eventTime, is: -1, means: snapshot, of: [insert]}]
  database_table: {at: /source/name, split: object-name-escaped}
  event_time: {at: /eventTime, form: epoch-millis, absent_value: -1}
  process_time: {at: /times, form: epoch-millis-list-last}
  position: {at: /pos, order: opaque, null_text: "null"}
  transaction: {at: /tx/id, index: /tx/idx, size: /tx/size}
  primary_key: {at: /tags, as: json-text-groups, member: PRIMARY}
  primary_key_values: {at: /rowid, as: rowid-of-table}
ops: {INSERT: insert, UPDATE_BEFORE: update-before, UPDATE_AFTER: update-after, DELETE: delete}
tolerated_ops: []
images:
  container: object
  insert: {after: {at: /after}}
  snapshot: {after: {at: /after}}
  delete: {before: {at: /before}}
  update-before: {before: {at: /before}}
  update-after: {before: {at: /before, optional: true}, after: {at: /after}}
split_update: {joined_if: both-images, pair_by: [position]}
columns: {types: {at: /schema/column, as: list-of-objects, name: name, type: type}}
discriminators: [{present: /version}, {equals: /kind, value: row}, {absent: /marker}]
full_load: own-op
"""
FLAT = """
contract: made/flat@1
envelope:
  op: {at: /__deleted}
  table: {from: topic-or-table-option}
  event_time: {at: /__ts, form: iso-local-or-utc}
ops: {"false": upsert, "true": delete}
images:
  container: object
  upsert: {after: {at: "", not_columns: [__deleted, __ts]}}
  delete: {before: {at: "", not_columns: [__deleted, __ts]}}
columns: {types: none}
discriminators: [{in: /__deleted, values: ["true", "false"]}]
full_load: as-upsert
"""
TEXTUAL = """
contract: made/textual@1
envelope:
  op: {at: /type}
  database_table: {at: /where, split: database.table}
  event_time: {at: /when, form: iso-local}
  position: {at: /seq, order: integer}
ops: {I: insert, U: update, D: delete}
images:
  container: object
  insert: {after: {at: /data}}
  update: {before: {at: /key}, after: {at: /data, completed_from: /key}}
  delete: {before: {at: /key}}
columns: {types: {in_image: __types, as: name-to-object, type: schemaType}}
discriminators: [{present: /seq}]
full_load: as-insert
"""
SCHEMAS = {
    "streams": {
        "version": {"type": "string", "pattern": "^[0-9]"}, "kind": {"type": "string"},
        "marker": {"type": ["string", "null"]}, "op": {"type": "string"}, "source": {"type": "object"},
        "eventTime": {"type": "integer"}, "times": {"type": "array"},
        "pos": {"type": "string"}, "tx": {"type": "object"}, "tags": {"type": "string"}, "rowid": {"type": "string"},
        "schema": {"type": "object"}, "before": {"type": ["object", "null"]}, "after": {"type": ["object", "null"]},
        "extra": {"type": "string"}, "note": {"type": ["string", "null"]},
    },
    "flat": {"__deleted": {"type": "string"}, "__ts": {"type": "string"}},
    "textual": {
        "type": {"type": "string"}, "where": {"type": "string"}, "when": {"type": "string"},
        "seq": {"type": ["integer", "string"]}, "key": {"type": ["object", "null"]},
        "data": {"type": ["object", "null"]},
    },
}  # fmt: skip


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Catalogue:
    root: Path = tmp_path_factory.mktemp("contracts")
    (root / "made" / "types").mkdir(parents=True)
    (root / "made" / "types" / "plain.yaml").write_text(MAPPING)
    for name, document in (("streams", STREAMS), ("flat", FLAT), ("textual", TEXTUAL)):
        folder = root / "made" / name / "v1"
        folder.mkdir(parents=True)
        (folder / "contract.yaml").write_text(COMMON + document)
        schema = {"type": "object", "properties": SCHEMAS[name], "required": ["version"]}
        (folder / "envelope.schema.json").write_text(json.dumps(schema))
    return Catalogue([root])


def written(made: Catalogue, name: str, event: Event, **parameters: str) -> dict:
    return json.loads(Renderer(made.version(f"made/{name}@1"), ReadingOptions(parameters=parameters)).render(event))


def test_names_keys_times_and_types_are_written_as_they_are_read(made):
    table = replace(VISITS, name="visits.1", schema="public")

    assert written(made, "streams", replace(UPDATE, table=table)) == {
        "version": "0",
        "kind": "row",
        "op": "UPDATE_AFTER",
        "source": {"name": r"shop.public.visits\u002E1"},
        "eventTime": 1718000000000,
        "times": [1718000001234],
        "pos": "42",
        "tx": {"id": "t:1", "idx": 1, "size": 1},
        "tags": '{"PRIMARY": ["id"]}',
        "rowid": r"shop.public.visits\u002E1-7",
        "schema": {
            "column": [
                {"name": "id", "type": "bigint"},
                {"name": "note", "type": "varchar(20)"},
                {"name": "seen", "type": "timestamp(6)"},
            ]
        },
        "before": {"id": 7, "note": 'é "1"', "seen": "2024-05-06T12:53:20.012345Z"},
        "after": {"id": 7, "note": None, "seen": "2024-05-06T12:53:20.012345Z"},
        "note": None,
    }


def test_a_flag_marks_a_row_of_the_full_load(made):
    row = written(made, "streams", replace(INSERT, op="snapshot", position=None))

    assert (row["op"], row["eventTime"], row["pos"], row["before"]) == ("INSERT", -1, "null", None)


def test_halves_of_an_update_are_written_apart_where_they_are_reported_apart(made):
    before = written(made, "streams", replace(UPDATE, op="update-before", after=None))
    after = written(made, "streams", replace(UPDATE, op="update-after", before=None))

    assert (before["op"], before["before"]["note"], before["after"]) == ("UPDATE_BEFORE", 'é "1"', None)
    assert (after["op"], after["before"], after["after"]["note"]) == ("UPDATE_AFTER", None, None)


@pytest.mark.parametrize(
    ("event", "deleted"),
    [(INSERT, "false"), (UPDATE, "false"), (replace(INSERT, op="snapshot"), "false"), (DELETE, "true")],
)
def test_an_image_may_be_the_message_itself(made, event, deleted):
    note = 'é "1"' if event is DELETE else None

    assert written(made, "flat", event) == {
        "id": 7, "note": note, "seen": "2024-05-06T12:53:20.012345Z",
        "__deleted": deleted, "__ts": "2024-06-10T06:13:20Z",
    }  # fmt: skip
    assert capabilities_of(made.version("made/flat@1")).event_time_unit == 1_000_000
    assert not capabilities_of(made.version("made/flat@1")).update_before


def test_types_may_stand_inside_the_image_and_an_image_of_changes_may_not_be_empty(made):
    types = {
        "id": {"schemaType": "bigint"},
        "note": {"schemaType": "varchar(20)"},
        "seen": {"schemaType": "timestamp(6)"},
    }
    whole = {"id": 7, "note": None, "seen": "2024-05-06T12:53:20.012345Z"}
    update = written(made, "textual", UPDATE, time_zone="+08:00")
    nothing = written(made, "textual", replace(UPDATE, before=AFTER), time_zone="+08:00")

    assert update["where"] == "shop.visits"
    assert update["when"] == "2024-06-10T14:13:20"
    assert update["seq"] == 42
    assert update["data"] == {"note": None, "__types": types}
    assert update["key"] == {**whole, "note": 'é "1"', "__types": types}
    assert nothing["data"] == {**whole, "__types": types}
    assert written(made, "textual", replace(UPDATE, position="a7"))["seq"] == "a7"


def test_local_times_count_as_carried_only_where_the_zone_is_said(made):
    version = made.version("made/textual@1")

    assert capabilities_of(version).event_time_unit is None
    assert capabilities_of(version, ReadingOptions(parameters={"time_zone": "+08:00"})).event_time_unit == 1_000_000
