from cdc_contracts.registry.common.findings import ERROR
from cdc_contracts.registry.lint.lint_rule import Faults, LintFault, lint_rule
from cdc_contracts.registry.lint.lint_run import LintRun


@lint_rule(
    ERROR,
    says="Checks that every file of samples/ is a message with its expectation beside it.",
    why="A message without expectation proves nothing; an expectation without message is proof that was lost.",
    good="insert.json and insert.change.json",
    bad="insert.json alone",
)
def samples_are_paired(draft: LintRun) -> Faults:
    for version in draft.versions:
        for file in draft.samples[version.reference].strays:
            yield LintFault(
                file, "NAME.json with NAME.change.json, or in drift/ with NAME.findings.json", "one half only"
            )
