"""Attachments of schemas: metadata, and rules for serializers and deserializers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from cdc_contracts.registry.authoring.sync.schema_guids import PHASES
from cdc_contracts.registry.server.store.error_codes import invalid_rules

Attachment = Mapping[str, Any]

_KINDS: Final = ("CONDITION", "TRANSFORM")


def merge_metadata(below: Attachment | None, above: Attachment | None) -> Attachment | None:
    """Merge two metadata values: properties of the second win, tags and sensitive names are united."""
    if not below or not above:
        return above or below
    tags = dict(below.get("tags") or {})
    for path, names in (above.get("tags") or {}).items():
        tags[path] = list(dict.fromkeys((*tags.get(path, ()), *names)))
    merged = {
        "tags": tags,
        "properties": {**(below.get("properties") or {}), **(above.get("properties") or {})},
        "sensitive": list(dict.fromkeys((*(below.get("sensitive") or ()), *(above.get("sensitive") or ())))),
    }
    return {name: value for name, value in merged.items() if value}


def merge_rules(below: Attachment | None, above: Attachment | None) -> Attachment | None:
    """Merge two rule sets: a rule of the second replaces that of the first with the same name."""
    if not below or not above:
        return above or below
    merged: dict[str, Any] = {**below, **above}
    for phase in PHASES:
        rules = {rule["name"]: rule for rule in (*(below.get(phase) or ()), *(above.get(phase) or ()))}
        merged[phase] = list(rules.values())
    return {name: value for name, value in merged.items() if value}


def check_rules(rule_set: Attachment | None) -> None:
    """Raise Refusal if a rule has no name, a duplicate name, or an unknown kind or mode."""
    for phase, modes in PHASES.items():
        names: set[str] = set()
        for rule in (rule_set or {}).get(phase) or ():
            name = rule.get("name")
            if not name:
                raise invalid_rules(f"Invalid rule set: a rule of {phase} has no name")
            if name in names:
                raise invalid_rules(f"Invalid rule set: {phase} has two rules named {name}")
            names.add(name)
            if (rule.get("kind") or "CONDITION") not in _KINDS:
                raise invalid_rules(f"Invalid rule set: the kind of rule {name} must be one of {', '.join(_KINDS)}")
            if (rule.get("mode") or modes[-1]) not in modes:
                raise invalid_rules(f"Invalid rule set: the mode of rule {name} must be one of {', '.join(modes)}")
            if not rule.get("type"):
                raise invalid_rules(f"Invalid rule set: rule {name} has no type")
