"""Typed tables through real Spark: every value as its type, each table apart, and only what finished runs wrote."""

import json
import shutil
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path

import duckdb
import pyarrow.parquet as pq
import pytest
from producing import write_transactions
from topics import scope_of

from cdc_contracts.registry.core.common.errors import UnavailableError, UsageError
from cdc_contracts.registry.core.contract.table_contracts import TableContracts, parse_table_contract
from cdc_contracts.spark_checks.decoding import Output, decode_input
from cdc_contracts.spark_checks.engines.spark_engine import SparkEngine
from cdc_contracts.spark_checks.inputs.file_inputs import read_files
from cdc_contracts.spark_checks.inputs.sources import read_topics
from cdc_contracts.spark_checks.kafka.offsets import parse_range
from cdc_contracts.spark_checks.runs.run_records import write_record
from cdc_contracts.spark_checks.table_readers import list_tables, read_table, table_files

ORDERS = {"id": "bigint unsigned", "total": "decimal(12,2)", "made": "datetime", "due": "date", "note": "varchar(20)"}
USERS = {"id": "int", "born": "date"}
STOCK = {"sku": "varchar(9)", "left": "smallint"}


def change(table, op, types, after, before=None, *, database="shop", at=0):
    """A message of oms-community/canal@2, which sends numbers as numbers and all else as text."""
    return json.dumps({
        "database": database, "table": table, "type": op, "isDdl": False, "es": 1_700_000_000_000 + at,
        "ts": 1_700_000_000_000 + at, "sql": "", "pkNames": ["id"] if "id" in types else [], "mysqlType": types,
        "sqlType": {name: CODES[reported.split("(")[0].split()[0]] for name, reported in types.items()},
        "data": [after], "old": None if before is None else [before],
    }, separators=(",", ":")).encode()  # fmt: skip


CODES = {"bigint": -5, "int": 4, "smallint": 5, "decimal": 3, "datetime": 93, "date": 91, "varchar": 12}


def ddl(text):
    """A DDL message of the same dialect."""
    return json.dumps({
        "database": "shop", "table": "orders", "type": "ALTER", "isDdl": True, "es": 1_700_000_000_000,
        "ts": 1_700_000_000_000, "sql": text, "pkNames": None, "mysqlType": None, "sqlType": None, "data": None,
        "old": None,
    }).encode()  # fmt: skip


def order(number, **more):
    return {"id": number, "total": 10.50, "made": "2024-05-01 10:00:00.5", "due": "2024-05-02", "note": "x"} | more


MESSAGES = [
    change("orders", "INSERT", ORDERS, order(1)),
    change("users", "INSERT", USERS, {"id": 7, "born": "1999-12-31"}),
    change("orders", "UPDATE", ORDERS, order(1, note=None), order(1)),
    change("stock levels", "INSERT", STOCK, {"sku": "a", "left": 3}, database="ware.house"),
    change("orders", "DELETE", ORDERS, order(2)),
    change("orders", "INSERT", ORDERS, order(3, due="0000-00-00")),
]


@pytest.fixture
def decode(spark, tmp_path):
    def run(messages, out="out", *, contract="oms-community/canal@2", name="a", tables=None, **options):
        path = tmp_path / f"{name}.jsonl"
        path.write_bytes(b"\n".join(messages) + b"\n")
        source = read_files([path], parse_range(), tasks=2)
        validation = scope_of(contract, tables=tables or TableContracts())
        return decode_input(
            SparkEngine(spark), source, validation, Output(str(tmp_path / out), **options), fail_on="error"
        )

    return run


def typed(decoded, out, table):
    (one,) = [one for one in decoded.record.tables if one.table == table]
    rows = [row for part in one.files for row in pq.read_table(out / part.path, partitioning=None).to_pylist()]
    return sorted(rows, key=lambda row: (row["_partition"], row["_offset"], row["_row_index"]))


def test_every_table_of_a_topic_has_its_rows_with_their_types(decode, tmp_path):
    decoded = decode(MESSAGES)
    orders = typed(decoded, tmp_path / "out", "shop.orders")
    assert orders[0]["after"] == {
        "id": Decimal(1),
        "total": Decimal("10.50"),
        "made": datetime(2024, 5, 1, 10, 0, 0, 500_000),  # noqa: DTZ001  a wall clock's
        "due": date(2024, 5, 2),
        "note": "x",
    }
    assert [(row["_op"], row["_offset"]) for row in orders] == [
        ("insert", 0),
        ("update", 2),
        ("delete", 4),
        ("insert", 5),
    ]
    assert (orders[1]["before"]["note"], orders[1]["after"]["note"]) == ("x", None)
    assert (orders[2]["before"]["id"], orders[2]["after"]) == (2, None)
    assert (orders[3]["after"]["due"], orders[3]["_raw"]) == (None, [("after.due", "0000-00-00")])
    (user,) = typed(decoded, tmp_path / "out", "shop.users")
    assert user["after"] == {"id": 7, "born": date(1999, 12, 31)}
    (stock,) = typed(decoded, tmp_path / "out", "`ware.house`.stock levels")
    assert stock["after"] == {"sku": "a", "left": 3}


def test_the_record_of_a_run_names_the_files_rows_and_texts_of_each_table(decode, tmp_path):
    decoded = decode(MESSAGES)
    reported = {one.table: (one.rows, one.raw) for one in decoded.record.tables}
    assert reported == {"shop.orders": (4, {"due": 1}), "shop.users": (1, {}), "`ware.house`.stock levels": (1, {})}
    files = decoded.record.all_files
    out = tmp_path / "out"
    assert {str(path.relative_to(out)) for path in out.rglob("*.parquet")} == {part.path for part in files}
    assert all((out / part.path).stat().st_size == part.size for part in files)
    assert {path.name for path in (out / "tables").iterdir()} == {
        "shop.orders", "shop.users", "ware%2Ehouse.stock%20levels"
    }  # fmt: skip
    assert json.loads((out / "_runs" / f"{decoded.run}.json").read_text()) == json.loads(
        json.dumps(write_record(decoded.record))
    )


# --- reading


def test_a_table_is_read_as_it_is_now_over_runs_that_knew_fewer_columns(spark, decode, tmp_path):
    decode([change("orders", "INSERT", ORDERS, order(1))], name="a")
    contract = TableContracts([parse_table_contract(
        {"table": "shop.orders", "columns": {name: {"type": reported} for name, reported in ORDERS.items()}
         | {"weight": {"type": "decimal(8,3)"}}}, "orders.yaml")])  # fmt: skip
    wider = ORDERS | {"weight": "decimal(8,3)"}
    decode([change("orders", "INSERT", wider, order(2, weight=1.250))], name="b", tables=contract)
    decode([change("orders", "INSERT", ORDERS | {"colour": "varchar(9)"}, order(3, colour="red"))], name="c")
    out = str(tmp_path / "out")
    rows = read_table(spark, out, "shop.orders").orderBy("after.id").collect()
    assert [(row.after.id, row.after.weight) for row in rows] == [(1, None), (2, Decimal("1.250")), (3, None)]
    assert [row._raw for row in rows] == [{}, {}, {"after.colour": "red"}]
    assert rows[2]._absent == ["after.weight"]
    assert [one.rows for one in table_files(out, "shop.orders")] == [1, 1, 1]
    assert duckdb.sql(
        f"select sum(after.total) from read_parquet({[one.path for one in table_files(out, 'shop.orders')]})"
    ).fetchall() == [(Decimal("31.50"),)]


def test_files_that_no_finished_run_has_written_are_not_listed(decode, tmp_path):
    decoded, out = decode(MESSAGES), tmp_path / "out"
    written = table_files(str(out))
    (out / "tables" / "shop.orders" / "run=0123456789abcdef").mkdir()
    shutil.copy(written[0].path, out / "tables" / "shop.orders" / "run=0123456789abcdef" / "part-1.parquet")
    shutil.copy(written[0].path, f"{written[0].path}.copy.parquet")
    assert table_files(str(out)) == written
    assert list_tables(str(out)) == ["`ware.house`.stock levels", "shop.orders", "shop.users"]
    assert sum(one.rows for one in written) == decoded.report.ledger.changes


def test_a_file_that_was_lost_or_cut_off_is_reported(decode, tmp_path):
    decode(MESSAGES)
    (lost,) = table_files(str(tmp_path / "out"), "shop.users")
    with Path(lost.path).open("r+b") as file:
        file.truncate(100)
    with pytest.raises(UnavailableError, match="missing or truncated"):
        table_files(str(tmp_path / "out"), "shop.users")
    with pytest.raises(UsageError, match="there is no table") as reported:
        table_files(str(tmp_path / "out"), "shop.user")
    assert "shop.users" in reported.value.hint


# --- what changes while a topic goes on


@pytest.mark.nightly
def test_a_column_that_a_ddl_message_adds_becomes_a_column_and_any_other_stays_text(spark, decode, tmp_path):
    alter = ddl("ALTER TABLE `orders` ADD COLUMN weight decimal(8,3) NULL")
    wider = ORDERS | {"weight": "decimal(8,3)", "colour": "varchar(9)"}
    decode([change("orders", "INSERT", ORDERS, order(1))], name="a")
    decode([alter, change("orders", "INSERT", wider, order(2, weight=1.250, colour="red"))], name="b")
    rows = read_table(spark, str(tmp_path / "out"), "shop.orders").orderBy("_topic").collect()
    assert [(row.after.weight, row._raw) for row in rows] == [(None, {}), (Decimal("1.250"), {"after.colour": "red"})]


def test_transaction_marks_and_aborted_records_are_gaps_of_the_ledger_and_no_rows(spark, broker, make_topic, tmp_path):
    topic = make_topic()
    first, second, third = ([change("orders", "INSERT", ORDERS, order(number))] for number in (1, 2, 3))
    write_transactions(broker, topic, (first, True), (second, False), (third, True))
    source = read_topics(SparkEngine(spark), broker.bootstrap, [topic], parse_range(), {})
    output = Output(str(tmp_path))
    decoded = decode_input(SparkEngine(spark), source, scope_of("oms-community/canal@2"), output, fail_on="error")
    assert [int(row["after"]["id"]) for row in typed(decoded, tmp_path, "shop.orders")] == [1, 3]
    (part,) = decoded.record.files_of("ledger")
    (ledger,) = pq.read_table(tmp_path / part.path, partitioning=None).to_pylist()
    counts = ("start", "end", "read", "conforming", "gaps", "changes", "repeated", "dropped")
    assert [ledger[name] for name in counts] == [0, 6, 2, 2, 4, 2, 0, 0]


def test_nothing_is_left_where_typing_fails(decode, tmp_path):
    decode([MESSAGES[0]], name="a")
    (tmp_path / "out" / "tables" / "shop.users").write_text("a file where a folder has to be")
    before = sorted(tmp_path.rglob("*.parquet"))
    with pytest.raises(Exception, match=r"shop\.users"):
        decode(MESSAGES, name="b")
    assert sorted(tmp_path.rglob("*.parquet")) == before
    assert len(list((tmp_path / "out" / "_runs").iterdir())) == 1
