"""Tables of Delta and Iceberg: each write is in them once, and they grow as their layouts do."""

import datetime as dt
import fcntl
import json
import os
import time
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from canonical_outputs import delta_files, iceberg_files
from lakehouse import change, typed
from pyspark import SparkConf
from topics import WITH_TABLES, rendered, scope_of

from cdc_contracts.registry.core.common.errors import UnavailableError, UsageError
from cdc_contracts.registry.core.contract.catalogue import Catalogue
from cdc_contracts.registry.core.records.output_schemas import CHANGES_SCHEMA
from cdc_contracts.registry.core.tables.canonical.reserved_names import names_in
from cdc_contracts.registry.core.tables.canonical.table_layouts import (
    FLAT,
    NESTED,
    ColumnLayout,
    TableLayout,
    TableName,
)
from cdc_contracts.spark_checks.decoding import Output, decode_input
from cdc_contracts.spark_checks.engines.spark_engine import SparkEngine
from cdc_contracts.spark_checks.files.file_sinks import SinkPlace, write_table
from cdc_contracts.spark_checks.inputs.file_inputs import read_files
from cdc_contracts.spark_checks.kafka.offsets import parse_range
from cdc_contracts.spark_checks.runs.emptied_tables import describe_unfollowed
from cdc_contracts.spark_checks.spark.arrow_schemas import spark_schema
from cdc_contracts.spark_checks.spark.connectors import CONNECTORS
from cdc_contracts.spark_checks.tables.lakehouse.history_tables import open_history
from cdc_contracts.spark_checks.tables.lakehouse.lakehouse_tables import open_lakehouse
from cdc_contracts.spark_checks.tables.lakehouse.spark_schemas import ensure_table
from cdc_contracts.spark_checks.tables.lakehouse.table_identifiers import (
    CURRENT,
    DELETED,
    HISTORY,
    CatalogSchema,
    DeltaDirectory,
    IcebergDirectory,
    parse_schema,
    quote,
)
from cdc_contracts.spark_checks.tables.typed_tables import Merged, WriteKey, WriteOrder

NAME = TableName("sh op", "a.b", "or`d%ers")
NOON = dt.datetime.fromisoformat("2024-02-29T12:00:00.000001")


def laid_out(**columns):
    return TableLayout(
        NAME, tuple(ColumnLayout(name, kind, None, None) for name, kind in columns.items()), (), "messages"
    )


SMALL = laid_out(id=pa.int64(), **{"na;me": pa.string()})
GROWN = laid_out(
    id=pa.int64(),
    **{"na;me": pa.string(), "at.noon": pa.timestamp("us"), "paid": pa.decimal128(38, 6), "raw": pa.binary()},
)


@pytest.fixture(params=[DeltaDirectory, IcebergDirectory], ids=["delta", "iceberg"])
def addresses(spark, request, tmp_path):
    found = request.param(f"{tmp_path}/a b%20c")
    found.prepare(spark)
    return found


def test_a_write_is_there_once_and_the_table_grows_by_columns_of_every_kind(spark, addresses):
    identifier, history = addresses.find(HISTORY, NAME), open_history(addresses.format)

    def write(layout, number, offset, **more):
        names = names_in(addresses.format, layout.arrow.names)
        schema = pa.schema([field.with_name(names[field.name]) for field in layout.arrow])
        ensure_table(spark, identifier, addresses.format, schema, {"table": NAME.text})
        rows = [change("insert", offset, after={"id": offset, "na;me": "", **more})]
        frame = typed(spark, layout, rows).toDF(*schema.names)
        return history.append(spark, identifier, NAME, frame, WriteKey("w", number))

    first = write(SMALL, 0, 0)
    assert first.rows == 1
    assert write(SMALL, 0, 0) == first
    grown = write(GROWN, 1, 1, **{"at.noon": NOON, "paid": Decimal("0.100000"), "raw": b"\0\xff"})
    assert (grown.rows, grown.version == first.version) == (1, False)
    assert write(GROWN, 0, 0) == first
    rows = {row["_offset"]: row["after"].asDict() for row in spark.table(identifier).collect()}
    empty = {"na;me": "", "at.noon": None, "paid": None, "raw": None}
    assert rows == {
        0: {"id": 0, **empty},
        1: {"id": 1, "na;me": "", "at.noon": NOON, "paid": Decimal("0.100000"), "raw": b"\0\xff"},
    }
    with pytest.raises(UnavailableError, match="column id has type bigint, and not string"):
        ensure_table(spark, identifier, addresses.format, laid_out(id=pa.string()).arrow, {"table": NAME.text})
    with pytest.raises(UnavailableError, match="is a different one"):
        ensure_table(spark, identifier, addresses.format, SMALL.arrow, {"table": "shop.orders"})


TIMES = [
    dt.datetime.fromisoformat(text)
    for text in ("0001-01-01", "1582-10-04T23:59:59.999999", "1899-12-31T23:59:59.999999", "9999-12-31T23:59:59.999999")
]
APPLE = "\U0001f34e"
EDGES = {
    "wall": (pa.timestamp("us"), TIMES),
    "instant": (pa.timestamp("us", tz="UTC"), [time.replace(tzinfo=dt.UTC) for time in TIMES]),
    "day": (pa.date32(), [time.date() for time in TIMES]),
    "whole": (pa.decimal128(38, 0), [Decimal("9" * 38), Decimal("-" + "9" * 38), Decimal(0), None]),
    "part": (pa.decimal128(38, 38), [Decimal(f"{sign}0.{'9' * 38}") for sign in ("", "-")] + [Decimal("0E-38"), None]),
    "bytes": (pa.binary(), [b"", b"\xff" * 40, b"\0", None]),
    # Files tell the first characters of what they hold, and a table is searched by that.
    "te.xt ` ${env:HOME}": (pa.string(), ["", APPLE * 33 + "z", "\uffff" * 40, "\U0010ffff" * 40]),
    "new\nline": (pa.string(), [None, "\0", "z" * 31 + APPLE, "é" * 40]),
}


def literal(value):
    """A value as SQL writes it."""
    if isinstance(value, bytes):
        return f"X'{value.hex()}'"
    if isinstance(value, dt.datetime):
        return f"timestamp{'' if value.tzinfo else '_ntz'}'{value.replace(tzinfo=None)}{'Z' if value.tzinfo else ''}'"
    if isinstance(value, dt.date):
        return f"date'{value}'"
    return f"{value:f}BD" if isinstance(value, Decimal) else f"'{value}'"


@pytest.mark.nightly
def test_values_at_the_edges_are_read_and_found_as_they_were_with_and_without_spark(spark, addresses, tmp_path):
    name, found = TableName("db", None, "edges"), {"delta": "db.edges", "iceberg": "db/edges"}[addresses.format]
    identifier, schema = addresses.find(HISTORY, name), pa.schema({one: kind for one, (kind, _) in EDGES.items()})
    rows = [{one: values[number] for one, (_, values) in EDGES.items()} for number in range(4)]
    open_lakehouse(addresses.format, str(tmp_path)).prepare(SparkEngine(spark))
    for _ in range(2):
        ensure_table(spark, identifier, addresses.format, schema, {"table": "${system:user.home}"})
    assert spark.table(identifier).columns == schema.names
    for row in rows:  # in files of their own
        frame = spark.createDataFrame(pa.Table.from_pylist([row], schema=schema), spark_schema(schema))
        frame.coalesce(1).writeTo(identifier).append()

    folder = tmp_path / "a b%20c" / "tables" / found
    files = delta_files(folder) if addresses.format == "delta" else iceberg_files(folder)
    tables = [pq.read_table(path, partitioning=None) for path in files]
    assert sorted((list(one.to_pylist()[0].values()) for one in tables), key=str) == sorted(
        (list(row.values()) for row in rows), key=str
    )
    assert {table.schema.types[1] for table in tables} == {pa.timestamp("us", tz="UTC")}
    duckdb.sql("SET TimeZone = 'UTC'")
    read = duckdb.sql(f"FROM read_parquet({files})").to_arrow_table().rename_columns(schema.names).to_pylist()
    assert sorted(read, key=str) == sorted(rows, key=str)
    assert sorted(spark.table(identifier).toArrow().to_pylist(), key=str) == sorted(rows, key=str)

    wanted = [(one, value) for one, (_, values) in EDGES.items() for value in values if value is not None]
    counted = " UNION ALL ".join(
        f"SELECT {number} AS number, count(*) AS rows FROM {identifier} WHERE {quote(one)} = {literal(value)}"
        for number, (one, value) in enumerate(wanted)
    )
    assert dict(spark.sql(counted).collect()) == dict.fromkeys(range(len(wanted)), 1)


STATEMENTS = [
    {
        "database": "shop", "table": "orders", "type": "DDL", "isDdl": True, "id": 61 + number, "sql": sql,
        "es": 1718000000000, "ts": 1718000001000,
    }
    for number, sql in enumerate(["RENAME TABLE orders TO old_orders", "truncate table Orders", "DROP TABLE others"])
]  # fmt: skip


def is_locked(folder):
    """Whether another process that merges would have to wait."""
    time.sleep(0.01)
    opened = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(opened)
    return False


@pytest.mark.nightly
@pytest.mark.parametrize("table_format", ["delta", "iceberg"])
def test_a_run_that_was_cut_off_is_completed_by_itself_and_one_that_empties_the_table_leaves_its_history(
    spark, tmp_path, table_format
):
    (tmp_path / "a.jsonl").write_bytes(b"\n".join(rendered("dts/canal@2", 60)) + b"\n")
    (tmp_path / "b.jsonl").write_text("\n".join(map(json.dumps, STATEMENTS)))
    out, validation = tmp_path / "out", scope_of("dts/canal@2")
    tables = open_lakehouse(table_format, str(out), catalogue=validation.catalogue)

    def decode(name="a.jsonl"):
        source = read_files([tmp_path / name], parse_range("earliest", "latest"), tasks=2)
        return decode_input(SparkEngine(spark), source, validation, Output(str(out), tables), fail_on="error").record

    def content():
        found = TableName("shop", None, "orders")
        return [
            sorted(
                json.dumps(row.asDict(recursive=True), default=str)
                for row in spark.table(tables.addresses.find(kind, found)).collect()
            )
            for kind in (HISTORY, CURRENT)
        ]

    record = decode()
    (table,) = record.tables
    before = content()
    assert len(before[0]) == table.rows == record.counts["changes"]
    assert table.commit.current.changed == len(before[1]) > 0
    for path in (out / "_runs").iterdir():
        path.unlink()
    for kind in (CURRENT, DELETED):
        spark.sql(f"DELETE FROM {tables.addresses.find(kind, TableName('shop', None, 'orders'))}")
    again = decode()
    assert again.tables[0].rows == table.rows
    assert again.tables[0].commit == table.commit
    assert content() == before
    with ThreadPoolExecutor(1) as pool:
        run = pool.submit(decode, "b.jsonl")
        seen = set()
        while not run.done():
            seen.add(is_locked(out / "staged"))
    assert True in seen
    emptied = run.result()
    assert emptied.tables[0].commit.current == Merged(emptied=len(before[1]))
    assert content() == [before[0], []]
    assert list(describe_unfollowed(emptied)) == [
        f"not applied to current rows: RENAME of {name} (b.jsonl/0@0)" for name in ("old_orders", "orders")
    ]
    assert not list((out / "staged").iterdir())


@pytest.mark.parametrize("table_format", ["delta", "iceberg"])
def test_flat_tables_hold_the_values_of_nested_ones_and_grow_by_columns_of_the_source(spark, tmp_path, table_format):
    messages, validation = rendered("dts/canal@2", 40), scope_of("dts/canal@2", tables=WITH_TABLES.tables)
    first = [value for value in messages[:20] if b'"note"' in value]
    (tmp_path / "a.jsonl").write_bytes(b"\n".join(value.replace(b'"note"', b'"later"') for value in first) + b"\n")
    (tmp_path / "b.jsonl").write_bytes(b"\n".join(messages[20:]) + b"\n")
    found = {}
    for shape in (NESTED, FLAT):
        out = tmp_path / shape
        tables = open_lakehouse(table_format, str(out))
        for name in ("a.jsonl", "b.jsonl"):
            source = read_files([tmp_path / name], parse_range("earliest", "latest"), tasks=1)
            decode_input(SparkEngine(spark), source, validation, Output(str(out), tables, shape=shape), fail_on="error")
        table = spark.table(tables.addresses.find(HISTORY, TableName("shop", None, "orders")))
        found[shape] = [
            row.asDict(recursive=True) for row in table.orderBy("_topic", "_offset", "_row_index").collect()
        ]
    assert len(found[NESTED]) == len(found[FLAT]) > 20
    for whole, row in zip(found[NESTED], found[FLAT], strict=True):
        image = whole["after"] or whole["before"]
        assert {name: row[name] for name in image} == image
        assert set(row["_columns"]) == {
            name for name in image if f"{'after' if whole['after'] else 'before'}.{name}" not in whole["_absent"]
        } - set(() if row["_topic"] == "b.jsonl" else {"note"})
    names = table.schema.names
    assert names.index("photo") < names.index("note")  # it is appended: no row of the first run has it


@pytest.mark.nightly
@pytest.mark.parametrize("table_format", ["iceberg"])
def test_a_table_without_columns_has_its_history_and_current_rows_once_it_has_some(spark, tmp_path, table_format):
    tables, name = open_lakehouse(table_format, str(tmp_path), catalogue=Catalogue(())), TableName("shop", None, "t")
    bare = TableLayout(name, (), ("ID",), "contract")
    known = TableLayout(name, (ColumnLayout("id", pa.int64(), None, None),), ("id",), "contract")

    def write(number, layout):
        row = {
            "contract": "x@1", "undecided": False, "op": "insert", "database": "shop", "table": "t", "offset": number,
            "types_from": "message", "invalid": [], "topic": "t", "partition": 0, "row_index": 0,
            "after": [("id", str(number))],
        }  # fmt: skip
        place, changes = (
            SinkPlace(str(tmp_path), f"run{number}", "tok"),
            pa.RecordBatch.from_pylist([row], CHANGES_SCHEMA),
        )
        order = WriteOrder(place, WriteKey("w", number), [*write_table(place, "changes", changes)], {name: layout}, {})
        written = tables.write(SparkEngine(spark), order)
        return written.rows["shop.t"], written.raw, written.commits["shop.t"].current

    def rows(kind, *names):
        return sorted(map(tuple, spark.table(tables.addresses.find(kind, name)).select(*names).collect()))

    assert write(0, bare) == (1, {"shop.t": {"id": 1}}, None)
    assert rows(HISTORY, "_offset", "_raw") == [(0, {"after.id": "0"})]
    merged = Merged(changed=1, keyless=1)
    assert write(1, known) == (1, {}, merged)
    assert rows(HISTORY, "_offset", "after.id") == [(0, None), (1, 1)]
    assert rows(CURRENT, "id", "_offset") == [(1, 1)]


def test_tables_of_an_iceberg_catalog_say_which_table_they_hold(spark, tmp_path):
    spark.conf.set("spark.sql.catalog.lake", "org.apache.iceberg.spark.SparkCatalog")
    spark.conf.set("spark.sql.catalog.lake.type", "hadoop")
    spark.conf.set("spark.sql.catalog.lake.warehouse", str(tmp_path))
    schema = parse_schema("lake.`bron.ze`", "iceberg")
    schema.prepare(spark)
    identifier = schema.find(HISTORY, TableName("shop", None, "órders"))
    assert identifier == "`lake`.`bron.ze`.`shop___xc3_xb3rders`"
    ensure_table(spark, identifier, "iceberg", pa.schema([("id", pa.int32())]), {"table": "shop.órders"})
    assert spark.table("lake.`bron.ze`.shop___xc3_xb3rders").columns == ["id"]
    with pytest.raises(UnavailableError, match="has no catalog pond"):
        CatalogSchema(("pond", "db"), "iceberg").prepare(spark)
    with pytest.raises(UsageError, match="written CATALOG"):
        parse_schema("lake", "iceberg")
    assert parse_schema("lake.`a.b``c`.d", "delta").text == "lake.`a.b``c`.d"


def test_a_table_is_found_by_a_name_that_no_other_table_has():
    odd = TableName("sh.op", "a b", "or`d%ers")
    assert DeltaDirectory("/o u/t").find(CURRENT, odd) == "delta.`/o u/t/current/sh%2Eop.a%20b.or%60d%25ers`"
    catalog, *name = IcebergDirectory("/o u/t").find(HISTORY, odd).split(".", 1)
    assert (catalog.startswith("cdc_"), catalog.endswith("_tables")) == (True, True)
    assert name == ["`sh%2Eop`.`a%20b.or%60d%25ers`"]
    assert catalog != IcebergDirectory("/another").find(HISTORY, odd).split(".", 1)[0]
    assert IcebergDirectory("/x").find(HISTORY, TableName(None, None, "t")).endswith(".`_`.`t`")
    assert (
        parse_schema("lake.`a.b``c`.d", "delta").find(CURRENT, odd).startswith("`lake`.`a.b``c`.`d`.`sh_x2eop__a_x20b")
    )


def test_a_name_that_is_taken_gets_one_more_underscore():
    assert names_in("iceberg", ["id", "_partition", "_Op"], taken=["_op", "__OP"]) == {
        "id": "id",
        "_partition": "__partition",
        "_Op": "___Op",
    }
    assert names_in("delta", ["_partition"]) == {"_partition": "_partition"}


def test_a_session_that_cannot_write_a_format_is_refused_with_the_settings_it_lacks():
    delta = CONNECTORS["delta"]
    with pytest.raises(UnavailableError) as raised:
        delta.check({"spark.sql.extensions": "com.example.Other"}.get)
    catalog = "spark.sql.catalog.spark_catalog=org.apache.spark.sql.delta.catalog.DeltaCatalog"
    extension = "spark.sql.extensions=io.delta.sql.DeltaSparkSessionExtension"
    assert raised.value.hint == f"Start Spark with --conf {catalog} --conf {extension}."
    name, _, value = catalog.partition("=")
    delta.check({name: value, "spark.sql.extensions": f"a.B,{extension}"}.get)
    CONNECTORS["iceberg"].check({}.get)


def test_settings_of_the_user_stay_and_a_contrary_one_is_named():
    conf = SparkConf(loadDefaults=False).set("spark.sql.extensions", "com.example.Other")
    CONNECTORS["delta"].prepare(conf)
    assert conf.get("spark.sql.extensions") == "com.example.Other,io.delta.sql.DeltaSparkSessionExtension"
    conf.set("spark.sql.catalog.spark_catalog", "com.example.Catalog")
    with pytest.raises(UsageError, match="delta tables need"):
        CONNECTORS["delta"].prepare(conf)


def test_the_connector_is_chosen_by_the_spark_that_is_installed(monkeypatch):
    installed = "4.0.1"
    monkeypatch.setattr("cdc_contracts.spark_checks.spark.connectors.spark_versions", lambda: ("2.13", installed))
    assert CONNECTORS["delta"].package() == "io.delta:delta-spark_2.13:4.0.0"
    installed = "4.1.1"
    assert CONNECTORS["delta"].package() == "io.delta:delta-spark_4.1_2.13:4.1.0"
    installed = "4.7.0"
    with pytest.raises(UnavailableError, match=r"no iceberg connector is known for Spark 4\.7\.0"):
        CONNECTORS["iceberg"].package()
