"""`cdc-contracts schema --tables`: what it prints for one table, and what it says of bad input."""

from __future__ import annotations

import json

import pytest

from cdc_contracts.cli.app import main

ORDERS = """\
table: shop.orders
primary_key: [id]
columns:
  id: {type: bigint, nullable: false}
  total: {type: "decimal(12,2)"}
  paid: {type: timestamp(3), comment: when the money came}
"""
PLACES = "table: shop.places\ncolumns:\n  spot: {type: sdo_geometry}\n"


@pytest.fixture
def tables(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "tables"
    folder.mkdir()
    (folder / "orders.yaml").write_text(ORDERS)
    (folder / "places.yaml").write_text(PLACES)
    return folder


def printed(capsys, *words):
    assert main(["schema", *words]) == 0
    return capsys.readouterr().out


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    "subject",
    ["canal", "dataworks", "default", "default-extend-column-type", "shareplex"],
)
def test_two_bound_schemas_show_the_timestamps_of_3_3_0_by_a_message_also_where_messages_have_no_types(
    tables, capsys, subject
):
    for number in (1, 2):
        text = printed(capsys, f"oms-community/{subject}@{number}", "--tables", "tables", "--table", "shop.orders")
        (tables / f"v{number}.json").write_text(text)
    assert "epoch-seconds-integer" in (tables / "v1.json").read_text()
    assert "epoch-seconds-fraction" in (tables / "v2.json").read_text()
    assert main(["compat", str(tables / "v1.json"), str(tables / "v2.json"), "--json"]) == 1
    findings = json.loads(capsys.readouterr().out)["findings"]
    assert any(one["proof"] and '"paid"' in json.dumps(one["proof"]["message"]).replace("\\", "") for one in findings)


def test_the_tables_of_the_project_are_taken_from_its_file(tables, capsys):
    (tables.parent / "cdc-contracts.yaml").write_text("tables: tables\n")
    reported = json.loads(printed(capsys, "oms/default@2", "--table", "shop.orders"))
    assert reported["$id"] == "urn:cdc-contracts:oms:default:v2:table:shop.orders"
    assert reported["$defs"]["column-paid"]["$ref"] == "#/$defs/epoch-seconds-fraction"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--table", "shop.orders"], "there are no table contracts"),
        (["--tables", "tables"], "there are 2 table contracts"),
        (["--tables", "tables", "--table", "shop.none"], "there is no table contract for shop.none"),
        (["--tables", "tables", "--table", "shop.places"], "cannot carry the type sdo_geometry of column spot"),
        (["--tables", "nowhere"], "there is no file or folder nowhere"),
    ],
)
def test_bad_input_is_named_and_nothing_is_printed(tables, capsys, words, said):
    assert main(["schema", "oms/default@2", *words]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert said in " ".join(err.split())


@pytest.mark.parametrize(
    ("kind", "begins"),
    [
        ("avro-canonical", '{\n  "type": "record",\n  "name": "shop_orders"'),
        ("spark-ddl", "CREATE TABLE `shop`.`orders` ("),
        ("duckdb", 'CREATE TABLE "shop"."orders" ('),
        ("flink-ddl", "CREATE TABLE `shop`.`orders` ("),
        ("pydantic", '"""Rows of shop.orders as decode writes them."""'),
        ("python", '"""Rows of shop.orders as `change.row` has them, read under oms/default@2.'),
        ("odcs", "apiVersion: v3.1.0\nkind: DataContract\n"),
        ("bigquery", "-- _partition: the column is __partition here"),
        ("snowflake", 'CREATE TABLE "shop"."orders" ('),
        ("clickhouse", "-- _changed: it is empty where the file has NULL."),
        ("starrocks", "-- _event_time: a moment, as its date and time in UTC."),
        ("doris", "-- _event_time: a moment, as its date and time in UTC."),
        ("dbt", "version: 2\nsources:\n- name: shop\n"),
        ("iceberg", '{\n  "type": "struct",\n  "schema-id": 0,'),
        ("delta", '{\n  "type": "struct",\n  "fields": ['),
    ],
)
def test_the_rows_of_a_table_are_described_in_other_languages_and_those_of_no_table_are_not(
    tables, capsys, kind, begins
):
    words = ["--tables", "tables", "--table", "shop.orders", "--format", kind]
    assert printed(capsys, "oms/default@2", *words).startswith(begins)
    assert main(["schema", "oms/default@2", "--format", kind]) == 2
    assert f"{kind} describes the rows of a table" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("kind", "nested", "flat"),
    [
        ("odcs", "  - name: before\n", "  - name: total\n    logicalType: number"),
        ("duckdb", '"before" STRUCT(', '"total" DECIMAL(12, 2)'),
        ("avro-canonical", '"name": "before"', '"name": "total"'),
        ("pydantic", "before: Image | None", "class Row(BaseModel):"),
        ("delta", '"name": "before"', '"name": "_columns"'),
    ],
)
def test_the_layout_of_decode_is_that_of_every_schema_of_rows(tables, capsys, kind, nested, flat):
    words = ["oms/default@2", "--table", "shop.orders", "--tables", "tables", "--format", kind]
    whole, one = printed(capsys, *words), printed(capsys, *words, "--layout", "flat")
    assert nested in whole
    assert nested not in one
    assert flat in one
    assert "_columns" in one
    assert "_columns" not in whole


def test_a_document_of_asyncapi_names_the_topic_with_and_without_a_table(tables, capsys):
    for words in ([], ["--tables", "tables", "--table", "shop.orders"]):
        text = printed(capsys, "oms/default@2", *words, "--format", "asyncapi", "--topic", "orders")
        assert text.startswith("asyncapi: 3.0.0\n")
        assert "address: orders\n" in text
    assert "address: null\n" in printed(capsys, "oms/default@2", "--format", "asyncapi")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--format", "avro", "--layout", "flat"], "which have no layout"),
        (["--format", "avro", "--topic", "orders"], "--topic is a part of --format asyncapi"),
    ],
)
def test_options_of_other_formats_are_refused(tables, capsys, words, said):
    assert main(["schema", "oms/default@2", *words]) == 2
    assert said in " ".join(capsys.readouterr().err.split())


def test_tables_have_no_say_where_the_files_of_versions_are_written(tables, capsys):
    assert main(["schema", "--write", "contracts", "--tables", "tables"]) == 2
    assert "--write" in capsys.readouterr().err
