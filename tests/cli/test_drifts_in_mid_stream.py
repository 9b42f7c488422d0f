"""Drifts that begin in mid-stream, in four partitions: one finding with class, path and first offset, and no other.

The suite validates short streams by the engine that needs no JVM. CDC_CONTRACTS_DRIFTS=long validates 20,000 messages by both
engines, in any order of the partitions.
"""

import json
import os
import random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from topics import CATALOGUE, rendered

from cdc_contracts.cli.app import main
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.generate.rendering import Renderer
from cdc_contracts.registry.core.generate.source_events import Event, SourceTable

LONG = os.environ.get("CDC_CONTRACTS_DRIFTS") == "long"
COUNT, AT = (5_000, 3_217) if LONG else (90, 61)
"""Messages in each partition, and the offset from which on they drift."""
ENGINES = ("local", pytest.param("spark", marks=pytest.mark.java)) if LONG else ("local",)

SEEN = SourceTable("orders", {"id": "bigint", "note": "text", "seen": "timestamp(6)"}, ("id",), database="shop")
SHOWN = ("class", "severity", "path", "table")


def in_seconds(value):
    message = json.loads(value)
    message["es"] //= 1000
    return json.dumps(message).encode()


def in_microseconds(value):
    message = json.loads(value)
    message["payload"]["timestamp"]["eventTime"] *= 1000
    return json.dumps(message).encode()


def switched(subject):
    """Partitions of the first version, then of the second; where the first value of the second stands in each."""
    partitions, firsts = [], {}
    for partition in range(4):
        old, new = (rendered(f"{subject}@{number}", COUNT, seed=partition, table=SEEN) for number in (1, 2))
        partitions.append([*old[:AT], *new[AT:]])
        rows = [json.loads(value) for value in new]
        reported = [row.get("postStruct") or row.get("data") or row.get("prevStruct") for row in rows]
        firsts[partition] = next(offset for offset in range(AT, COUNT) if reported[offset].get("seen") is not None)
    return partitions, firsts


def drifting(reference, change):
    """Partitions whose messages change since an offset."""
    partitions = []
    for partition in range(4):
        values = rendered(reference, COUNT, seed=partition)
        partitions.append([change(value) if offset >= AT else value for offset, value in enumerate(values)])
    return partitions, dict.fromkeys(range(4), AT)


def with_null(value):
    return in_row(value, "note", None)


def with_no_date(value):
    return in_row(value, "day", "2024-02-30")


def in_row(value, name, reported):
    message = json.loads(value)
    return json.dumps({**message, "data": [{**row, name: reported} for row in message["data"]]}).encode()


def with_another_key(value):
    return json.dumps({**json.loads(value), "pkNames": ["note"]}).encode()


def inserting(change):
    """Partitions of inserts, which break a promise of the table contract since an offset."""
    renderer = Renderer(CATALOGUE.version("dts/canal@2"), ReadingOptions())
    partitions = []
    for partition in range(4):
        values = []
        for offset in range(COUNT):
            row = {"id": str(offset), "note": "red", "day": "2024-06-10"}
            at = 1_718_000_000_000_000 + offset * 1_000_000
            value = renderer.render(Event("insert", NOTES, None, row, at, at, str(partition * COUNT + offset), "1"))
            values.append(change(value) if offset >= AT else value)
        partitions.append(values)
    return partitions, dict.fromkeys(range(4), AT)


NOTES = SourceTable("orders", {"id": "bigint", "note": "varchar", "day": "date"}, ("id",), database="shop")
PROMISES = {
    "table": "shop.orders",
    "columns": {"id": {"type": "bigint"}, "note": {"type": "varchar(60)", "nullable": False}, "day": {"type": "date"}},
    "primary_key": ["id"],
}
CASES = {
    "NULL in a column that is not nullable": (
        lambda: inserting(with_null), "dts/canal@2", PROMISES,
        ("table-schema", "warning", "/data/0/note", "shop.orders"),
    ),
    "another primary key": (
        lambda: inserting(with_another_key), "dts/canal@2", PROMISES,
        ("table-schema", "warning", "/pkNames", "shop.orders"),
    ),
    "a date that does not exist": (
        lambda: inserting(with_no_date), "dts/canal@2", PROMISES,
        ("value-form", "warning", "/data/0/day", "shop.orders"),
    ),
    "another version, declared": (
        lambda: switched("oms-community/default"), "oms-community/default@1", None,
        ("other-version", "error", "/postStruct/seen", "shop.orders"),
    ),
    "another version, undeclared": (
        lambda: switched("oms-community/shareplex"), "oms-community/shareplex", None,
        ("table-schema", "warning", "/data/seen", "shop.orders"),
    ),
    "another version, with tables": (
        lambda: switched("oms-community/shareplex"), "oms-community/shareplex",
        {"table": "shop.orders", "columns": {name: {"type": reported} for name, reported in SEEN.types.items()}},
        ("table-schema", "info", "/data/seen", "shop.orders"),
    ),
    "seconds": (
        lambda: drifting("dts/canal@2", in_seconds), "dts/canal@2", None,
        ("value-form", "error", "/es", "shop.orders"),
    ),
    "microseconds": (
        lambda: drifting("oms-community/dataworks@2", in_microseconds), "oms-community/dataworks", None,
        ("value-form", "error", "/payload/timestamp/eventTime", "shop.orders"),
    ),
}  # fmt: skip


def write_topic(path, partitions, order):
    """Write the partitions into one file, in an order."""
    records = [
        (number, offset, value) for number, values in enumerate(partitions) for offset, value in enumerate(values)
    ]
    if order == "backwards":
        records.sort(key=lambda record: (-record[0], record[1]))
    if order == "interleaved":
        records.sort(key=lambda record: (record[1], record[0]))
    if order == "shuffled":
        random.Random(5).shuffle(records)
    numbers, offsets, values = zip(*records, strict=True)
    table = {
        "value": pa.array(values, pa.binary()),
        "topic": ["orders"] * len(records),
        "partition": pa.array(numbers, pa.int32()),
        "offset": pa.array(offsets, pa.int64()),
    }
    pq.write_table(pa.table(table), path, row_group_size=max(50, len(records) // 7))


@pytest.mark.one_in(4)
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("order", ["forwards", "backwards", "interleaved", "shuffled"])
@pytest.mark.parametrize("case", CASES)
def test_a_drift_is_one_finding_with_its_first_offset_in_every_partition(
    request, tmp_path, capsys, case, order, engine
):
    if engine == "spark":
        request.getfixturevalue("spark")
    make, contract, table, expected = CASES[case]
    partitions, firsts = make()
    write_topic(tmp_path / "orders.parquet", partitions, order)
    arguments = ["--engine", engine, "--contract", contract, "--report", str(tmp_path / "report.json")]
    if table is not None:
        (tmp_path / "orders.yaml").write_text(json.dumps(table))
        arguments += ["--tables", str(tmp_path / "orders.yaml")]
    code = main(["audit", "file", str(tmp_path / "orders.parquet"), *arguments])
    capsys.readouterr()
    report = json.loads((tmp_path / "report.json").read_text())
    findings = [one for one in report["findings"] if one["count"] and one["class"] != "control-share"]
    assert [tuple(one[name] for name in SHOWN) for one in findings] == [expected]
    (finding,) = findings
    assert {part["partition"]: part["first_offset"] for part in finding["partitions"]} == firsts
    assert finding["onset"]["kind"] == "every"
    assert {one["partition"]: one["offset"] for one in finding["onset"]["since"]} == firsts
    assert code == (0 if finding["severity"] == "info" else 1)
