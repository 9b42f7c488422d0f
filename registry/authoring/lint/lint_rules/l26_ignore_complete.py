from cdc_contracts.registry.authoring.lint.ignore_comments import FORM
from cdc_contracts.registry.authoring.lint.lint_rule import Faults, lint_rule
from cdc_contracts.registry.authoring.lint.lint_run import LintRun
from cdc_contracts.registry.authoring.lint.suppressions import fault_of, is_ignorable
from cdc_contracts.registry.core.common.findings import ERROR


@lint_rule(
    ERROR,
    says="Checks that every ignore comment names a rule that may be ignored, a last day and a reason.",
    why="A finding that is ignored forever or without a reason is never reviewed again.",
    good="# cdc-contracts: ignore L21 until 2027-01-31 because the vendor shows no sample",
    bad="# cdc-contracts: ignore L21",
    ignorable=False,
)
def ignores_are_complete(run: LintRun) -> Faults:
    for one in run.ignores:
        if one.problem:
            yield fault_of(one, FORM, one.problem)
        elif not is_ignorable(one.rule):
            yield fault_of(one, "the id of a rule that may be ignored", one.rule)
