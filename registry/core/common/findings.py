"""Findings: where one message does not conform to its contract, and the closed list of drift classes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from types import MappingProxyType
from typing import Final

from cdc_contracts.registry.core.common.drift_class import DriftCause, DriftClass
from cdc_contracts.registry.core.common.errors import UsageError
from cdc_contracts.registry.core.common.rule_modules import DRIFT_CLASSES, find_records, rule_names

ERROR: Final = "error"
WARNING: Final = "warning"
INFO: Final = "info"
SEVERITIES: Final = (ERROR, WARNING, INFO)


_FILE: Final = re.compile(r"(d\d\d)-(.+)")
_NUMBERS: Final[Mapping[str, str]] = MappingProxyType({
    name: number.upper()
    for file in rule_names(DRIFT_CLASSES)
    if (parts := _FILE.fullmatch(file))
    for number, name in (parts.groups(),)
})  # fmt: skip
"""The number of each class by its name, as their files are called."""


class _Classes(Mapping[str, DriftClass]):
    """The classes by name, in the order of their numbers; their files are read when somebody asks for one."""

    @cached_property
    def _by_name(self) -> dict[str, DriftClass]:
        return {one.name: one for one in find_records(DRIFT_CLASSES, DriftClass)}

    def __getitem__(self, name: str) -> DriftClass:
        return self._by_name[name]

    def __contains__(self, name: object) -> bool:
        return name in _NUMBERS

    def __iter__(self) -> Iterator[str]:
        return iter(_NUMBERS)

    def __len__(self) -> int:
        return len(_NUMBERS)


CLASSES: Final[Mapping[str, DriftClass]] = _Classes()


@dataclass(frozen=True, slots=True)
class Finding:
    """One point in which a message does not conform to its contract.

    `path` is a JSON Pointer with array positions of rows written 0; `observed` is a shape or a code, never a value
    of a row.
    """

    rule: str
    name: str
    severity: str
    path: str
    expected: str
    observed: str

    @property
    def order(self) -> tuple[int, str, str, str]:
        return (SEVERITIES.index(self.severity), self.name, self.rule, self.path)

    def as_document(self) -> dict[str, str]:
        """Return the finding as machines read it."""
        return {
            "rule": self.rule,
            "class": self.name,
            "severity": self.severity,
            "path": self.path,
            "expected": self.expected,
            "observed": self.observed,
        }


class Severities:
    """The severity of each class in this run: the defaults, raised by `--severity CLASS=LEVEL`."""

    def __init__(self, raised: Mapping[str, str] | None = None) -> None:
        """Raise UsageError if a class or level is unknown, or an error class would be lowered."""
        self.raised = dict(sorted((raised or {}).items()))
        for name, level in self.raised.items():
            if name not in CLASSES:
                raise UsageError(f"there is no drift class `{name}`", hint="`cdc-contracts rules` lists them.")
            if level not in SEVERITIES:
                raise UsageError(f"`{level}` is not a severity", hint="Use one of error, warning, info.")
            if SEVERITIES.index(level) > SEVERITIES.index(CLASSES[name].severity):
                raise UsageError(
                    f"{name} is {CLASSES[name].severity} and cannot be lowered to {level}",
                    hint="Use --fail-on to decide which severity fails the run.",
                )

    def of(self, name: str, own: str | None = None) -> str:
        """Return the severity of a finding of a class; `own` is what its rule says where that differs.

        Notes (info by their own rule) are not touched.
        """
        if own == INFO:
            return INFO
        level = own or CLASSES[name].severity
        raised = self.raised.get(name)
        return raised if raised is not None and SEVERITIES.index(raised) < SEVERITIES.index(level) else level


def most_severe(*severities: str) -> str:
    """Return the highest severity."""
    return min(severities, key=SEVERITIES.index)


def rule_id(name: str, cause: str | None = None) -> str:
    """Return the stable id of a rule: class number, then the named rule or cause."""
    number = _NUMBERS[name]
    return f"{number}.{cause}" if cause else number


@lru_cache(maxsize=4_096)
def find_cause(rule: str) -> DriftCause | None:
    """Return how a class describes the cause in a rule id, such as `D01.utf8`; None if it does not."""
    number, _, name = rule.partition(".")
    found = next((one for one in CLASSES.values() if one.id == number), None)
    return next((cause for cause in found.causes if cause.name == name), None) if found else None
