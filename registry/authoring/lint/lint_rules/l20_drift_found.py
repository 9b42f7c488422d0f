from cdc_contracts.registry.authoring.lint.lint_rule import Faults, lint_rule
from cdc_contracts.registry.authoring.lint.lint_run import LintRun
from cdc_contracts.registry.authoring.lint.lint_samples import expectation_of, find_difference, validated_samples
from cdc_contracts.registry.core.common.findings import ERROR


@lint_rule(
    ERROR,
    says="Checks that every drift sample gives exactly the outcome and findings in its .findings.json.",
    why="A contract that accepts messages it should reject finds no drift: this tests that drift is reported.",
    good='{"outcome": "drifted", …} for a message that drifts',
    bad='{"outcome": "drifted", …} for a message that conforms',
)
def drifts_are_found(run: LintRun) -> Faults:
    from cdc_contracts.registry.core.generate.contract_samples import findings_document, statistics_document

    for sample, validated in validated_samples(run, drifts=True):
        yield from find_difference(sample, findings_document(validated))
    for sample, tally in run.tallies:
        yield from find_difference(sample, statistics_document(tally, expectation_of(sample)))
