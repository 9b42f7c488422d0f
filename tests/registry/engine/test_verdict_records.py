"""Groups of records that break different forms but get one verdict are counted as one."""

from record_batches import batch_of
from rule_violations import scope_of
from topics import rendered
from written_reports import build_report

from cdc_contracts.registry.core.contract.catalogue import shipped_catalogue
from cdc_contracts.registry.core.engine import fast_validator
from cdc_contracts.registry.core.engine.group.record_grouping import group_records
from cdc_contracts.registry.core.engine.group.verdict_records import join_groups, records_of_group
from cdc_contracts.registry.core.engine.kernel import Kernel
from cdc_contracts.registry.core.stats.tally import Tally

DECLARED = "oms-community/canal@1"
PARTITIONS = 2


def newer_records(total):
    """Records of the next version, of which most break some of the forms declared."""
    values = rendered("oms-community/canal@2", total)
    return [(place % PARTITIONS, place // PARTITIONS, value) for place, value in enumerate(values)]


def test_groups_that_break_different_forms_are_counted_once_for_each_verdict(monkeypatch):
    by_forms = []

    def group_and_keep(*given):
        by_forms.extend(found := group_records(*given))
        return found

    monkeypatch.setattr(fast_validator, "group_records", group_and_keep)
    batch = batch_of(newer_records(600))
    ((part, result),) = Kernel(scope_of(DECLARED)).batch_results(batch)
    groups = [records_of_group(one, part, values=False) for one in result.group_results]
    joined = join_groups(groups)
    found = [(one.verdict, one.table, one.op) for one in joined if one.verdict.findings]
    assert len(found) == len(set(found))
    assert len(joined) <= len(groups) < len(by_forms) / 2
    assert sorted(number for one in joined for number in one.numbers.tolist()) == list(range(600))


def test_a_report_on_joined_groups_is_that_of_every_record_by_itself():
    records, kernel = newer_records(200), Kernel(scope_of(DECLARED))
    one_by_one = Tally()
    for record in records:
        one_by_one.merge(kernel.audit(batch_of([record])))
    assert report_of(kernel.audit(batch_of(records))) == report_of(one_by_one)


def report_of(tally):
    return build_report(
        tally, catalogue=shipped_catalogue(), contract=DECLARED, source={"kind": "kafka"}, spans={}, fail_on="error"
    )
