from itertools import pairwise

from cdc_contracts.registry.authoring.lint.lint_links import contract_file
from cdc_contracts.registry.authoring.lint.lint_rule import Faults, LintFault, lint_rule
from cdc_contracts.registry.authoring.lint.lint_run import LintRun
from cdc_contracts.registry.core.common.contract_references import is_release_or_date, release_order
from cdc_contracts.registry.core.common.findings import ERROR
from cdc_contracts.registry.core.contract.catalogue import Version
from cdc_contracts.registry.core.contract.document_model import Applies


@lint_rule(
    ERROR,
    says="Checks that the version ranges of a subject follow each other without gaps or overlaps.",
    why="`@2024-06-01` must resolve to one version: in a gap there is none, in an overlap there are two.",
    good='until: "3.3.0" in @1 and since: "3.3.0" in @2',
    bad='until: "3.3.0" in @1 and since: "3.4.0" in @2',
)
def versions_follow_each_other(run: LintRun) -> Faults:
    """The ranges of a subject's versions are of one kind, run forward, and leave no hole and no overlap.

    A version without an end ends where the next one begins, so that a new version changes no published one.
    """
    for subject in run.catalogue.subjects():
        versions = run.catalogue.versions(subject)
        known = [(one, run.meanings[one.reference].applies) for one in versions if one.reference in run.meanings]
        ordered = []
        for version, applies in known:
            faults = list(_broken_range(version, applies))
            yield from (fault for fault in faults if run.is_under_lint(version))
            if not faults:
                ordered.append((version, applies))
        for (earlier, before), (later, after) in pairwise(ordered):
            yield from _broken_step(run, earlier, before, later, after)


def _broken_range(version: Version, applies: Applies) -> Faults:
    bounds = {"since": applies.since, "until": applies.until}
    for name, bound in bounds.items():
        if bound is not None and not is_release_or_date(bound):
            yield LintFault(
                contract_file(version), "a date YYYY-MM-DD or a release such as 3.3.0", bound, ("applies", name)
            )
            return
    since, until = applies.since, applies.until
    if since is None or until is None:
        return
    if ("-" in since) != ("-" in until):
        yield LintFault(
            contract_file(version), "two dates or two releases", f"{since} and {until}", ("applies", "until")
        )
    elif release_order(since) >= release_order(until):
        yield LintFault(contract_file(version), f"an end after {since}", until, ("applies", "until"))


def _broken_step(run: LintRun, earlier: Version, before: Applies, later: Version, after: Applies) -> Faults:
    if not run.is_under_lint(later):
        return
    if after.since is None:
        yield LintFault(contract_file(later), f"since, where {earlier} ends", "none", ("applies",))
    elif before.until is not None and before.until != after.since:
        expected = f"{before.until}, where {earlier} ends"
        yield LintFault(contract_file(later), expected, after.since, ("applies", "since"))
    elif before.until is None and before.since is not None and not _is_later(after.since, before.since):
        expected = f"after {before.since}, where {earlier} begins"
        yield LintFault(contract_file(later), expected, after.since, ("applies", "since"))


def _is_later(bound: str, other: str) -> bool:
    """Return whether a date is later than another, or a release than another."""
    return ("-" in bound) == ("-" in other) and release_order(bound) > release_order(other)
