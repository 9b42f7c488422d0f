"""JSON Schema: what changed between two schemas, whether it breaks readers, and the message that shows it."""

from __future__ import annotations

from cdc_contracts.registry.compatibility.levels import BACKWARD, FORWARD, Level, Policy
from cdc_contracts.registry.compatibility.verdict import CompatibilityFinding
from cdc_contracts.registry.schema_documents import SchemaDocument


def compare_json(
    old: SchemaDocument, new: SchemaDocument, *, level: Level, policy: Policy
) -> tuple[CompatibilityFinding, ...]:
    """Return how two JSON Schemas differ, as a policy judges it at a level.

    Raises InvalidSchema where one of them is no valid JSON Schema.
    """
    from cdc_contracts.registry.compatibility.json_schema.comparison import find_removals, look_one_way, show_removal
    from cdc_contracts.registry.compatibility.json_schema.documents import read_document
    from cdc_contracts.registry.compatibility.json_schema.reports import report_outcomes

    before, after = read_document(old), read_document(new)
    told = []
    for direction in policy.directions(level):
        writer, reader = (before, after) if direction == BACKWARD else (after, before)
        told += [(direction, outcome) for outcome in look_one_way(writer, reader, policy)]
    if policy is Policy.CDC:
        removals = find_removals(before, after)
        told += [(FORWARD, show_removal(before, after, removal)) for removal in removals]
    return report_outcomes(old, new, policy, told)
