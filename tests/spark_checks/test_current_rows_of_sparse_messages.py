"""Current rows of messages that leave out NULL: what a column is that a change lacks."""

import json

import pytest
from topics import CATALOGUE

from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.tables.canonical.table_layouts import TableName
from cdc_contracts.registry.core.validate.validation_context import open_validation
from cdc_contracts.spark_checks.decoding import Output, decode_input
from cdc_contracts.spark_checks.engines.spark_engine import SparkEngine
from cdc_contracts.spark_checks.inputs.file_inputs import read_files
from cdc_contracts.spark_checks.kafka.offsets import parse_range
from cdc_contracts.spark_checks.tables.lakehouse.current_rows import lacking_columns
from cdc_contracts.spark_checks.tables.lakehouse.lakehouse_tables import open_lakehouse
from cdc_contracts.spark_checks.tables.lakehouse.table_identifiers import CURRENT


def row_change(type_, xid, data, **old):
    """A message of Maxwell, with the names of the key."""
    head = {"database": "shop", "table": "orders", "type": type_, "ts": 1718000000 + xid, "xid": xid, "commit": True}
    return json.dumps({**head, "primary_key_columns": ["id"], "data": data, **old})


MESSAGES = [
    row_change("insert", 1, {"id": 1, "name": "pear", "qty": 10}),
    row_change("insert", 2, {"id": 2, "name": "plum", "qty": 20}),
    row_change("insert", 3, {"id": 3, "name": "fig", "qty": 30}),
    # The name of row 1 becomes NULL, that of row 2 another one; of row 3 the log has the quantity alone.
    row_change("update", 4, {"id": 1, "qty": 10}, old={"name": "pear"}),
    row_change("update", 5, {"id": 2, "name": "date", "qty": 20}, old={"name": "plum"}),
    row_change("update", 6, {"id": 3, "qty": 31}, old={"qty": 30}),
    # Row 2 loses both, one after the other.
    row_change("update", 7, {"id": 2, "name": "date"}, old={"qty": 20}),
    row_change("update", 8, {"id": 2}, old={"name": "date"}),
    row_change("insert", 9, {"id": 4}),
]  # fmt: skip
KEPT = [("1", "pear", "10", []), ("2", "date", "20", []), ("3", "fig", "31", []), ("4", None, None, ["name", "qty"])]
NULLED = [("1", None, "10", []), ("2", None, None, []), ("3", "fig", "31", []), ("4", None, None, ["name", "qty"])]


@pytest.mark.parametrize("row_columns", ["all", "some"])
def test_contracts_say_what_a_column_is_that_a_change_lacks(row_columns):
    """Those whose rows may lack columns do so always: rows of earlier runs may have lacked them."""
    found = lacking_columns(CATALOGUE, ReadingOptions(parameters={"row_columns": row_columns}))
    asked = dict.fromkeys(("maxwell/json@1", "maxwell/json@2"), "null-if-in-before") if row_columns == "some" else {}
    assert found == {"aws-dms/json@1": "null-or-empty", **asked}


@pytest.mark.parametrize(
    ("row_columns", "expected"),
    [("some", NULLED), pytest.param("all", KEPT, marks=pytest.mark.nightly)],
)
def test_a_column_that_only_the_former_values_have_became_null_where_rows_may_lack_columns(
    spark, tmp_path, row_columns, expected
):
    """A column that neither image has stays as it was: the log of the source may have changed columns alone."""
    out, path = str(tmp_path / "out"), tmp_path / "a.jsonl"
    path.write_text("\n".join(MESSAGES))
    validation = open_validation(CATALOGUE, "maxwell/json@2", ReadingOptions(parameters={"row_columns": row_columns}))
    tables = open_lakehouse("iceberg", out, catalogue=validation.catalogue, options=validation.reading_options)
    decode_input(
        SparkEngine(spark), read_files([path], parse_range(), tasks=1), validation, Output(out, tables), fail_on="error"
    )
    found = spark.table(tables.addresses.find(CURRENT, TableName("shop", None, "orders"))).collect()
    assert sorted((row["id"], row["name"], row["qty"], sorted(row["_absent"])) for row in found) == expected
