"""Options of a producer by range: each part of a topic is read by the options that its range states."""

from random import Random

import pytest
from option_messages import CONTRACT, message, options_of
from record_batches import batch_of
from topics import CATALOGUE

from cdc_contracts.registry.core.contract.version_files import parse_versions
from cdc_contracts.registry.core.engine.kernel import Kernel
from cdc_contracts.registry.core.stats.tally import Tally
from cdc_contracts.registry.core.validate.described_contexts import open_ranges
from cdc_contracts.registry.core.validate.pinned_contracts import open_pin, write_pin
from cdc_contracts.spark_checks.tasks.spark_tasks import describe_validation

PRECISE, STRING = ({"decimal.handling.mode": mode} for mode in ("precise", "string"))


def ranged(ranges, parameters=None):
    versions = parse_versions({"topics": {"orders": {0: ranges}}}, "v.yaml", CATALOGUE)
    return open_ranges(CATALOGUE, versions, options_of(parameters))


def changed_at(offset, first=PRECISE, second=STRING):
    return [
        {"to": offset, "contract": CONTRACT, "options": first},
        {"from": offset, "contract": CONTRACT, "options": second},
    ]


def prices(kernel, records):
    written = list(kernel.decode(batch_of(records)))
    rows = [row for one in written for row in one.changes.to_pylist()]
    refused = [row["offset"] for one in written for row in one.quarantine.to_pylist()]
    return {row["offset"]: dict(row["after"])["price"] for row in rows}, refused


TOPIC = [(0, offset, message("precise" if offset < 40 else "string")) for offset in range(80)]


def test_rows_are_read_across_a_change_of_an_option():
    assert prices(Kernel(ranged(changed_at(40))), TOPIC) == (dict.fromkeys(range(80), "12.59"), [])


def test_a_value_outside_the_options_of_its_range_is_quarantined_and_not_read_otherwise():
    read, refused = prices(Kernel(ranged(changed_at(30))), TOPIC)
    assert refused == [*range(30, 40)]
    assert read == {offset: "12.59" for offset in range(80) if offset not in refused}


def test_what_a_range_does_not_state_is_written_as_it_was_sent():
    read, refused = prices(Kernel(ranged([{"to": 40, "contract": CONTRACT}, changed_at(40)[1]])), TOPIC)
    assert (set(read.values()), refused) == ({"BOs=", "12.59"}, [])
    assert [read[offset] for offset in (39, 40)] == ["BOs=", "12.59"]


def test_an_option_of_a_range_goes_before_a_parameter_which_holds_where_the_range_says_nothing():
    ranges = [{"to": 40, "contract": CONTRACT}, changed_at(40)[1]]
    read, refused = prices(Kernel(ranged(ranges, PRECISE)), TOPIC)
    assert (read, refused) == (dict.fromkeys(range(80), "12.59"), [])


@pytest.mark.parametrize("cuts", [1, 7, 80])
def test_an_audit_by_range_does_not_depend_on_order_or_cuts(cuts):
    draw = Random(cuts)
    records = [*TOPIC]
    draw.shuffle(records)
    total, validation = Tally(), ranged(changed_at(36))
    for start in range(cuts):
        total.merge(Kernel(validation).audit(batch_of(records[start::cuts])))
    ((key, found),) = ((key, one) for key, one in total.findings.items() if key.name == "value-form")
    (extent,) = found.extents.values()
    assert (key.path, extent.first.offset, found.count) == ("/after/price", 36, 4)
    assert "decimal.handling.mode" not in {one.option for one in total.statistics.options.options()}


def test_options_of_ranges_are_part_of_a_run_and_reach_workers_and_checkpoints():
    one, other, bare = (ranged(changed_at(40, *both)) for both in ((PRECISE, STRING), (STRING, PRECISE), ({}, {})))
    assert len({one.fingerprint, other.fingerprint, bare.fingerprint}) == 3
    for again in (describe_validation(one).open(), open_pin(write_pin(one), "here")):
        assert (again.ranges, again.fingerprint) == (one.ranges, one.fingerprint)
        assert prices(Kernel(again), TOPIC) == prices(Kernel(one), TOPIC)
