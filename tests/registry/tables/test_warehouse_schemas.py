"""Schemas for warehouses and lakehouses: parsed by parsers that are not ours, with the exact type of every column."""

from __future__ import annotations

import json

import jsonschema_rs
import pyarrow as pa
import pytest
import sqlglot
import yaml
from both_paths import CATALOGUE
from registry_tables import ODD
from registry_tables import ORDERS_TABLE as TABLE
from sqlglot import exp

from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.contract.table_contracts import TableContract
from cdc_contracts.registry.core.schema.message_schemas.asyncapi_document import asyncapi_document
from cdc_contracts.registry.core.schema.message_schemas.bound_schema import bound_schema
from cdc_contracts.registry.core.tables.canonical.layout_resolution import canonical_table
from cdc_contracts.registry.core.tables.canonical.table_layouts import FLAT, NESTED
from cdc_contracts.registry.core.tables.schemas.dbt_sources import dbt_sources
from cdc_contracts.registry.core.tables.schemas.lakehouse_schemas import delta_schema, iceberg_schema
from cdc_contracts.registry.core.tables.schemas.warehouse_sql import WAREHOUSES, warehouse_ddl
from cdc_contracts.spark_checks.spark.arrow_schemas import spark_schema

VERSION = CATALOGUE.version("oms-community/default@2")
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
WIDE = TableContract.model_validate({
    "table": "shop.wide", "comment": "What is it's", "primary_key": ["id"], "columns": {
        "id": {"type": "bigint unsigned"}, "big": {"type": "decimal(65,30)"}, "half": {"type": "decimal(38,10)"},
        "small": {"type": "decimal(38,9)"}, "part": {"type": "decimal(38,38)"}, "fine": {"type": "timestamp(6)"},
        "finer": {"type": "timestamp(9)"}, "made": {"type": "datetime(6)"}, "day": {"type": "date"},
        "photo": {"type": "blob"}, "rate": {"type": "double", "comment": "don't\nguess; \\' --"},
    },
})  # fmt: skip


def layout_of(table, shape=FLAT, zone=None):
    parameters = {} if zone is None else {"timestamp_zone": zone}
    return canonical_table(VERSION, table, ReadingOptions(parameters=parameters), shape)


def columns_of(name, layout):
    """Return the columns of a statement by name, with the SQL of their types as sqlglot writes it."""
    (statement,) = sqlglot.parse(warehouse_ddl(name, layout, WIDE), read=name)
    assert isinstance(statement, exp.Create)
    return {
        one.name: one.kind.sql(dialect=name)
        for one in statement.find_all(exp.ColumnDef)
        if one.parent is statement.this
    }


TYPES = {
    "bigquery": {
        "id": "NUMERIC(20, 0)", "big": "STRING", "half": "BIGNUMERIC(38, 10)", "small": "NUMERIC(38, 9)",
        "part": "BIGNUMERIC(38, 38)", "fine": "TIMESTAMP", "finer": "STRING", "made": "DATETIME", "day": "DATE",
        "photo": "BYTES", "rate": "FLOAT64",
    },
    "snowflake": {
        "id": "DECIMAL(20, 0)", "big": "VARCHAR", "half": "DECIMAL(38, 10)", "small": "DECIMAL(38, 9)",
        "part": "DECIMAL(38, 38)", "fine": "TIMESTAMPLTZ(6)", "finer": "VARCHAR", "made": "TIMESTAMPNTZ(6)", "day": "DATE",
        "photo": "BINARY", "rate": "DOUBLE",
    },
    "clickhouse": {
        "id": "Nullable(Decimal(20, 0))", "big": "Nullable(String)", "half": "Nullable(Decimal(38, 10))",
        "small": "Nullable(Decimal(38, 9))", "part": "Nullable(Decimal(38, 38))", "fine": "Nullable(DateTime64(6, 'UTC'))",
        "finer": "Nullable(String)", "made": "Nullable(String)", "day": "Nullable(String)", "photo": "Nullable(String)",
        "rate": "Nullable(Float64)",
    },
    "starrocks": {
        "id": "DECIMAL(20, 0)", "big": "STRING", "half": "DECIMAL(38, 10)", "small": "DECIMAL(38, 9)",
        "part": "DECIMAL(38, 38)", "fine": "DATETIME", "finer": "STRING", "made": "DATETIME", "day": "DATE",
        "photo": "VARBINARY", "rate": "DOUBLE",
    },
    "doris": {
        "id": "DECIMAL(20, 0)", "big": "STRING", "half": "DECIMAL(38, 10)", "small": "DECIMAL(38, 9)",
        "part": "DECIMAL(38, 38)", "fine": "DATETIME(6)", "finer": "STRING", "made": "DATETIME(6)", "day": "DATE",
        "photo": "STRING", "rate": "DOUBLE",
    },
}  # fmt: skip
"""By hand, from the documents of the warehouses."""


@pytest.mark.parametrize("name", TYPES)
def test_every_type_holds_the_column_exactly_or_is_text(name):
    assert TYPES.keys() == {name for name, one in WAREHOUSES.items() if one.annotated}
    found = columns_of(name, layout_of(WIDE, zone="+08:00"))
    assert {column: found[column] for column in TYPES[name]} == TYPES[name]
    assert not any(word in found["big"].upper() for word in ("FLOAT", "DOUBLE"))


@pytest.mark.parametrize("name", TYPES)
def test_a_comment_says_what_is_text_and_what_a_name_has_become(name):
    head = warehouse_ddl(name, layout_of(WIDE, zone="+08:00"), WIDE).partition("CREATE TABLE")[0]
    assert "-- big: decimal(65,30) is text" in head
    assert "-- finer: timestamp(9) is text" in head
    assert ("-- day: text, for ClickHouse 25" in head) == (name == "clickhouse")
    assert ("-- photo: text as Base64" in head) == (name == "doris")
    assert ("-- fine: a moment, as its date and time in UTC." in head) == (name in ("starrocks", "doris"))
    assert ("-- _partition: the column is __partition here" in head) == (name == "bigquery")


@pytest.mark.parametrize("shape", [NESTED, FLAT])
@pytest.mark.parametrize("table", [TABLE, ODD, WIDE], ids=["orders", "odd", "wide"])
@pytest.mark.parametrize("name", TYPES)
def test_sqlglot_reads_every_statement_with_all_columns_and_writes_it_the_same_again(name, table, shape):
    layout = layout_of(table, shape)
    text = warehouse_ddl(name, layout, table)
    (statement,) = sqlglot.parse(text, read=name)
    (again,) = sqlglot.parse(statement.sql(dialect=name), read=name)
    assert again.sql(dialect=name) == statement.sql(dialect=name)
    columns = [one.name for one in statement.find_all(exp.ColumnDef) if one.parent is statement.this]
    assert len(columns) == len(layout.arrow) == len({one.casefold() for one in columns})
    if table is TABLE and name != "bigquery":
        assert sorted(columns) == sorted(layout.arrow.names)


def test_names_with_backslashes_and_in_three_parts_are_those_of_the_source_where_the_database_takes_them():
    table = TableContract.model_validate({"table": "shop.dbo.t", "columns": {"a\\`b": {"type": "int"}}})
    assert list(columns_of("clickhouse", layout_of(table)))[-1] == "a\\`b"
    assert list(columns_of("snowflake", layout_of(table)))[-1] == "a\\`b"
    assert list(columns_of("doris", layout_of(table)))[-1] == "a__b"
    starts = {
        name: warehouse_ddl(name, layout_of(table)).partition("CREATE TABLE ")[2].partition(" (")[0] for name in TYPES
    }
    assert (starts["snowflake"], starts["clickhouse"]) == ('"shop"."dbo"."t"', "`shop`.`dbo_t`")


def test_the_key_of_starrocks_and_doris_is_the_first_columns_and_none_of_them_is_null():
    for name in ("starrocks", "doris"):
        text = warehouse_ddl(name, layout_of(TABLE))
        lines = [line.strip() for line in text.partition("(\n")[2].splitlines()[:4]]
        assert [line.split("`")[1] for line in lines] == ["_topic", "_partition", "_offset", "_row_index"]
        assert all(" NOT NULL" in line for line in lines)
        assert "DUPLICATE KEY (`_topic`, `_partition`, `_offset`, `_row_index`)" in text


@pytest.mark.parametrize("shape", [NESTED, FLAT])
@pytest.mark.parametrize("table", [TABLE, ODD, WIDE], ids=["orders", "odd", "wide"])
def test_the_schema_of_delta_is_that_of_the_rows_in_spark(table, shape):
    from pyspark.sql.types import StructType

    layout = layout_of(table, shape, zone="+08:00")
    read = StructType.fromJson(delta_schema(layout))
    assert read.simpleString() == spark_schema(layout.arrow).simpleString()
    assert [one.nullable for one in read] == [one.nullable for one in spark_schema(layout.arrow)]


@pytest.mark.parametrize("shape", [NESTED, FLAT])
def test_the_schema_of_iceberg_has_every_id_once_and_names_that_iceberg_takes(shape):
    layout = layout_of(WIDE, shape, zone="+08:00")
    schema = iceberg_schema(layout)
    ids = []

    def walk(value):
        if isinstance(value, dict):
            ids.extend(value[key] for key in ("id", "element-id", "key-id", "value-id") if key in value)
            for one in value.values():
                walk(one)
        elif isinstance(value, list):
            for one in value:
                walk(one)

    walk(schema)
    assert sorted(ids) == list(range(1, len(ids) + 1))
    names = [one["name"] for one in schema["fields"]]
    assert "__partition" in names
    assert "_partition" not in names
    columns = schema["fields"] if shape == FLAT else schema["fields"][-1]["type"]["fields"]
    types = {one["name"]: one["type"] for one in columns}
    assert (types["id"], types["half"], types["big"]) == ("decimal(20, 0)", "decimal(38, 10)", "string")
    assert (types["fine"], types["made"], types["photo"], types["day"]) == (
        "timestamptz",
        "timestamp",
        "binary",
        "date",
    )
    assert pa.types.is_decimal(layout_of(WIDE).arrow.field("id").type)


@pytest.mark.parametrize("shape", [NESTED, FLAT])
def test_sources_of_dbt_test_what_no_row_lacks_and_that_no_two_share_their_coordinates(shape):
    document = yaml.safe_load(dbt_sources(WIDE, layout_of(WIDE, shape)))
    (source,) = document["sources"]
    (table,) = source["tables"]
    assert (source["name"], table["name"]) == ("shop", "wide")
    columns = {one["name"]: one for one in table["columns"]}
    assert list(columns) == layout_of(WIDE, shape).arrow.names
    assert columns["_op"]["data_tests"] == [
        "not_null", {"accepted_values": {"values": ["insert", "update", "delete", "snapshot", "upsert"]}},
    ]  # fmt: skip
    assert [name for name, one in columns.items() if "not_null" in one.get("data_tests", ())] == [
        one.name for one in layout_of(WIDE, shape).arrow if not one.nullable
    ]
    assert "_row_index" in table["data_tests"][0]["unique"]["column_name"]


@pytest.mark.one_in(8)
@pytest.mark.parametrize("version", list(CATALOGUE.all_versions()), ids=str)
def test_a_document_of_asyncapi_refuses_and_accepts_what_the_schema_of_messages_does(version, part):
    schema = bound_schema(version, TABLE, ReadingOptions())
    document = yaml.load(asyncapi_document(version, schema, "orders"), LOADER)
    assert document["channels"]["changes"]["address"] == "orders"
    payload = document["components"]["schemas"]["change"]["schema"]
    text = json.dumps(payload).replace("#/components/schemas/change/schema", "#")
    validator = jsonschema_rs.Draft7Validator(json.loads(text))
    whole = jsonschema_rs.Draft202012Validator(schema)
    examples = document["components"]["messages"]["change"]["examples"]
    assert examples
    for one in examples:
        assert validator.is_valid(one["payload"])
        for name in part(one["payload"], 3):
            changed = {**one["payload"], name: {"other": [name]}}
            assert validator.is_valid(changed) == whole.is_valid(changed)
