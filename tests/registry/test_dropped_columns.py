"""A column that a statement of the topic dropped and that is still sent: told since the first row behind the statement."""

import random
from itertools import pairwise

import pytest
from topics import CATALOGUE, rendered
from turning import audited, batch_of

from cdc_contracts.registry.accounting import account
from cdc_contracts.registry.kernel.kernel import Kernel
from cdc_contracts.registry.rendering import Event, Renderer
from cdc_contracts.registry.report import build_report
from cdc_contracts.registry.scope import open_scope
from cdc_contracts.registry.statements import Statement, altered_table, dropped_columns
from cdc_contracts.registry.streams import ORDERS
from cdc_contracts.registry.tally import Source, Tally
from cdc_contracts.registry.terms import Terms

AT = 70
WITH_STATEMENTS = ["dts/canal@2", "oms-community/canal@2", "drs/json@2", "oms-community/default@2", "dts/avro@1"]


def stating(reference, *statements, count=120):
    """A stream with statements at offsets of it."""
    values = rendered(reference, count)
    renderer = Renderer(CATALOGUE.version(reference), Terms())
    for offset, text in statements:
        values[offset] = renderer.render(
            Event("ddl", ORDERS, position=str(offset + 1), ddl_text=text, ddl_type="ALTER")
        )
    return [(0, offset, value) for offset, value in enumerate(values)]


def told(tally, reference):
    report = build_report(
        tally, catalogue=CATALOGUE, contract=reference, source={"kind": "file"}, spans={}, fail_on="warning"
    )
    return [
        (
            one["rule"],
            one["severity"],
            one["path"].rpartition("/")[2],
            one["table"],
            one["count"],
            one["first"]["offset"],
        )
        for one in report["findings"]
        if one["severity"] != "info"
    ]


@pytest.mark.parametrize("size", [7, 50, 1000])
@pytest.mark.parametrize("reference", WITH_STATEMENTS)
def test_a_column_that_is_sent_after_it_was_dropped_is_one_finding_with_its_first_row(reference, size):
    records = stating(reference, (AT, "ALTER TABLE orders DROP COLUMN note"))
    expected = [("D11.dropped-column", "warning", "note", "shop.orders", 49, AT + 1)]
    assert told(audited(records, reference, Terms(), size=size), reference) == expected
    scope = open_scope(CATALOGUE, reference, Terms())
    slow = account(scope, Source("orders", 0), [(offset, value) for _, offset, value in records])
    assert told(slow, reference) == expected


def test_the_order_in_which_parts_of_a_partition_come_hides_nothing():
    records = stating("dts/canal@2", (AT, "ALTER TABLE `shop`.`orders` DROP COLUMN `note`, DROP INDEX x"))
    kernel = Kernel(open_scope(CATALOGUE, "dts/canal@2", Terms()))
    bounds = [0, 30, 60, 71, 90, 120]
    parts = [records[start:stop] for start, stop in pairwise(bounds)]
    for seed in range(12):
        total = Tally()
        for part in random.Random(seed).sample(parts, len(parts)):
            total.merge(kernel.audit(batch_of(part)))
        ((rule, _, column, table, _, first),) = told(total, "dts/canal@2")
        assert (rule, column, table, first > AT) == ("D11.dropped-column", "note", "shop.orders", True)


def test_partitions_come_in_any_order():
    one = stating("dts/canal@2", (AT, "ALTER TABLE orders DROP COLUMN note"))
    records = [(partition, offset, value) for partition in range(4) for _, offset, value in one]
    for order in (records, [*records[240:], *records[:240]], sorted(records, key=lambda record: record[1])):
        (found,) = told(audited(list(order), "dts/canal@2", Terms(), size=77), "dts/canal@2")
        assert found == ("D11.dropped-column", "warning", "note", "shop.orders", 4 * 49, AT + 1)


def test_a_column_that_is_added_again_or_of_another_table_is_not_told():
    for statements in (
        [(AT, "ALTER TABLE orders DROP COLUMN note"), (AT + 1, "ALTER TABLE orders ADD COLUMN note text")],
        [(AT, "ALTER TABLE returns DROP COLUMN note")],
        [(AT, "ALTER TABLE orders DROP INDEX note")],
        [(119, "ALTER TABLE orders DROP COLUMN note")],
    ):
        records = stating("dts/canal@2", *statements)
        assert told(audited(records, "dts/canal@2", Terms()), "dts/canal@2") == []


@pytest.mark.parametrize(
    ("text", "table", "columns"),
    [
        ("ALTER TABLE orders DROP COLUMN note", "orders", {"note"}),
        ("alter table `shop`.`Orders` drop `Note`, drop column b", "orders", {"note", "b"}),
        ('ALTER TABLE "SHOP"."ORDERS" DROP ("NOTE", B)', "orders", {"note", "b"}),
        ("ALTER TABLE orders DROP PRIMARY KEY, DROP INDEX a", "orders", set()),
        ("ALTER TABLE orders COMMENT 'DROP COLUMN note'", "orders", set()),
        ("DROP TABLE orders", "", set()),
    ],
)
def test_statements_tell_what_they_drop(text, table, columns):
    statement = Statement("orders", 0, 1, None, None, text)
    assert (altered_table(statement), dropped_columns(statement)) == (table, columns)
