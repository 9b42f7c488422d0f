from cdc_contracts.registry.authoring.lint.lint_rule import Faults, LintFault, lint_rule
from cdc_contracts.registry.authoring.lint.lint_run import LintRun
from cdc_contracts.registry.core.common.findings import ERROR


@lint_rule(
    ERROR,
    says="Checks that `control_of` names other subjects of the catalogue, none of which has a `control_of` of its own.",
    why="Messages without rows of a subject that is not found would be messages of another dialect, or taken for rows.",
    good="control_of: [acme/plain]",
    bad="control_of: [acme/plane]",
)
def control_is_of_others(run: LintRun) -> Faults:
    for version in run.versions:
        meaning = run.meanings.get(version.reference)
        for index, subject in enumerate(meaning.control_of if meaning else ()):
            file, parts = version.folder.joinpath("contract.yaml"), ("control_of", str(index))
            if subject == version.subject or subject not in run.catalogue.subjects():
                yield LintFault(file, "another subject", subject, parts)
            elif any(one.meaning.control_of for one in run.catalogue.versions(subject)):
                yield LintFault(file, "a subject without `control_of`", subject, parts)
