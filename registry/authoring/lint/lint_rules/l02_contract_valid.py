from cdc_contracts.registry.authoring.lint.lint_documents import show_short
from cdc_contracts.registry.authoring.lint.lint_rule import Faults, LintFault, lint_rule
from cdc_contracts.registry.authoring.lint.lint_run import LintRun
from cdc_contracts.registry.core.common.findings import ERROR
from cdc_contracts.registry.core.contract.catalogue import Version


@lint_rule(
    ERROR,
    says="Checks that a contract, merged with its base, uses only keys and values of the contract vocabulary.",
    why="An unknown key has no effect: messages are validated as if it were not there.",
    good="event_time: {at: /es, form: epoch-millis}",
    bad="event_time: {at: /es, form: milliseconds}",
)
def contracts_keep_to_the_vocabulary(run: LintRun) -> Faults:
    for version in run.versions:
        file = version.folder.joinpath("contract.yaml")
        for parts, problem, found in run.model_faults.get(version.reference, []):
            if not _is_inherited(run, version, parts):
                yield LintFault(file, _lower(problem), show_short(found), parts)


def _is_inherited(run: LintRun, version: Version, parts: tuple[str, ...]) -> bool:
    """Return whether the same fault is in a base of the version, and is reported there."""
    base = version.base
    if base is None or not run.is_under_lint(base):
        return False
    return any(parts == other for other, _, _ in run.model_faults.get(base.reference, []))


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]
