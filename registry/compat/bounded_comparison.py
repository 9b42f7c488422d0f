"""Bounded comparison: JSON Schemas compared in a process with limits, where their algebra may never end."""

from __future__ import annotations

from cdc_contracts.registry.common.bounded_processes import Overrun, call_guarded
from cdc_contracts.registry.compat.compatibility_verdict import CompatibilityFinding, TextPlace
from cdc_contracts.registry.compat.json_schema import compare_json
from cdc_contracts.registry.compat.json_schema.difference_findings import NOT_DECIDED
from cdc_contracts.registry.compat.levels import Level, Policy
from cdc_contracts.registry.schema.json_schemas.schema_weight import is_light
from cdc_contracts.registry.schema.schema_documents import SchemaDocument


def compare_json_guarded(
    old: SchemaDocument, new: SchemaDocument, *, level: Level, policy: Policy
) -> tuple[CompatibilityFinding, ...]:
    """Return how two JSON Schemas differ; where that is not decided within bounds, one undecided finding.

    Raises UsageError if one of them is no valid JSON Schema.
    """
    if _is_light(old) and _is_light(new):
        return compare_json(old, new, level=level, policy=policy)
    try:
        found: tuple[CompatibilityFinding, ...] = call_guarded(compare_json, old, new, level=level, policy=policy)
    except Overrun as overrun:
        return tuple(_undecided(old, new, direction, str(overrun)) for direction in policy.directions(level))
    return found


def _is_light(schema: SchemaDocument) -> bool:
    return is_light(schema.document, {name: one.document for name, one in schema.all_references.items()})


def _undecided(old: SchemaDocument, new: SchemaDocument, direction: str, why: str) -> CompatibilityFinding:
    return CompatibilityFinding(
        rule=NOT_DECIDED.id,
        name=NOT_DECIDED.name,
        severity=NOT_DECIDED.severity,
        direction=direction,
        path="",
        old=None,
        new=None,
        old_version=old.name,
        new_version=new.name,
        old_place=TextPlace("", old.file),
        new_place=TextPlace("", new.file),
        says=f"Comparing the two was given up: {why}.",
        action=NOT_DECIDED.action,
    )
