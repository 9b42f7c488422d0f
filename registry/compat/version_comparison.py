"""Version comparison: two or more versions of a schema, compared at a level under a policy."""

from __future__ import annotations

from collections.abc import Sequence

from cdc_contracts.registry.compat.compatibility_rule import CompatibilityRule
from cdc_contracts.registry.compat.compatibility_verdict import (
    BREAKING,
    CompatibilityFinding,
    CompatibilityVerdict,
    TextPlace,
    conclude,
)
from cdc_contracts.registry.compat.levels import Level, Policy
from cdc_contracts.registry.schema.schema_documents import AVRO, JSON, SchemaDocument

TYPE_CHANGED = CompatibilityRule(
    id="C101",
    name="schema-type-changed",
    severity=BREAKING,
    says="The two versions are written in different schema languages: nothing of one reads the other's messages.",
    action="Publish the other language as a subject of its own.",
    good="message.schema.json beside message.schema.json",
    bad="message.avsc registered after message.schema.json",
)


def compare_schemas(
    olds: Sequence[SchemaDocument], new: SchemaDocument, *, level: Level, policy: Policy
) -> CompatibilityVerdict:
    """Return whether a new version is compatible with those before it, the oldest first.

    A transitive level compares it with each of them, every other level with the last. Level NONE asks nothing, save by
    the policy `cdc`, which ignores what a level asks.
    Raises UsageError if a schema is not valid in its language.
    """
    if not olds or not policy.directions(level):
        return CompatibilityVerdict(compatible=True, level=level, policy=policy)
    compared = olds if level.is_transitive else olds[-1:]
    findings = tuple(finding for old in compared for finding in _compare(old, new, level, policy))
    return conclude(level, policy, findings)


def _compare(
    old: SchemaDocument, new: SchemaDocument, level: Level, policy: Policy
) -> tuple[CompatibilityFinding, ...]:
    if old.type != new.type:
        return tuple(_report_types(old, new, direction) for direction in policy.directions(level))
    if new.type == JSON:
        from cdc_contracts.registry.compat.bounded_comparison import compare_json_guarded

        return compare_json_guarded(old, new, level=level, policy=policy)
    if new.type == AVRO:
        from cdc_contracts.registry.compat.avro.avro_comparison import compare_avro

        return compare_avro(old, new, level=level, policy=policy)
    raise ValueError(f"no such schema language: {new.type}")


def _report_types(old: SchemaDocument, new: SchemaDocument, direction: str) -> CompatibilityFinding:
    return CompatibilityFinding(
        rule=TYPE_CHANGED.id,
        name=TYPE_CHANGED.name,
        severity=TYPE_CHANGED.severity,
        direction=direction,
        path="",
        old=old.type,
        new=new.type,
        old_version=old.name,
        new_version=new.name,
        old_place=TextPlace("", old.file),
        new_place=TextPlace("", new.file),
        says=f"{old.name} is {old.type}, {new.name} is {new.type}: neither reads the other's messages.",
        action=TYPE_CHANGED.action,
    )
