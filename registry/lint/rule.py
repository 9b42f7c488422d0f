"""A lint rule, what it finds, and the line it stands on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib.resources.abc import Traversable
from typing import TYPE_CHECKING, Any, Final

import yaml

from cdc_contracts.registry.pointers import join_pointer

if TYPE_CHECKING:
    from cdc_contracts.registry.lint.draft import Draft

_COMPOSED: Final = (".yaml", ".json", ".avsc")


@dataclass(frozen=True, slots=True)
class Fault:
    """One place where a contract breaks a rule; `parts` lead to it inside the file, or its line is known."""

    file: Traversable
    expected: str
    observed: str
    parts: tuple[str, ...] = ()
    line: int | None = None


@dataclass(frozen=True, slots=True)
class LintRule:
    """One thing lint looks at: `check` yields every place under lint where it does not hold."""

    id: str
    name: str
    severity: str
    says: str
    good: str
    bad: str
    check: Callable[[Draft], Iterator[Fault]]


@dataclass(frozen=True, slots=True)
class LintFinding:
    """A fault as it is reported. `path` is a JSON Pointer into the file, `line` counts from 1 where it is known."""

    rule: str
    name: str
    severity: str
    file: str
    line: int | None
    path: str
    expected: str
    observed: str


@dataclass(frozen=True, slots=True)
class LintReport:
    """What linting came to: findings by file and line, and how much was looked at.

    `judged` is False where samples were left out because some contract does not hold together.
    """

    findings: tuple[LintFinding, ...]
    judged: bool
    checked: Mapping[str, int] = field(default_factory=dict)


def report_fault(rule: LintRule, fault: Fault) -> LintFinding:
    """Return the finding of a fault."""
    return LintFinding(
        rule=rule.id,
        name=rule.name,
        severity=rule.severity,
        file=str(fault.file),
        line=fault.line or _line_of(fault.file, fault.parts),
        path=join_pointer(*fault.parts),
        expected=fault.expected,
        observed=fault.observed,
    )


def _line_of(file: Traversable, parts: tuple[str, ...]) -> int | None:
    """Return the line of the deepest member on the way that the file itself has; None where it has none."""
    if not parts or not file.name.endswith(_COMPOSED):
        return None
    try:
        node: Any = yaml.compose(file.read_text(encoding="utf-8"), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except (yaml.YAMLError, OSError, UnicodeDecodeError):
        return None
    line = None
    for part in parts:
        if isinstance(node, yaml.MappingNode):
            found = next(((key, value) for key, value in node.value if key.value == part), None)
            if found is None:
                break
            line, node = found[0].start_mark.line + 1, found[1]
        elif isinstance(node, yaml.SequenceNode) and part.isdigit() and int(part) < len(node.value):
            node = node.value[int(part)]
            line = node.start_mark.line + 1
        else:
            break
    return line
