"""Columns added by DDL messages: to the right tables, under the names used in rows."""

import pyarrow as pa
import pytest

from cdc_contracts.registry.core.contract.table_families import NO_FAMILIES
from cdc_contracts.registry.core.records.output_schemas import CONTROL_SCHEMA
from cdc_contracts.registry.core.stats.observed_columns import TableName
from cdc_contracts.registry.core.tables.canonical.added_columns import DdlStatement, added_columns, ddl_statements

ORDERS, OTHERS = TableName("shop", None, "orders"), TableName("other", None, "orders")
KNOWN = {ORDERS: ["id", "NOTE"], OTHERS: ["id"], TableName("shop", None, "users"): ["id"]}


@pytest.mark.parametrize(
    ("database", "text", "added"),
    [
        ("shop", "ALTER TABLE orders ADD COLUMN weight decimal(8,3)", {ORDERS: {"weight": "decimal(8,3)"}}),
        ("shop", "ALTER TABLE `Orders` ADD note varchar(9)", {ORDERS: {"NOTE": "varchar(9)"}}),
        (None, "alter table other.orders add a int", {OTHERS: {"a": "int"}}),
        ("shop", "alter table other.orders add a int", {OTHERS: {"a": "int"}}),
        ("third", "alter table orders add a int", {}),
        ("shop", "alter table returns add a int", {}),
        ("shop", "drop table orders", {}),
        ("shop", "alter table orders add a int; alter table users add b int",
         {ORDERS: {"a": "int"}, TableName("shop", None, "users"): {"b": "int"}}),
        ("shop", "'; no statement at all (", {}),
    ],
)  # fmt: skip
def test_a_statement_adds_columns_to_the_table_it_means(database, text, added):
    assert added_columns([DdlStatement(database, None, "orders", text)], KNOWN, NO_FAMILIES) == added


def test_statements_are_those_of_ddl_messages_with_a_text():
    rows = [("ddl", "alter table orders add a int"), ("ddl", None), ("heartbeat", "alter"), ("ddl", "x")]
    control = pa.RecordBatch.from_pylist(
        [
            {"contract": "dts/canal@2", "kind": kind, "database": "shop", "table": "orders", "ddl_text": text,
             "topic": "t", "partition": 0, "offset": number}
            for number, (kind, text) in enumerate(rows)
        ],
        schema=CONTROL_SCHEMA,
    )  # fmt: skip
    reported = list(ddl_statements(control))
    assert reported == [DdlStatement("shop", None, "orders", text) for text in ("alter table orders add a int", "x")]
