"""The schemas of a table's rows are run: DuckDB makes the table, models and records hold rows that decode made."""

from __future__ import annotations

import io
import json
import sys
import types
from importlib.resources import files

import avro.schema
import duckdb
import fastavro
import jsonschema_rs
import pyarrow as pa
import pyarrow.parquet as pq
import pydantic
import pytest
import yaml
from both_paths import CATALOGUE
from decoded_rows import decoded_rows
from registry_tables import ODD
from registry_tables import ORDERS_TABLE as TABLE

from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.contract.table_contracts import TableContract
from cdc_contracts.registry.core.tables.canonical.layout_resolution import canonical_table
from cdc_contracts.registry.core.tables.canonical.table_layouts import FLAT, NESTED
from cdc_contracts.registry.core.tables.schemas.avro_row import COLUMN, avro_row_schema
from cdc_contracts.registry.core.tables.schemas.odcs import odcs_document
from cdc_contracts.registry.core.tables.schemas.pydantic_model import pydantic_module
from cdc_contracts.registry.core.tables.schemas.warehouse_sql import warehouse_ddl

VERSIONS = list(CATALOGUE.all_versions())
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
SOME = [CATALOGUE.version(name) for name in ("oms-community/default@1", "dts/canal@2", "oms/debezium@1", "oms/avro@1")]


def plain(batch):
    """Return rows as Python objects; maps as dicts."""
    return [{**row, "_raw": dict(row["_raw"])} for row in batch.to_pylist()]


def module_of(text):
    module = types.ModuleType("rows_of_a_table")
    sys.modules[module.__name__] = module
    exec(compile(text, "rows.py", "exec"), module.__dict__)
    return module


@pytest.mark.one_in(4)
@pytest.mark.parametrize("version", SOME, ids=str)
@pytest.mark.parametrize("table", [TABLE, ODD], ids=["orders", "odd"])
@pytest.mark.parametrize("zone", ["+08:00", None])
def test_duckdb_makes_the_table_and_reads_into_it_what_decode_wrote(version, table, zone, tmp_path):
    layout, rows = decoded_rows(version, table, zone=zone)
    pq.write_table(pa.Table.from_batches([rows]), tmp_path / "rows.parquet")
    with duckdb.connect() as database:
        parts = [part for part in layout.name if part]
        if len(parts) > 1:
            database.execute(f'CREATE SCHEMA "{parts[0]}"')
        database.execute(warehouse_ddl("duckdb", layout))
        name = ".".join(f'"{part}"' for part in parts)
        database.execute(f"INSERT INTO {name} SELECT * FROM read_parquet('{tmp_path}/rows.parquet')")
        reported = database.execute(f"SELECT column_name, column_type FROM (DESCRIBE {name})").fetchall()
        wrote = database.execute(
            f"SELECT column_name, column_type FROM (DESCRIBE SELECT * FROM read_parquet('{tmp_path}/rows.parquet'))"
        ).fetchall()
        held = database.execute(f"SELECT count(*), count(after) FROM {name}").fetchone()
    assert reported == wrote  # the types are those of the file, to the digit
    assert held[0] == rows.num_rows
    assert held[1] > 0


@pytest.mark.one_in(4)
@pytest.mark.parametrize("version", SOME, ids=str)
@pytest.mark.parametrize("table", [TABLE, ODD], ids=["orders", "odd"])
@pytest.mark.parametrize("zone", ["+08:00", None])
def test_the_module_of_models_holds_what_decode_wrote_and_nothing_else(version, table, zone):
    layout, rows = decoded_rows(version, table, zone=zone)
    module = module_of(pydantic_module(layout))
    for row in plain(rows):
        read = module.Row.model_validate(row)
        assert read.model_dump(by_alias=True) == row
        with pytest.raises(pydantic.ValidationError, match="frozen"):
            read.op = "other"
        with pytest.raises(pydantic.ValidationError):
            module.Row.model_validate({**row, "_offset": "1"})
        with pytest.raises(pydantic.ValidationError):
            module.Row.model_validate({**row, "other": 1})


@pytest.mark.one_in(4)
@pytest.mark.filterwarnings(
    "ignore:Unknown local-timestamp-micros"
)  # it is in Avro 1.10, but not in its Python library
@pytest.mark.parametrize("version", SOME, ids=str)
@pytest.mark.parametrize("table", [TABLE, ODD], ids=["orders", "odd"])
@pytest.mark.parametrize("zone", ["+08:00", None])
def test_avro_records_hold_what_decode_wrote(version, table, zone):
    layout, rows = decoded_rows(version, table, zone=zone)
    schema = avro_row_schema(layout)
    assert avro.schema.parse(json.dumps(schema)).fullname == f"cdc_contracts.rows.{schema['name']}"
    image = next(field for field in schema["fields"] if field["name"] == "before")["type"][1]
    names = {field.get(COLUMN, field["name"]): field["name"] for field in image["fields"]}
    assert list(names) == [column.name for column in layout.columns]
    parsed = fastavro.parse_schema(schema)
    for row in plain(rows):
        for side in ("before", "after"):
            row[side] = row[side] and {names[name]: value for name, value in row[side].items()}
        out = io.BytesIO()
        fastavro.schemaless_writer(out, parsed, row)
        out.seek(0)
        assert fastavro.schemaless_reader(out, parsed, None) == row


@pytest.mark.filterwarnings("ignore:Unknown local-timestamp-micros")
@pytest.mark.parametrize("version", SOME[:2], ids=str)
@pytest.mark.parametrize("table", [TABLE, ODD], ids=["orders", "odd"])
def test_flat_rows_are_held_by_records_models_and_tables_of_their_schemas(version, table, tmp_path):
    layout, rows = decoded_rows(version, table, shape=FLAT)
    module, schema = module_of(pydantic_module(layout)), avro_row_schema(layout)
    assert avro.schema.parse(json.dumps(schema)).fullname == f"cdc_contracts.rows.{schema['name']}"
    names = {field.get(COLUMN, field["name"]): field["name"] for field in schema["fields"]}
    assert list(names) == layout.arrow.names
    parsed = fastavro.parse_schema(schema)
    for row in plain(rows):
        assert module.Row.model_validate(row).model_dump(by_alias=True) == row
        out, renamed = io.BytesIO(), {names[name]: value for name, value in row.items()}
        fastavro.schemaless_writer(out, parsed, renamed)
        out.seek(0)
        assert fastavro.schemaless_reader(out, parsed, None) == renamed
    pq.write_table(pa.Table.from_batches([rows]), tmp_path / "rows.parquet")
    with duckdb.connect() as database:
        database.execute("CREATE SCHEMA shop")
        database.execute(warehouse_ddl("duckdb", layout))
        name = ".".join(f'"{part}"' for part in layout.name if part)
        database.execute(f"INSERT INTO {name} SELECT * FROM read_parquet('{tmp_path}/rows.parquet')")
        reported, wrote = (
            database.execute(f"SELECT column_name, column_type FROM (DESCRIBE {what})").fetchall()
            for what in (name, f"SELECT * FROM read_parquet('{tmp_path}/rows.parquet')")
        )
    assert reported == wrote


def test_avro_has_decimals_and_moments_as_logical_types():
    schema = avro_row_schema(canonical_table(CATALOGUE.version("oms-community/default@2"), TABLE, ReadingOptions()))
    image = next(field for field in schema["fields"] if field["name"] == "before")["type"][1]
    types_ = {field["name"]: field["type"][1] for field in image["fields"]}
    assert types_["id"] == {"type": "bytes", "logicalType": "decimal", "precision": 20, "scale": 0}  # bigint unsigned
    assert types_["total"] == {"type": "bytes", "logicalType": "decimal", "precision": 20, "scale": 2}
    assert types_["seen"] == {"type": "long", "logicalType": "timestamp-micros"}
    assert types_["made"] == {"type": "long", "logicalType": "local-timestamp-micros"}
    assert types_["day"] == {"type": "int", "logicalType": "date"}
    assert (types_["at"], types_["photo"], types_["rate"]) == ("string", "bytes", "double")


@pytest.mark.one_in(4)
@pytest.mark.parametrize("version", VERSIONS, ids=str)
def test_documents_of_odcs_are_valid_by_the_schema_of_the_standard(version, part):
    pytest.importorskip("open_data_contract_standard", reason="its JSON Schema comes with the package of the standard")
    schema = json.loads(files("open_data_contract_standard").joinpath("schema.json").read_text(encoding="utf-8"))
    assert schema["properties"]["apiVersion"]["default"] == "v3.1.0"
    standard = jsonschema_rs.validator_for(schema)
    for table, shape in part([(TABLE, NESTED), (ODD, NESTED), (TABLE, FLAT), (ODD, FLAT)], 3):
        layout = canonical_table(version, table, ReadingOptions(), shape)
        document = yaml.load(odcs_document(version, table, layout), LOADER)
        standard.validate(document)
        (reported,) = document["schema"]
        assert [one["name"] for one in reported["properties"]] == layout.arrow.names
        for image in reported["properties"][-2:] if shape == NESTED else ():
            assert [one["name"] for one in image["properties"]] == list(table.columns)


def test_a_document_of_odcs_describes_the_table_that_decode_writes_with_the_bounds_of_source_types():
    version = CATALOGUE.version("oms-community/default@2")
    document = yaml.safe_load(odcs_document(version, TABLE, canonical_table(version, TABLE, ReadingOptions())))
    assert document["servers"][0]["path"] == "tables/shop.orders/*/*.parquet"
    (reported,) = document["schema"]
    columns = {one["name"]: one for one in reported["properties"]}
    assert (columns["_op"]["required"], columns["after"]["required"], columns["_raw"]["physicalType"]) == (
        True,
        False,
        "map",
    )
    own = {one["name"]: one for one in columns["before"]["properties"]}
    assert own["id"]["logicalTypeOptions"] == {"minimum": 0}  # bigint unsigned: its maximum needs more than 64 bits
    assert own["seen"]["logicalTypeOptions"] == {"timezone": True, "defaultTimezone": "UTC"}


def test_a_decimal_of_more_digits_than_tables_hold_stays_text_in_every_language():
    table = TableContract.model_validate({"table": "shop.wide", "columns": {"amount": {"type": "decimal(65,30)"}}})
    layout = canonical_table(CATALOGUE.version("oms-community/default@2"), table, ReadingOptions())
    assert "`after` STRUCT<`amount`: STRING>" in warehouse_ddl("spark-ddl", layout)
    assert '"after" STRUCT("amount" VARCHAR)' in warehouse_ddl("duckdb", layout)
    assert "amount: Annotated[str | None, Field(description='decimal(65,30)')]" in pydantic_module(layout)
