"""Version comparison: two or more versions of a schema, compared at a level under a policy."""

from __future__ import annotations

from collections.abc import Sequence

from cdc_contracts.registry.authoring.compat.compatibility_rule import BREAKING, CompatibilityRule
from cdc_contracts.registry.authoring.compat.compatibility_verdict import (
    CompatibilityFinding,
    CompatibilityVerdict,
    conclude,
    report_whole,
)
from cdc_contracts.registry.authoring.compat.json_schema import compare_json
from cdc_contracts.registry.authoring.compat.json_schema.difference_findings import NOT_DECIDED
from cdc_contracts.registry.authoring.compat.levels import Level, Policy
from cdc_contracts.registry.core.common.bounded_processes import Overrun, call_guarded
from cdc_contracts.registry.core.schema.json_schemas.schema_weight import is_light
from cdc_contracts.registry.core.schema.schema_documents import AVRO, JSON, SchemaDocument

TYPE_CHANGED = CompatibilityRule(
    id="C101", name="schema-type-changed", severity=BREAKING,
    says="The two versions are written in different schema languages: neither can read the other's messages.",
    action="Publish the schema in the other language as a separate subject.",
    good="message.schema.json beside message.schema.json", bad="message.avsc registered after message.schema.json",
)  # fmt: skip


def compare_json_guarded(
    old: SchemaDocument, new: SchemaDocument, *, level: Level, policy: Policy, most: int | None = None
) -> tuple[CompatibilityFinding, ...]:
    """Return how two JSON Schemas differ; where that is not decided within bounds, one undecided finding.

    `most` is the number of findings after which no more are searched, once one breaks.

    Raises UsageError if one of them is no valid JSON Schema.
    """
    if _is_light(old) and _is_light(new):
        return compare_json(old, new, level=level, policy=policy, most=most)
    try:
        found: tuple[CompatibilityFinding, ...] = call_guarded(
            compare_json, old, new, level=level, policy=policy, most=most
        )
    except Overrun as overrun:
        return tuple(_undecided(old, new, direction, str(overrun)) for direction in policy.directions(level))
    return found


def _is_light(schema: SchemaDocument) -> bool:
    return is_light(schema.document, {name: one.document for name, one in schema.all_references.items()})


def _undecided(old: SchemaDocument, new: SchemaDocument, direction: str, why: str) -> CompatibilityFinding:
    return report_whole(NOT_DECIDED, old, new, direction, f"Comparing the two was given up: {why}.")


def compare_schemas(
    olds: Sequence[SchemaDocument], new: SchemaDocument, *, level: Level, policy: Policy, most: int | None = None
) -> CompatibilityVerdict:
    """Return whether a new version is compatible with those before it, the oldest first.

    A transitive level compares it with each of them, every other level with the last. Level NONE asks nothing, save by
    the policy `cdc`, which ignores what a level asks. `most` is the number of findings about JSON Schemas after which
    no more are searched, once one breaks.
    Raises UsageError if a schema is not valid in its language.
    """
    if not olds or not policy.directions(level):
        return CompatibilityVerdict(compatible=True, level=level, policy=policy)
    compared = olds if level.is_transitive else olds[-1:]
    findings = tuple(finding for old in compared for finding in _compare(old, new, level, policy, most))
    return conclude(level, policy, findings)


def _compare(
    old: SchemaDocument, new: SchemaDocument, level: Level, policy: Policy, most: int | None
) -> tuple[CompatibilityFinding, ...]:
    if old.type != new.type:
        return tuple(_report_types(old, new, direction) for direction in policy.directions(level))
    if new.type == JSON:
        return compare_json_guarded(old, new, level=level, policy=policy, most=most)
    if new.type == AVRO:
        from cdc_contracts.registry.authoring.compat.avro.avro_comparison import compare_avro

        return compare_avro(old, new, level=level, policy=policy)
    raise ValueError(f"no such schema language: {new.type}")


def _report_types(old: SchemaDocument, new: SchemaDocument, direction: str) -> CompatibilityFinding:
    says = f"{old.name} is {old.type}, {new.name} is {new.type}: neither reads the other's messages."
    return report_whole(TYPE_CHANGED, old, new, direction, says, values=(old.type, new.type))
