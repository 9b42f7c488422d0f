"""Tables that are left out stay in the ledger."""

import pyarrow as pa
import pytest
from topics import rendered, scope_of
from written_reports import build_report

from cdc_contracts.registry.core.common.errors import LedgerError
from cdc_contracts.registry.core.contract.table_selection import Selection
from cdc_contracts.registry.core.engine.kernel import Kernel
from cdc_contracts.registry.core.report.audit_report import Span
from cdc_contracts.registry.core.stats.partition_tallies import PartitionTally, Source
from cdc_contracts.registry.core.stats.tally import Tally

T = Source("t", 0)


@pytest.mark.parametrize(
    ("include", "exclude", "table", "taken"),
    [
        ((), (), "shop.orders", True),
        (("orders",), (), "shop.orders", True),
        (("shop.orders",), (), "shop.orders", True),
        (("shop.*",), (), "shop.orders", True),
        (("order",), (), "shop.orders", False),
        (("Orders",), (), "shop.orders", False),
        (("shop.orders",), (), "shop.public.orders", True),
        (("public.orders",), (), "shop.public.orders", True),
        (("orders_[0-9]",), (), "shop.orders_7", True),
        ((), ("orders",), "shop.orders", False),
        (("shop.*",), ("*.visits",), "shop.visits", False),
        (("shop.*",), ("*.visits",), "shop.orders", True),
        (("shop.*",), ("*",), None, True),
    ],
)
def test_globs_are_held_against_every_way_to_name_a_table(include, exclude, table, taken):
    assert Selection(include, exclude).takes(table) is taken


def audited(values, selection):
    kernel = Kernel(scope_of("oms-community/canal@2", selection=selection))
    columns = {
        "value": pa.array(values, pa.binary()), "topic": ["t"] * len(values), "partition": [0] * len(values),
        "offset": list(range(len(values))),
    }  # fmt: skip
    tally = kernel.audit(pa.RecordBatch.from_pydict(columns))
    return build_report(
        tally, catalogue=kernel.validation.catalogue, contract="oms-community/canal@2",
        source={"kind": "kafka"}, spans={T: Span(0, len(values))}, fail_on="warning",
    )  # fmt: skip


def test_records_of_other_tables_are_counted_and_nothing_is_found_in_them():
    orders = rendered("oms-community/canal@2", 50)
    drifted = [b'{"shard":3,' + value[1:].replace(b'"orders"', b'"visits"') for value in orders[:20]]
    values = [*orders, *drifted, None, b"x"]
    report = audited(values, Selection(exclude=("visits",)))
    ledger = report["ledger"]
    assert {name: ledger[name] for name in ("read", "conforming", "tombstone", "quarantined", "excluded")} == {
        "read": 72, "conforming": 50, "tombstone": 1, "quarantined": 1, "excluded": 20,
    }  # fmt: skip
    heavy = [(one["class"], one["denominator"]) for one in report["findings"] if one["severity"] != "info"]
    assert heavy == [("malformed", 51)]
    both = audited(values, Selection())
    assert {one["class"] for one in both["findings"]} >= {"malformed", "unknown-field"}
    assert both["ledger"]["excluded"] == 0


def test_a_run_that_judges_no_record_is_inconclusive():
    report = audited(rendered("oms-community/canal@2", 9), Selection(include=("nothing",)))
    assert (report["verdict"], report["ledger"]["excluded"], report["versions_seen"]) == (
        "inconclusive", 9, {"oms-community/canal@1": 0, "oms-community/canal@2": 0},
    )  # fmt: skip


def test_excluded_records_are_part_of_what_has_to_add_up():
    tally = Tally(partitions={T: PartitionTally(read=3, conforming=2, excluded=2)})
    with pytest.raises(LedgerError):
        build_report(
            tally, catalogue=scope_of("dts/canal@2").catalogue, contract="dts/canal@2", source={"kind": "kafka"},
            spans={}, fail_on="warning",
        )  # fmt: skip
