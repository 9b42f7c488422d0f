from cdc_contracts.registry.authoring.lint.lint_rule import Faults, lint_rule
from cdc_contracts.registry.authoring.lint.lint_run import LintRun
from cdc_contracts.registry.authoring.lint.suppressions import fault_of
from cdc_contracts.registry.core.common.findings import ERROR


@lint_rule(
    ERROR,
    says="Checks that no ignore comment has expired; after its last day the finding counts again.",
    why="The finding was to be fixed by that day.",
    good="until 2027-01-31, before that day is over",
    bad="until 2027-01-31, on 2027-02-01",
    ignorable=False,
)
def ignores_are_current(run: LintRun) -> Faults:
    for one in run.ignores:
        if not one.problem and one.is_over(run.today):
            yield fault_of(one, "a fix without the comment, or a later date", f"ignored until {one.until}")
