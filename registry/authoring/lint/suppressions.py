"""Suppressions: the ignore comments in effect, and the findings that they suppress."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING, Final

from cdc_contracts.registry.authoring.compat.compatibility_rule import IGNORABLE, CompatibilityRule, family_of
from cdc_contracts.registry.authoring.lint.ignore_comments import Ignore
from cdc_contracts.registry.authoring.lint.lint_rule import LintFault, LintFinding, lint_rules
from cdc_contracts.registry.core.common.rule_modules import PUBLICATION_RULES, TABLE_RULES, find_records

if TYPE_CHECKING:
    from cdc_contracts.registry.authoring.lint.lint_run import LintRun

_COMPARED: Final = (PUBLICATION_RULES, TABLE_RULES)


def is_ignorable(rule: str) -> bool:
    """Return whether a comment may ignore the rule of an id."""
    return rule in _ignorable()


def is_compared(rule: str) -> bool:
    """Return whether a comment may ignore the rule of an id, and it is one of the comparison with what is published."""
    return rule in _compared()


@cache
def _ignorable() -> frozenset[str]:
    """The ignorable rules of lint, and those of published versions and tables."""
    return frozenset(rule.id for rule in lint_rules() if rule.ignorable) | _compared()


@cache
def _compared() -> frozenset[str]:
    found = (rule for package in _COMPARED for rule in find_records(package, CompatibilityRule))
    return frozenset(rule.id for rule in found if family_of(rule.id) in IGNORABLE)


def sort_out(
    run: LintRun, findings: Iterable[LintFinding]
) -> tuple[list[LintFinding], list[tuple[LintFinding, Ignore]], list[LintFault]]:
    """Return the findings that count, those that are ignored and by what, and the comments that ignore nothing."""
    applying = [one for one in run.ignores if is_ignorable(one.rule) and not one.is_over(run.today)]
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
    unused = [one for one in applying if one not in used and not one.problem and not is_compared(one.rule)]
    return counting, ignored, [describe_unused(one) for one in unused]


def describe_unused(one: Ignore) -> LintFault:
    """Return the fault of a comment that ignores nothing."""
    return fault_of(one, f"a finding of {one.rule} to ignore", "none")


def fault_of(one: Ignore, expected: str, observed: str) -> LintFault:
    """Return the fault of a comment, on its own line."""
    return LintFault(one.file, expected, observed, spot=(one.line, one.column))
