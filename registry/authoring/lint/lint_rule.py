"""Lint rule: what it finds, and on which line."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib.resources.abc import Traversable
from typing import TYPE_CHECKING, Final

from cdc_contracts.registry.authoring.compat.text_places import find_positions
from cdc_contracts.registry.core.common.pointers import join_pointer
from cdc_contracts.registry.core.common.rule_modules import LINT_RULES, find_records

if TYPE_CHECKING:
    from cdc_contracts.registry.authoring.lint.ignore_comments import Ignore
    from cdc_contracts.registry.authoring.lint.lint_run import LintRun

Parts = tuple[str, ...]
"""The path of a place in a document."""
_DOCUMENTS: Final = (".yaml", ".json", ".avsc")


@dataclass(frozen=True, slots=True)
class LintFault:
    """One place where a contract breaks a rule; `parts` lead to it inside the file, `spot` is its line and column."""

    file: Traversable
    expected: str
    observed: str
    parts: tuple[str, ...] = ()
    spot: tuple[int, int] | None = None


Faults = Iterator[LintFault]


@dataclass(frozen=True, slots=True)
class LintRule:
    """One rule of lint: `check` yields every place under lint that violates it.

    It is None if a violation follows from the findings of other rules. `ignorable` says that a comment may ignore its
    findings up to a day.
    """

    id: str
    name: str
    severity: str
    says: str
    why: str
    good: str
    bad: str
    check: Callable[[LintRun], Faults] | None
    ignorable: bool = True

    @property
    def family(self) -> str:
        """What the rule is about: table contracts (`table`), or all else (`lint`)."""
        return "table" if self.id.startswith("T") else "lint"


def lint_rule(
    severity: str, *, says: str, why: str, good: str, bad: str, ignorable: bool = True
) -> Callable[[Callable[[LintRun], Faults]], LintRule]:
    """Make a check the rule that its file is named after: `l02_contract_valid.py` holds L02, contract-valid."""

    def record(check: Callable[[LintRun], Faults]) -> LintRule:
        number, _, name = check.__module__.rpartition(".")[2].partition("_")
        return LintRule(number.upper(), name.replace("_", "-"), severity, says, why, good, bad, check, ignorable)

    return record


@dataclass(frozen=True, slots=True)
class LintFinding:
    """A fault as it is reported. `path` is a JSON Pointer into the file.

    `line` and `column` count from 1, and are None if the file as a whole is meant.
    """

    rule: str
    name: str
    severity: str
    file: str
    line: int | None
    column: int | None
    path: str
    expected: str
    observed: str


@dataclass(frozen=True, slots=True)
class LintReport:
    """The result of linting: findings by file and line, how much was checked, and what comments ignore.

    `validated` is False if samples were not validated because some contract is inconsistent; `shipped` is True if
    nothing was named or found, so that the shipped contracts were linted.
    """

    findings: tuple[LintFinding, ...]
    validated: bool
    checked: Mapping[str, int] = field(default_factory=dict)
    ignored: tuple[tuple[LintFinding, Ignore], ...] = ()
    shipped: bool = False


def report_fault(rule: LintRule, fault: LintFault) -> LintFinding:
    """Return the finding of a fault."""
    line, column = fault.spot or _place_of(fault.file, fault.parts)
    return LintFinding(
        rule=rule.id,
        name=rule.name,
        severity=rule.severity,
        file=str(fault.file),
        line=line,
        column=column,
        path=join_pointer(*fault.parts),
        expected=fault.expected,
        observed=fault.observed,
    )


def _place_of(file: Traversable, parts: tuple[str, ...]) -> tuple[int, int] | tuple[None, None]:
    """Return line and column of the deepest member on the way that the file itself has."""
    if not parts or not file.name.endswith(_DOCUMENTS):
        return None, None
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None, None
    pointer = join_pointer(*parts)
    return find_positions(text, [pointer]).get(pointer, (None, None))


def lint_rules() -> tuple[LintRule, ...]:
    """Return every rule of lint in the order of the ids."""
    return find_records(LINT_RULES, LintRule)
