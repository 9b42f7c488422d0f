"""JSON Schema: what changed between two schemas, whether it breaks readers, and the message that shows it."""

from __future__ import annotations

from cdc_contracts.registry.authoring.compat.compatibility_verdict import CompatibilityFinding
from cdc_contracts.registry.authoring.compat.levels import BACKWARD, FORWARD, Level, Policy
from cdc_contracts.registry.core.schema.schema_documents import SchemaDocument


def compare_json(
    old: SchemaDocument, new: SchemaDocument, *, level: Level, policy: Policy, most: int | None = None
) -> tuple[CompatibilityFinding, ...]:
    """Return how two JSON Schemas differ, under a policy and at a level.

    `most` is the number of findings of a direction after which no more are searched, once one breaks.
    Raises InvalidSchema where one of them is no valid JSON Schema.
    """
    from cdc_contracts.registry.authoring.compat.json_schema.bundled_schemas import read_document
    from cdc_contracts.registry.authoring.compat.json_schema.difference_findings import report_outcomes
    from cdc_contracts.registry.authoring.compat.json_schema.json_comparison import look_one_way

    before, after = read_document(old), read_document(new)
    result = []
    for direction in policy.directions(level):
        if direction == BACKWARD:
            found = look_one_way(before, after, policy, with_removals=True, most=most)
        else:
            found = look_one_way(after, before, policy, most=most)
        result += [(FORWARD if outcome.removes else direction, outcome) for outcome in found]
    return report_outcomes(old, new, policy, result)
