from cdc_contracts.registry.authoring.lint.lint_rule import Faults, LintFault, lint_rule
from cdc_contracts.registry.authoring.lint.lint_run import LintRun
from cdc_contracts.registry.core.common.findings import ERROR


@lint_rule(
    ERROR,
    says="Checks that the discriminators of a subject reject the samples of all others except `not_separable_from`.",
    why="Messages of another product would be read as this one's and yield wrong values without an error.",
    good="[{present: /id}, {present: /isDdl}]",
    bad="[{present: /type}], which two subjects have",
)
def other_samples_are_refused(run: LintRun) -> Faults:
    for version, other, sample in run.claimed:
        apart = run.meanings[version.reference].not_separable_from
        if other.subject in apart:
            continue
        if run.is_under_lint(version):
            file = version.folder.joinpath("contract.yaml")
            observed = f"sample {sample.name} of {other} taken"
            yield LintFault(file, "the samples of other subjects refused", observed, ("discriminators",))
        elif version.subject not in run.meanings[other.reference].not_separable_from:
            yield LintFault(sample.file, f"refused by the discriminators of {version}", "taken")
