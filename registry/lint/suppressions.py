"""Suppressions: lint of the comments that ignore findings, and what happens to the findings they are about."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final

from cdc_contracts.registry.compat.publication_rules import PUBLICATION_RULES
from cdc_contracts.registry.lint.ignore_comments import FORM, Ignore
from cdc_contracts.registry.lint.lint_rule import LintFault, LintFinding
from cdc_contracts.registry.lint.table_lint import TABLE_RULES

if TYPE_CHECKING:
    from cdc_contracts.registry.lint.lint_run import LintRun

_FAMILIES: Final = ("L", "T")
"""What the ids of these rules begin with: comments about others are not looked for here."""
_IGNORABLE: Final = frozenset({*(f"L{number:02}" for number in range(1, 26)), *(rule.id for rule in TABLE_RULES)})
"""The rules of lint, but those of this module and those of ids: what an id stands for is a promise without a date."""
_COMPARED: Final = frozenset(rule.id for rule in PUBLICATION_RULES)


def is_ignorable(rule: str) -> bool:
    """Say whether there is a rule of this id that a comment may ignore."""
    return rule in _IGNORABLE or rule in _COMPARED


def ignores_are_complete(draft: LintRun) -> Iterator[LintFault]:
    """Every comment that ignores a finding names a rule, a last day and a reason."""
    for one in draft.ignores:
        if one.problem:
            yield _fault(one, FORM, one.problem)
        elif not is_ignorable(one.rule):
            yield _fault(one, "the id of a rule that may be ignored", one.rule)


def ignores_are_current(draft: LintRun) -> Iterator[LintFault]:
    """No comment that ignores a finding is past its last day."""
    for one in draft.ignores:
        if not one.problem and one.is_over(draft.today):
            yield _fault(one, "a finding that is mended by now, or a new date", f"ignored until {one.until}")


def sort_out(
    draft: LintRun, findings: Iterable[LintFinding]
) -> tuple[list[LintFinding], list[tuple[LintFinding, Ignore]], list[LintFault]]:
    """Return the findings that count, those that are ignored and by what, and the comments that ignore nothing."""
    applying = [one for one in draft.ignores if is_ignorable(one.rule) and not one.is_over(draft.today)]
    counting: list[LintFinding] = []
    ignored: list[tuple[LintFinding, Ignore]] = []
    used: set[Ignore] = set()
    for finding in findings:
        by = [one for one in applying if one.covers(finding.rule, finding.file, finding.line, finding.path)]
        if by:
            ignored.append((finding, by[0]))
            used.update(by)
        else:
            counting.append(finding)
    idle = [one for one in applying if one not in used and not one.problem and one.rule.startswith(_FAMILIES)]
    return counting, ignored, [describe_idle(one) for one in idle]


def describe_idle(one: Ignore) -> LintFault:
    """Return the fault of a comment that ignores nothing."""
    return _fault(one, f"a finding of {one.rule} to ignore", "none")


def _fault(one: Ignore, expected: str, observed: str) -> LintFault:
    return LintFault(one.file, expected, observed, spot=(one.line, one.column))
