"""Rulebook: all rules of findings, by stable id, and what a finding means."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from cdc_contracts.registry.authoring.lint.lint_rule import lint_rules
from cdc_contracts.registry.core.common.errors import UsageError
from cdc_contracts.registry.core.common.findings import CLASSES
from cdc_contracts.registry.core.validate.drift_rule import CROSS_FIELD, drift_rules

DRIFT: Final = "drift"


@dataclass(frozen=True, slots=True)
class RuleEntry:
    """One rule as listed: what it says and why, the severity of a violation, the fix, and examples."""

    id: str
    name: str
    family: str
    severity: str
    says: str
    action: str
    good: str
    bad: str
    why: str = ""
    confluent: str | None = None


def rules() -> tuple[RuleEntry, ...]:
    """Return all rules: drift classes, rules across fields, lint rules and compatibility rules."""
    drift = [
        RuleEntry(one.id, one.name, DRIFT, one.severity, one.says, one.action, one.good, one.bad)
        for one in CLASSES.values()
    ]
    hint = "Correct the file that the finding names, or suppress the finding there for a while: see L26."
    lint = [
        RuleEntry(one.id, one.name, one.family, one.severity, one.says, hint, one.good, one.bad, one.why)
        for one in lint_rules()
    ]
    return (*drift, *cross_field_rules(), *lint, *_compatibility_rules())


def cross_field_rules() -> tuple[RuleEntry, ...]:
    """Return the rules across fields."""
    return tuple(
        RuleEntry(one.id, one.name, CROSS_FIELD, one.severity, one.says, one.action, one.good, one.bad)
        for one in drift_rules().values()
    )


def _compatibility_rules() -> Iterator[RuleEntry]:
    """Yield the compatibility rules; they are in the comparing modules, which are slow to import."""
    from cdc_contracts.registry.authoring.compat.compatibility_rule import compatibility_rules, family_of

    for one in compatibility_rules():
        texts = (one.severity, one.says, one.action, one.good, one.bad)
        yield RuleEntry(one.id, one.name, family_of(one.id), *texts, confluent=one.confluent)


def find_rule(text: str) -> RuleEntry:
    """Return the rule of an id (`D07`, `L03`, `D09.columns-typed`), a name, or a rule id of a finding (`D07.base64`).

    Raises UsageError if there is none, suggesting the most similar.
    """
    known = {one.id.lower(): one for one in rules()} | {one.name: one for one in reversed(rules())}
    wanted = (text.split() or [""])[0].lower()
    found = known.get(wanted)
    if found is None and "." in wanted and not wanted.startswith("d09."):
        found = known.get(wanted.split(".")[0])
    if found is None:
        near = difflib.get_close_matches(wanted, known, 1)
        hint = (
            f"Did you mean {known[near[0]].id} {known[near[0]].name}?"
            if near
            else "`cdc-contracts rules` lists them all."
        )
        raise UsageError(f"there is no rule `{text}`", hint=hint)
    return found
