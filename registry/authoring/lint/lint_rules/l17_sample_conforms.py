from typing import Final

from cdc_contracts.registry.authoring.lint.lint_rule import Faults, LintFault, lint_rule
from cdc_contracts.registry.authoring.lint.lint_run import LintRun
from cdc_contracts.registry.authoring.lint.lint_samples import HOLDING, NOWHERE, expectation_of, validated_samples
from cdc_contracts.registry.core.common.findings import ERROR

_SHOWN: Final = 3


@lint_rule(
    ERROR,
    says="Checks that every sample conforms to its version; a message without a row is allowed if no change is "
    "expected.",
    why="Samples are taken from the document: if one is rejected, the contract or the sample is wrong.",
    good="an INSERT with its row",
    bad="an INSERT without a row, in samples/",
)
def samples_conform(run: LintRun) -> Faults:
    for sample, validated in validated_samples(run, drifts=False):
        expected = expectation_of(sample)
        wanted = "control" if expected == [] else "conforming"
        if validated.verdict.outcome != wanted and not (expected is NOWHERE and validated.verdict.outcome in HOLDING):
            findings = [f"{one.rule} {one.path}".strip() for one in validated.verdict.findings[:_SHOWN]]
            yield LintFault(
                sample.file, wanted, ": ".join([validated.verdict.outcome, ", ".join(findings)]).rstrip(": ")
            )
