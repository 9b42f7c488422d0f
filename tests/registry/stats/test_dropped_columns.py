"""A column that a statement of the topic dropped, but that is still sent: reported from the first row after that."""

import os
import pickle
import random
from itertools import pairwise, permutations

import pytest
from record_batches import batch_of
from topics import CATALOGUE, rendered
from version_switches import audited
from written_reports import build_report

from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.engine.kernel import Kernel
from cdc_contracts.registry.core.generate.event_streams import ORDERS
from cdc_contracts.registry.core.generate.rendering import Renderer
from cdc_contracts.registry.core.generate.source_events import Event
from cdc_contracts.registry.core.stats.ddl_statements import Statement, altered_table, dropped_columns
from cdc_contracts.registry.core.stats.partition_tallies import Source
from cdc_contracts.registry.core.stats.read_offsets import ReadOffsets
from cdc_contracts.registry.core.stats.reference_tally import account
from cdc_contracts.registry.core.stats.tally import Tally
from cdc_contracts.registry.core.validate.described_contexts import open_detected
from cdc_contracts.registry.core.validate.validation_context import DetectedSubjects, open_validation

AT = 70
SEEDS = 8 if os.environ.get("CDC_CONTRACTS_MUTATIONS", "some") != "some" else 4
WITH_STATEMENTS = ["dts/canal@2", "oms-community/canal@2", "drs/json@2", "oms-community/default@2", "dts/avro@1"]


def stating(reference, *statements, count=120):
    """A stream with statements at offsets of it."""
    values = rendered(reference, count)
    renderer = Renderer(CATALOGUE.version(reference), ReadingOptions())
    for offset, text in statements:
        values[offset] = renderer.render(
            Event("ddl", ORDERS, position=str(offset + 1), ddl_text=text, ddl_type="ALTER")
        )
    return [(0, offset, value) for offset, value in enumerate(values)]


def reported(tally, reference):
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


@pytest.mark.one_in(2)
@pytest.mark.parametrize("size", [7, 50, 1000])
@pytest.mark.parametrize("reference", WITH_STATEMENTS)
def test_a_column_that_is_sent_after_it_was_dropped_is_one_finding_with_its_first_row(reference, size):
    records = stating(reference, (AT, "ALTER TABLE orders DROP COLUMN note"))
    expected = [("D11.dropped-column", "warning", "note", "shop.orders", 49, AT + 1)]
    assert reported(audited(records, reference, ReadingOptions(), size=size), reference) == expected
    validation = open_validation(CATALOGUE, reference, ReadingOptions())
    slow = account(validation, Source("orders", 0), [(offset, value) for _, offset, value in records])
    assert reported(slow, reference) == expected


def test_the_order_in_which_parts_of_a_partition_come_hides_nothing():
    records = stating("dts/canal@2", (AT, "ALTER TABLE `shop`.`orders` DROP COLUMN `note`, DROP INDEX x"))
    kernel = Kernel(open_validation(CATALOGUE, "dts/canal@2", ReadingOptions()))
    bounds = [0, 30, 60, 71, 90, 120]
    parts = [pickle.dumps(kernel.audit(batch_of(records[start:stop]))) for start, stop in pairwise(bounds)]
    for order in permutations(parts):
        total = Tally()
        for part in order:
            total.merge(pickle.loads(part))
        assert reported(total, "dts/canal@2") == [("D11.dropped-column", "warning", "note", "shop.orders", 49, AT + 1)]


DROPPED_TWICE = [
    (20, "ALTER TABLE orders DROP COLUMN note"),
    (40, "ALTER TABLE orders ADD COLUMN note text"),
    (60, "CREATE TABLE other (id int)"),
    (80, "ALTER TABLE orders DROP COLUMN note"),
    (100, "ALTER TABLE orders DROP COLUMN IF EXISTS note"),
]


@pytest.mark.parametrize("read", [range(120), [offset for offset in range(120) if offset % 7 or offset % 10 == 0]])
def test_small_parts_in_any_order_and_any_grouping_give_the_same_first_row_and_count(read):
    """With every offset there, and with gaps that nobody read."""
    records = [record for record in stating("dts/canal@2", *DROPPED_TWICE) if record[1] in set(read)]
    expected = len({*range(21, 40), *range(81, 100), *range(101, 120)} & set(read))
    kernel = Kernel(open_validation(CATALOGUE, "dts/canal@2", ReadingOptions()))
    states = []
    for seed in range(SEEDS):
        draw = random.Random(seed)
        tallies = [kernel.audit(batch_of(part)) for part in cut_at_gaps(records, draw)]
        draw.shuffle(tallies)
        while len(tallies) > 1:
            one = tallies.pop(draw.randrange(len(tallies)))
            tallies[draw.randrange(len(tallies))].merge(one)
        (total,) = tallies
        assert reported(total, "dts/canal@2") == [
            ("D11.dropped-column", "warning", "note", "shop.orders", expected, 22 if 21 not in read else 21)
        ]
        states.append(total.statistics.shapes)
    assert states == states[:1] * len(states)


def cut_at_gaps(records, draw):
    """Parts of one to five records, each without a gap."""
    parts = [records[:1]]
    for record in records[1:]:
        if record[1] == parts[-1][-1][1] + 1 and len(parts[-1]) < draw.randint(1, 5):
            parts[-1].append(record)
        else:
            parts.append([record])
    return parts


def test_nothing_is_kept_apart_where_no_statement_lies_and_every_offset_was_read():
    records = [(0, offset, value) for offset, value in enumerate(rendered("dts/canal@2", 120))]
    kernel = Kernel(open_validation(CATALOGUE, "dts/canal@2", ReadingOptions()))
    parts = [records[start : start + 10] for start in range(0, 120, 10)]
    total = Tally()
    for part in random.Random(3).sample(parts, len(parts)):
        total.merge(kernel.audit(batch_of(part)))
    shapes = total.statistics.shapes
    assert (shapes.eras, shapes.offsets) == ({}, {("orders", 0): ReadOffsets([(0, 119)])})


def test_rows_that_lie_between_records_of_another_subject_are_parted_at_its_statements():
    """One batch, in which the statement is told by another dialect than the rows are."""
    rows = rendered("dts/canal@2", 40)
    ddl = Event("ddl", ORDERS, position="21", ddl_text="ALTER TABLE orders DROP COLUMN note", ddl_type="ALTER")
    rows[20] = Renderer(CATALOGUE.version("drs/json@2"), ReadingOptions()).render(ddl)
    validation = open_detected(
        CATALOGUE, DetectedSubjects(("dts/canal", "drs/json"), ("dts/canal@2",)), ReadingOptions()
    )
    tally = Kernel(validation).audit(batch_of([(0, offset, value) for offset, value in enumerate(rows)]))
    assert ("D11.dropped-column", "warning", "note", "shop.orders", 19, 21) in reported(tally, "dts/canal@2")


def test_partitions_come_in_any_order():
    one = stating("dts/canal@2", (AT, "ALTER TABLE orders DROP COLUMN note"))
    records = [(partition, offset, value) for partition in range(4) for _, offset, value in one]
    for order in (records, [*records[240:], *records[:240]], sorted(records, key=lambda record: record[1])):
        (found,) = reported(audited(list(order), "dts/canal@2", ReadingOptions(), size=77), "dts/canal@2")
        assert found == ("D11.dropped-column", "warning", "note", "shop.orders", 4 * 49, AT + 1)


def test_a_column_that_is_added_again_or_of_another_table_is_not_reported():
    for statements in (
        [(AT, "ALTER TABLE orders DROP COLUMN note"), (AT + 1, "ALTER TABLE orders ADD COLUMN note text")],
        [(AT, "ALTER TABLE returns DROP COLUMN note")],
        [(AT, "ALTER TABLE orders DROP INDEX note")],
        [(119, "ALTER TABLE orders DROP COLUMN note")],
    ):
        records = stating("dts/canal@2", *statements)
        assert reported(audited(records, "dts/canal@2", ReadingOptions()), "dts/canal@2") == []


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
def test_statements_name_what_they_drop(text, table, columns):
    statement = Statement("orders", 0, 1, None, None, text)
    assert (altered_table(statement), dropped_columns(statement)) == (table, columns)
