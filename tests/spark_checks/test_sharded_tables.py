"""One table for the shards of a family: no row is lost, and rows of two shards with one key stay two rows."""

from __future__ import annotations

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from topics import scope_of

from cdc_contracts.registry.core.common.errors import UnavailableError
from cdc_contracts.registry.core.contract.table_contracts import TableContracts
from cdc_contracts.registry.core.contract.table_families import TableFamilies
from cdc_contracts.registry.core.tables.canonical.table_layouts import TableName
from cdc_contracts.spark_checks.decoding import Output, decode_input
from cdc_contracts.spark_checks.engines.spark_engine import SparkEngine
from cdc_contracts.spark_checks.inputs.file_inputs import read_files
from cdc_contracts.spark_checks.kafka.offsets import parse_range
from cdc_contracts.spark_checks.runs.emptied_tables import describe_unfollowed
from cdc_contracts.spark_checks.table_readers import table_files
from cdc_contracts.spark_checks.tables.lakehouse.lakehouse_tables import open_lakehouse
from cdc_contracts.spark_checks.tables.lakehouse.table_identifiers import CURRENT, DELETED, HISTORY

SHARDS = TableFamilies({"orders": "orders_[0-9]"})
TYPES = {"id": "bigint", "note": "varchar(20)"}


def change(table, op, after, before=None, *, database="shop", sql=""):
    rows = {"mysqlType": TYPES, "sqlType": {"id": -5, "note": 12}, "data": [after], "old": before and [before]}
    none = {"mysqlType": None, "sqlType": None, "data": None, "old": None}
    return json.dumps({
        "database": database, "table": table, "type": op, "isDdl": bool(sql), "es": 1_700_000_000_000,
        "ts": 1_700_000_000_000, "sql": sql, "pkNames": None if sql else ["id"], **(none if sql else rows),
    })  # fmt: skip


@pytest.fixture(params=[pytest.param(one, marks=pytest.mark.nightly) for one in ("delta", "iceberg")])
def decode(request, spark, tmp_path):
    def run(name, messages, families=SHARDS):
        path = tmp_path / f"{name}.jsonl"
        path.write_text("\n".join(messages) + "\n")
        validation = scope_of("oms-community/canal@2", tables=TableContracts(families=families))
        tables = open_lakehouse(request.param, str(tmp_path / "out"), catalogue=validation.catalogue)
        output = Output(str(tmp_path / "out"), tables)
        source = read_files([path], parse_range(), tasks=2)
        record = decode_input(SparkEngine(spark), source, validation, output, fail_on="error").record

        def rows(kind, name="orders"):
            found = spark.table(tables.addresses.find(kind, TableName(None, None, name)))
            return sorted((row.asDict(recursive=True) for row in found.collect()), key=str)

        return record, rows

    return run


@pytest.mark.parametrize("keeps_changes", [True, False], ids=["changes", "tables"])
def test_no_row_of_a_thousand_shards_is_lost(engine, tmp_path, keeps_changes):
    path, shards = tmp_path / "a.jsonl", [f"orders_{number:04}" for number in range(1024)]
    rows = [change(shard, "INSERT", {"id": key, "note": shard}) for key in range(2) for shard in shards]
    path.write_text("\n".join(rows) + "\n")
    contracts = TableContracts(families=TableFamilies({"orders": "orders_[0-9]{4}"}))
    source = read_files([path], parse_range(), tasks=3)
    output = Output(str(tmp_path / "out"), keeps_changes=keeps_changes)
    decode_input(engine, source, scope_of("oms-community/canal@2", tables=contracts), output, fail_on="error")
    files = [one.path for one in table_files(output.directory, "orders")]
    found = pa.concat_tables(pq.read_table(path, partitioning=None) for path in files).sort_by("_offset").to_pylist()
    ordered = [(row["_database"], row["_table"], row["after"]["id"], row["after"]["note"]) for row in found]
    assert ordered == [("shop", shard, key, shard) for key in range(2) for shard in shards]


def test_current_rows_of_two_shards_with_one_key_are_two_rows(decode):
    one = {"id": 1, "note": "a"}
    decode("first", [
        change("orders_0", "INSERT", one), change("orders_1", "INSERT", {"id": 1, "note": "b"}),
        change("orders_0", "INSERT", {"id": 1, "note": "c"}, database="shop_2"),
        change("orders_1", "INSERT", {"id": 2, "note": "d"}),
    ])  # fmt: skip
    record, rows = decode("second", [
        change("orders_0", "UPDATE", {"id": 1, "note": "new"}, one), change("orders_1", "DELETE", {"id": 1, "note": "b"}),
        change("orders_0", "", None, sql="TRUNCATE TABLE orders_0").replace('"type": ""', '"type": "TRUNCATE"'),
    ])  # fmt: skip
    assert sorted((row["_database"], row["_table"], row["id"], row["note"]) for row in rows(CURRENT)) == [
        ("shop", "orders_0", 1, "new"), ("shop", "orders_1", 2, "d"), ("shop_2", "orders_0", 1, "c"),
    ]  # fmt: skip
    assert [(row["_database"], row["_table"], row["id"]) for row in rows(DELETED)] == [("shop", "orders_1", 1)]
    assert sorted((row["_table"], row["_op"]) for row in rows(HISTORY)) == [
        ("orders_0", "insert"), ("orders_0", "insert"), ("orders_0", "update"),
        ("orders_1", "delete"), ("orders_1", "insert"), ("orders_1", "insert"),
    ]  # fmt: skip
    (table,) = record.tables
    assert (table.table, table.rows, table.commit.current.changed, table.commit.current.deleted) == ("orders", 2, 1, 1)
    assert [*describe_unfollowed(record)] == ["not applied to current rows: TRUNCATE of orders_0 (second.jsonl/0@2)"]
    _, rows = decode("third", [change("orders_1", "INSERT", {"id": 1, "note": "back"})])
    assert rows(DELETED) == []
    assert len(rows(CURRENT)) == 4


def test_a_table_of_one_source_is_not_taken_for_that_of_a_family(decode, tmp_path):
    decode("first", [change("orders", "INSERT", {"id": 1, "note": "a"})], TableFamilies())
    for path in (tmp_path / "out/_runs").iterdir():
        path.unlink()
    with pytest.raises(UnavailableError, match="the existing table is a different one"):
        decode("second", [change("orders_0", "INSERT", {"id": 1, "note": "a"})], TableFamilies({"shop.orders": ".*_0"}))


def test_a_run_that_was_interrupted_is_continued_with_the_families_it_had(decode, monkeypatch):
    messages = [change("orders_0", "INSERT", {"id": 1, "note": "a"})]
    with monkeypatch.context() as patched:
        patched.setattr("cdc_contracts.spark_checks.runs.run_directory.RunDirectory.commit", _interrupt)
        with pytest.raises(KeyboardInterrupt):
            decode("first", messages)
    with pytest.raises(UnavailableError, match="was interrupted, and was started with `families") as refused:
        decode("first", messages, TableFamilies())
    assert refused.value.hint == 'Continue with `families: {"orders": "orders_[0-9]"}` in cdc-contracts.yaml.'
    record, _ = decode("first", messages)
    assert [(one.table, one.rows) for one in record.tables] == [("orders", 1)]


def _interrupt(*_, **__):
    raise KeyboardInterrupt
