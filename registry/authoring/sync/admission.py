"""Admission: checks that the server skips, because it takes imported versions without checking them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from cdc_contracts.registry.authoring.compat.compatibility_rule import NOTE
from cdc_contracts.registry.authoring.compat.compatibility_verdict import CompatibilityFinding
from cdc_contracts.registry.authoring.compat.levels import POLICY_NAMES, Level, Policy
from cdc_contracts.registry.authoring.compat.version_comparison import compare_schemas
from cdc_contracts.registry.authoring.sync.registry_contents import GLOBAL, HeldSchema, Holdings, ScopeSettings
from cdc_contracts.registry.authoring.sync.schema_digests import is_json
from cdc_contracts.registry.authoring.sync.subject_names import DEFAULT_CONTEXT, context_of
from cdc_contracts.registry.authoring.sync.sync_plans import (
    OVERRIDE,
    READ_ONLY,
    Action,
    PlanRefusal,
    SyncPlan,
    is_unfinished,
    referred,
)
from cdc_contracts.registry.core.common.errors import ContractError, UsageError
from cdc_contracts.registry.core.schema.schema_documents import AVRO, JSON, SchemaDocument, read_schema

_SHOWN: Final = 3


def refuse_unwritable(plan: SyncPlan, wanted: Holdings, held: Holdings) -> None:
    """Add a refusal to the plan for each new version that is not JSON, or whose subject is and stays read-only."""
    for step in plan.of(Action.REGISTER):
        scope = _mode_scope(step.subject, held)
        mode = wanted.settings.get(scope, ScopeSettings()).mode or held.settings.get(scope, ScopeSettings()).mode
        if mode in READ_ONLY:
            why = f"{scope or 'the whole registry'} is in mode {mode}: set another mode in registry.yaml first"
            plan.refusals.append(PlanRefusal(step.subject, step.version, why))
        if step.schema is not None and step.schema.type in (JSON, AVRO) and not is_json(step.schema.text):
            plan.refusals.append(PlanRefusal(step.subject, step.version, "its text is not JSON"))


def refuse_incompatible(plan: SyncPlan, wanted: Holdings, held: Holdings) -> None:
    """Add a refusal to the plan for each new version that violates the compatibility level of an existing subject.

    A subject still in IMPORT mode was left unfinished by an earlier run: its history is not checked again.
    """
    new: dict[str, list[HeldSchema]] = {}
    for step in plan.of(Action.REGISTER):
        if step.schema is not None and not step.schema.deleted:
            numbered = replace(
                step.schema, version=step.version or 0
            )  # the schema of a bound topic has no number of its own
            new.setdefault(step.subject, []).append(numbered)
    for subject, schemas in new.items():
        earlier = held.versions(subject, deleted=False)
        if not earlier or is_unfinished(subject, held):
            continue
        for schema in schemas:
            refusal = _validator(earlier, schema, wanted, held)
            if refusal is not None:
                plan.refusals.append(refusal)
            earlier = [*earlier, schema]


def _mode_scope(subject: str, held: Holdings) -> str:
    """Return the scope whose mode applies to a subject on the server."""
    if held.settings.get(GLOBAL, ScopeSettings()).mode == OVERRIDE:
        return GLOBAL
    scopes = (subject, f":{context_of(subject)}:")
    return next((one for one in scopes if held.settings.get(one, ScopeSettings()).mode is not None), GLOBAL)


def level_of(subject: str, wanted: Holdings, held: Holdings) -> tuple[Level, Policy]:
    """Return the level and policy that will apply to a subject. Raises ContractError if either is unknown."""
    context = context_of(subject)
    scopes = [GLOBAL, *([] if context == DEFAULT_CONTEXT else [f":{context}:"]), subject]
    config: dict[str, Any] = {}
    for scope in scopes:
        for holdings in (held, wanted):
            config |= holdings.settings.get(scope, ScopeSettings()).config or {}
    try:
        level = Level(config.get("compatibility", Level.BACKWARD))
        return level, POLICY_NAMES[config.get("compatibilityPolicy", "STRICT")]
    except (ValueError, KeyError) as error:
        raise ContractError(
            f"unknown compatibility level or policy for {subject}: {error}", where="registry.yaml"
        ) from error


def _validator(earlier: Sequence[HeldSchema], new: HeldSchema, wanted: Holdings, held: Holdings) -> PlanRefusal | None:
    level, policy = level_of(new.subject, wanted, held)
    if level is Level.NONE or any(one.type not in (JSON, AVRO) for one in (*earlier, new)):
        return None
    try:
        olds = [_document(one, wanted, held) for one in earlier]
        verdict = compare_schemas(olds, _document(new, wanted, held), level=level, policy=policy)
    except UsageError as error:
        return PlanRefusal(new.subject, new.version, f"the schema cannot be read: {error.what}")
    if verdict.compatible:
        return None
    found = [one for one in verdict.findings if one.severity != NOTE]
    against = ", ".join(sorted({one.old_version for one in found}))
    why = (
        f"incompatible at {level} with {against}"
        if verdict.compatible is False
        else f"compatibility at {level} could not be decided"
    )
    return PlanRefusal(new.subject, new.version, why, tuple(_format_finding(one) for one in found[:_SHOWN]))


def _document(schema: HeldSchema, wanted: Holdings, held: Holdings) -> SchemaDocument:
    references: Mapping[str, SchemaDocument] = {
        str(reference.get("name")): _document(found, wanted, held)
        for reference, position in zip(schema.references, referred(schema), strict=True)
        if (found := wanted.schemas.get(position) or held.schemas.get(position)) is not None
    }
    name = f"{schema.subject} {schema.version}"
    return read_schema(schema.text, type=schema.type, name=name, references=references)


def _format_finding(finding: CompatibilityFinding) -> str:
    """Return a finding as one line, with the message that proves it."""
    import json

    result = f"{finding.rule} {finding.name} {finding.path or '/'}: {finding.says}"
    if finding.proof is None:
        return result
    shown = json.dumps(finding.proof.message, ensure_ascii=False)
    return f"{result} Proof ({finding.proof.kind}): {shown}"
