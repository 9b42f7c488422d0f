from cdc_contracts.registry.authoring.lint.lint_rule import Faults, LintFault, lint_rule
from cdc_contracts.registry.authoring.lint.lint_run import LintRun
from cdc_contracts.registry.core.common.findings import ERROR


@lint_rule(
    ERROR,
    says="Checks that the discriminators of a subject hold for all of its own samples.",
    why="`detect` and `auto` use them: a contract that does not recognize its own messages is never found.",
    good="{present: /id}, and every sample has an id",
    bad="{present: /id}, and a sample has none",
)
def own_samples_are_claimed(run: LintRun) -> Faults:
    for version in run.versions:
        if version.reference not in run.meanings:
            continue
        for sample, message in run.messages[version.reference]:
            if not run.claims(version, message):
                yield LintFault(sample.file, f"the discriminators of {version} hold", "one does not")
