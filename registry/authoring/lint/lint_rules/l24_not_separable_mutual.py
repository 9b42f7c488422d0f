from cdc_contracts.registry.authoring.lint.lint_rule import Faults, LintFault, lint_rule
from cdc_contracts.registry.authoring.lint.lint_run import LintRun
from cdc_contracts.registry.core.common.findings import ERROR


@lint_rule(
    ERROR,
    says="Checks that subjects that cannot be told apart by messages list each other, and that a sample shows this. "
    "A subject that is not linted in the same run, such as a shipped one, need not list the other.",
    why="`detect` reports both contracts, whichever it starts from, and only if they really overlap.",
    good="each of two subjects names the other",
    bad="only one of two names the other",
)
def not_separable_is_mutual(run: LintRun) -> Faults:
    taken = {(version.subject, other.subject) for version, other, _ in run.claimed}
    for version in run.versions:
        meaning = run.meanings.get(version.reference)
        for index, subject in enumerate(meaning.not_separable_from if meaning else ()):
            file, parts = version.folder.joinpath("contract.yaml"), ("not_separable_from", str(index))
            if subject not in run.catalogue.subjects() or subject == version.subject:
                yield LintFault(file, "another subject", subject, parts)
                continue
            theirs = [run.meanings.get(other.reference) for other in run.catalogue.versions(subject)]
            edited = any(run.is_under_lint(other) for other in run.catalogue.versions(subject))
            if edited and not any(other and version.subject in other.not_separable_from for other in theirs):
                yield LintFault(file, f"{subject} names {version.subject} too", "it does not", parts)
            if not {(version.subject, subject), (subject, version.subject)} & taken:
                yield LintFault(file, f"samples that {version.subject} and {subject} both take", "none", parts)
