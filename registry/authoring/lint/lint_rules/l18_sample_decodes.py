from cdc_contracts.registry.authoring.lint.lint_rule import Faults, lint_rule
from cdc_contracts.registry.authoring.lint.lint_run import LintRun
from cdc_contracts.registry.authoring.lint.lint_samples import HOLDING, find_difference, validated_samples
from cdc_contracts.registry.core.common.findings import ERROR


@lint_rule(
    ERROR,
    says="Checks that every sample decodes to exactly the changes in its .change.json.",
    why="This shows a changed value form, image or time zone: a value is no longer read as before.",
    good='"after": {"total": "12.10"} for the number 12.10',
    bad='"after": {"total": "12.1"} for the number 12.10',
)
def samples_decode(run: LintRun) -> Faults:
    from cdc_contracts.registry.core.generate.contract_samples import changes_document

    for sample, validated in validated_samples(run, drifts=False):
        if validated.verdict.outcome in HOLDING:
            yield from find_difference(sample, changes_document(validated))
