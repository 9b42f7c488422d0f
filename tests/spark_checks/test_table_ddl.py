"""The DDL of a table's rows in a real Spark: the table is made, and holds what decode writes with the same types."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from both_paths import CATALOGUE
from decoded_rows import decoded_rows

from cdc_contracts.registry.core.contract.table_contracts import TableContract
from cdc_contracts.registry.core.generate.event_streams import ORDERS
from cdc_contracts.registry.core.tables.schemas.warehouse_sql import warehouse_ddl

TABLE = TableContract.model_validate({
    "table": "ddl_of_shop.orders",
    "columns": {**{name: {"type": reported} for name, reported in ORDERS.types.items()}, "back`tick and 'quote'": {"type": "int"}},
})  # fmt: skip


@pytest.mark.parametrize("name", ["oms-community/default@2", "oms/debezium@1"])
def test_spark_makes_the_table_and_reads_into_it_what_decode_wrote(spark, name, tmp_path):
    layout, rows = decoded_rows(CATALOGUE.version(name), TABLE)
    pq.write_table(pa.Table.from_batches([rows]), tmp_path / "rows.parquet")
    spark.sql("CREATE DATABASE IF NOT EXISTS ddl_of_shop")
    try:
        spark.sql(warehouse_ddl("spark-ddl", layout).removesuffix(";\n"))
        wrote = spark.read.parquet(str(tmp_path / "rows.parquet"))
        wrote.write.insertInto("ddl_of_shop.orders")  # by position
        reported = spark.table("ddl_of_shop.orders")
        assert [(one.name, one.dataType.simpleString()) for one in reported.schema] == [
            (one.name, one.dataType.simpleString()) for one in wrote.schema
        ]
        kept = reported.orderBy("_topic", "_partition", "_offset").collect()
        assert kept == wrote.orderBy("_topic", "_partition", "_offset").collect()
        assert len(kept) == rows.num_rows
    finally:
        spark.sql("DROP DATABASE ddl_of_shop CASCADE")
