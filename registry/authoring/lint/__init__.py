"""Lint: whether contracts are consistent, in themselves and with each other.

In: folders of contracts, table contracts, samples. Out: findings by the rules in `lint_rules/`, with file and line.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cdc_contracts.registry.authoring.lint.lint_rule import LintReport
    from cdc_contracts.registry.authoring.lint.lint_run import LintRun


def lint(paths: Sequence[Path] = (), *, beside: Sequence[Path] = (), today: date | None = None) -> LintReport:
    """Return every place where the contracts and table contracts that `paths` name break a lint rule.

    They are linted together with the shipped contracts and those of the folders `beside`, which are not reported.
    Without a path, `./contracts` is linted where it holds contracts, else the shipped catalogue. Comments in the
    contracts ignore findings up to a day, which `today` is compared with.
    Raises UsageError if a path names nothing to lint.
    """
    return run_lint(open_lint_run(paths, beside=beside, today=today, or_shipped=True))


def open_lint_run(
    paths: Sequence[Path] = (), *, beside: Sequence[Path] = (), today: date | None = None, or_shipped: bool = False
) -> LintRun:
    """Return what some paths name; documents are read when first needed. Raises UsageError if they name nothing.

    Without a path that is `./contracts`; if it holds none, the shipped catalogue if `or_shipped`.
    """
    from cdc_contracts.registry.authoring.lint.lint_run import LintRun
    from cdc_contracts.registry.authoring.lint.lint_targets import find_targets

    return LintRun(find_targets(paths, or_shipped=or_shipped), beside, today=today or datetime.now(UTC).date())


def run_lint(run: LintRun) -> LintReport:
    """Return every place under lint that breaks a lint rule."""
    from cdc_contracts.registry.authoring.lint.lint_rule import LintReport, lint_rules, report_fault
    from cdc_contracts.registry.authoring.lint.lint_rules.l28_ignore_needed import RULE as IGNORE_NEEDED
    from cdc_contracts.registry.authoring.lint.suppressions import sort_out
    from cdc_contracts.registry.core.common.garbage_collection import put_off_collection
    from cdc_contracts.registry.core.contract.catalogue import CANONICAL

    with put_off_collection():  # everything that is read is kept to the end
        found = dict.fromkeys(
            report_fault(rule, fault) for rule in lint_rules() if rule.check for fault in rule.check(run)
        )
        counting, ignored, unused = sort_out(run, found)
    if not run.inconsistent:  # else many rules did not run, so that no comment is known to be unused
        counting += [report_fault(IGNORE_NEEDED, fault) for fault in unused]
    own = [version for version in run.versions if version.subject != CANONICAL]
    return LintReport(
        findings=tuple(sorted(counting, key=lambda one: (one.file, one.line or 0, one.rule, one.path, one.observed))),
        validated=not run.inconsistent,
        checked={
            "contracts": len(own),
            "samples": sum(len(run.samples[version.reference]) for version in own),
            "mappings": len(run.mapping_files),
            "tables": len(run.targets.tables),
        },
        ignored=tuple(ignored),
        shipped=run.targets.shipped,
    )
