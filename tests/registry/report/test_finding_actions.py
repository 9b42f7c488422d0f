"""What a finding says to do: of a rule across fields what the rule says, in a report as for one message."""

import pytest
from topics import CATALOGUE

import cdc_contracts as cdc
from cdc_contracts.registry.core.generate.contract_samples import find_samples
from cdc_contracts.registry.core.validate.drift_rule import drift_rules

CASES = [
    (reference, sample.name, sample.value)
    for reference in ("debezium/flat-schema@2", "dts/canal@2", "oms-community/default@2")
    for sample in find_samples(CATALOGUE.version(reference)).drifts
    if any(one["rule"].startswith("D09.") for one in sample.expected()["findings"])
]


@pytest.mark.parametrize(("reference", "name", "value"), CASES, ids=lambda one: one if isinstance(one, str) else "")
def test_a_finding_across_fields_says_to_do_what_its_rule_says(reference, name, value):
    report = cdc.contract(reference).check_batch([value])

    found = {one.rule: one.action for one in report.findings if one.drift_class == "cross-field"}
    assert found == {rule: drift_rules()[rule.removeprefix("D09.")].action for rule in found}
    assert found


def test_null_behind_a_schema_names_the_parameter_that_reads_it_as_a_deletion():
    (sample,) = [
        one for one in find_samples(CATALOGUE.version("debezium/flat-schema@2")).drifts
        if one.name.endswith("deletion-as-null-payload")
    ]  # fmt: skip
    report = cdc.contract("debezium/flat-schema@2").check_batch([sample.value])

    assert ["--parameter null_values=deletion" in one.action for one in report.findings if one.severity == "error"] == [
        True
    ]
