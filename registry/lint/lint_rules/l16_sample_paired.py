from cdc_contracts.registry.common.findings import ERROR
from cdc_contracts.registry.lint.lint_rule import Faults, LintFault, lint_rule
from cdc_contracts.registry.lint.lint_run import LintRun


@lint_rule(
    ERROR,
    says="Checks that every file in samples/ is a message with its expected result, or belongs to one.",
    why="A message without its expected result proves nothing, and neither does a result without its message.",
    good="insert.json and insert.change.json",
    bad="insert.json alone",
)
def samples_are_paired(run: LintRun) -> Faults:
    for version in run.versions:
        for file in run.samples[version.reference].unpaired:
            yield LintFault(
                file, "NAME.json with NAME.change.json, or in drift/ with NAME.findings.json", "one half only"
            )
