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
    from cdc_contracts.registry.compatibility.json_schema.comparison import look_one_way
    from cdc_contracts.registry.compatibility.json_schema.documents import read_document
    from cdc_contracts.registry.compatibility.json_schema.reports import report_outcomes

    before, after = read_document(old), read_document(new)
    told = []
    for direction in policy.directions(level):
        if direction == BACKWARD:
            found = look_one_way(before, after, policy, with_removals=True)
        else:
            found = look_one_way(after, before, policy)
        told += [(FORWARD if outcome.removes else direction, outcome) for outcome in found]
    return report_outcomes(old, new, policy, told)
