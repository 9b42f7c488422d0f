"""Control messages by which tables lose rows: which are kept of a run, and which table each is about."""

import pyarrow as pa
import pytest

from cdc_contracts.registry.core.contract.table_families import NO_FAMILIES
from cdc_contracts.registry.core.records.output_schemas import CONTROL_SCHEMA
from cdc_contracts.registry.core.stats.observed_columns import TableName
from cdc_contracts.registry.core.tables.canonical.table_resets import (
    Resets,
    TableReset,
    meant_tables,
    read_control,
)

ORDERS, OTHERS = TableName("shop", None, "orders"), TableName("other", None, "orders")


def control(*rows, ddl_type=None):
    made = [
        {"contract": "dts/canal@2", "kind": kind, "database": "shop", "table": table, "ddl_text": text, "ddl_type": ddl_type,
         "topic": "t", "partition": 0, "offset": number, "position": str(90 - number)}
        for number, (kind, table, text) in enumerate(rows)
    ]  # fmt: skip
    return pa.RecordBatch.from_pylist(made, schema=CONTROL_SCHEMA)


def reset(*table, offset=0, position=None, database="shop", partition=0):
    return TableReset(
        database, None, table, "TRUNCATE", emptied=True, contract="a/b@1", topic="t", partition=partition,
        offset=offset, position=position,
    )  # fmt: skip


def test_a_table_is_emptied_by_a_message_of_that_kind_or_by_the_text_of_a_statement():
    rows = control(
        ("heartbeat", "orders", "truncate table orders"),
        ("truncate", "orders", None),
        ("truncate", None, "truncate table sold"),
        ("truncate", None, "a statement of kind TRUNCATE"),
        ("ddl", "orders", "drop table orders; rename table a to b"),
        ("ddl", "orders", "alter table orders add a int"),
        ("ddl", "orders", None),
    )
    assert [(one.offset, one.table, one.statement, one.emptied) for one in read_control(rows)] == [
        (1, ("orders",), "TRUNCATE", True),
        (2, ("sold",), "TRUNCATE", True),
        (3, (), "TRUNCATE", False),
        (4, ("orders",), "DROP TABLE", True),
        (4, ("a",), "RENAME", False),
        (4, ("b",), "RENAME", False),
    ]
    (typed,) = read_control(control(("ddl", "orders", "in words that nobody knows"), ddl_type="TRUNCATE_TABLE"))
    assert (typed.table, typed.emptied) == (("orders",), True)
    (first, *_) = read_control(rows)
    assert (first.position, first.order({"dts/canal@2"}), first.order({"dts/canal@1"})) == ("89", 89, None)
    assert first.text == "TRUNCATE of orders (t/0@1)"


def test_of_each_table_and_partition_the_last_and_the_first_of_the_highest_are_kept_however_a_run_is_cut():
    reported = [reset("a", offset=number, position=str(position)) for number, position in enumerate([3, 10, 9, 10, 1])]
    reported += [reset("a", offset=0, partition=1), reset("b", offset=9)]
    whole, parts = Resets(), [Resets(), Resets()]
    whole.note(reported)
    for number, one in enumerate(reported):
        parts[number % 2].note([one])
    parts[1].merge(parts[0])
    assert whole.all() == parts[1].all()
    assert set(whole.all()) == {reported[1], reported[4], reported[5], reported[6]}


@pytest.mark.parametrize(
    ("statement", "meant"),
    [
        (reset("orders"), [ORDERS]),
        (reset("ORDERS"), [ORDERS]),
        (reset("other", "orders"), [OTHERS]),
        (reset("orders", database=None), [ORDERS, OTHERS]),
        (reset("order"), []),
        (reset(), []),
    ],
)
def test_a_statement_is_about_the_table_it_names(statement, meant):
    assert meant_tables(statement, [ORDERS, OTHERS], NO_FAMILIES) == meant
    twins = [TableName("shop", None, "Orders"), ORDERS]
    assert meant_tables(reset("Orders"), twins, NO_FAMILIES) == twins[:1]
    assert meant_tables(reset("ORDERS"), twins, NO_FAMILIES) == twins
