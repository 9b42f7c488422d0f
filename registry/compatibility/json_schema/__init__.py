"""JSON Schema: what changed between two schemas, whether it breaks readers, and the message that shows it."""

from __future__ import annotations

from cdc_contracts.registry.compatibility.levels import Level, Policy
from cdc_contracts.registry.compatibility.verdict import CompatibilityFinding
from cdc_contracts.registry.schema_documents import SchemaDocument


def compare_json(
    old: SchemaDocument, new: SchemaDocument, *, level: Level, policy: Policy
) -> tuple[CompatibilityFinding, ...]:
    """Return how two JSON Schemas differ, as a policy judges it at a level.

    Raises UsageError where one of them is no valid JSON Schema.
    """
    from cdc_contracts.registry.compatibility.json_schema.containment import find_refusals

    return find_refusals(old, new, level, policy)
