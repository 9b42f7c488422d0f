"""Findings of many topics and tables: what is alike is one finding, and few words name all of its tables."""

from collections import Counter

import pytest
from topics import CATALOGUE
from written_reports import build_report, report_of

from cdc_contracts.registry.core.common.errors import UsageError
from cdc_contracts.registry.core.common.findings import Finding
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.contract.table_contracts import TableContracts
from cdc_contracts.registry.core.contract.table_families import TableFamilies, name_together
from cdc_contracts.registry.core.report.audit_report import Span
from cdc_contracts.registry.core.report.finding_wording import subject_line, table_words
from cdc_contracts.registry.core.report.html_page import render_page
from cdc_contracts.registry.core.stats.finding_tallies import Extent, FindingTally
from cdc_contracts.registry.core.stats.partition_tallies import Moment, PartitionTally, Source
from cdc_contracts.registry.core.stats.tally import Tally
from cdc_contracts.registry.core.validate.validation_context import open_validation

SHARDS = TableFamilies({"orders": "orders_[0-9]{4}"})
CONTRACT = "dts/canal@2"


def tally_of(topic, tables):
    """One message of each table in a topic, each with the same finding."""
    source = Source(topic, 0)
    tally = Tally(partitions={source: PartitionTally(read=len(tables), quarantined=len(tables))})
    for offset, table in enumerate(tables):
        at = Moment(topic, 0, offset, None)
        found = Finding("D04", "unknown-field", "warning", "/x", "no such member", "number")
        tally.readable[table] = 4
        counts = {"expected": Counter(["no such member"]), "contracts": Counter([CONTRACT])}
        tally.add_finding(found, table, FindingTally("warning", **counts, extents={source: Extent(1, at, at)}))
    return tally


def audited(topic, tables, families=SHARDS):
    reported = {"kind": "kafka", "bootstrap": "h:1", "topics": [topic], "ranges": {}, "blank_lines": 0}
    context = open_validation(CATALOGUE, CONTRACT, ReadingOptions(tables=TableContracts(families=families)))
    asked = {"catalogue": CATALOGUE, "contract": CONTRACT, "validation": context, "fail_on": "warning"}
    tally = tally_of(topic, tables)
    return report_of(build_report(tally, source=reported, spans={Source(topic, 0): Span(0, len(tables))}, **asked))


def test_what_all_shards_have_is_one_finding_with_their_tables_counted():
    (found,) = audited("t", [f"shop.orders_{number:04}" for number in range(12)]).findings
    assert (found.count, found.denominator, found.table) == (12, 48, None)
    assert [(one.table, one.count, one.denominator, one.family) for one in found.tables][:2] == [
        ("shop.orders_0000", 1, 4, "orders"), ("shop.orders_0001", 1, 4, "orders"),
    ]  # fmt: skip
    assert (subject_line(found), table_words(found)) == ("orders (12 tables) /x", "orders (12 tables)")


def test_shards_and_another_table_are_counted_together_and_named_apart():
    (found,) = audited("t", ["shop.carts", *(f"shop.orders_{number:04}" for number in range(12))]).findings
    assert (subject_line(found), table_words(found)) == ("13 tables /x", "orders (12 tables), shop.carts")


def test_the_largest_groups_of_tables_are_named_first_and_in_the_order_of_their_numbers():
    tables = [("users", None), *((f"log_{number}", None) for number in (10, 9, 8)), ("cart_1", None), ("cart_2", None)]
    shards = [(f"orders_{number:04}", "orders") for number in range(1024)]
    assert name_together([*tables, *shards]) == [
        "orders (1,024 tables)", "log_8 … log_10 (3 tables)", "users", "cart_1", "cart_2",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("table", "family"),
    [
        ("orders_0007", "orders"),
        ("shop.orders_0007", "orders"),
        ("orders_00070", None),
        ("old_orders_0007", None),
        ("orders", None),
    ],
)
def test_a_family_has_the_tables_whose_whole_name_matches_with_or_without_its_database(table, family):
    assert SHARDS.family_of(table) == family


def test_a_family_that_is_no_pattern_is_refused_by_its_name():
    with pytest.raises(UsageError, match="not a regular expression") as refused:
        TableFamilies({"orders": "orders_("})
    assert refused.value.where == "families, orders"


def test_a_page_about_a_hundred_thousand_tables_is_a_page():
    """What the report cannot list it counts; the page says how many tables, never all of their names."""
    report = audited("t", [f"shop.orders_{number:05}" for number in range(100_000)], TableFamilies())
    (found,) = report.findings
    assert (len(found.tables), report.findings_other.records) == (50_000, 50_000)
    assert table_words(found) == "shop.orders_00000 … shop.orders_49999 (50,000 tables)"
    page = render_page(report)
    assert len(page) < 40_000
    assert "There were more findings than the 1 that are kept; the others occurred 50,000 times." in page


def test_names_are_ordered_by_their_numbers_however_many_digits_they_have():
    long = "9" * 5_000
    named = name_together([(f"t_{digits}", None) for digits in ("10", "9", "010", long, "1")])

    assert named == [f"t_1 … t_{long} (5 tables)"]
