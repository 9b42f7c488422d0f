"""Compatibility checks: whether a schema is compatible with the versions of a subject, and the messages if not."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from cdc_contracts.registry.authoring.compat.compatibility_rule import BREAKING, UNDECIDED
from cdc_contracts.registry.authoring.compat.compatibility_verdict import CompatibilityFinding
from cdc_contracts.registry.authoring.compat.levels import Level
from cdc_contracts.registry.authoring.compat.version_comparison import compare_schemas
from cdc_contracts.registry.core.common.errors import UsageError
from cdc_contracts.registry.core.schema.schema_documents import AVRO, SchemaDocument
from cdc_contracts.registry.server.store.bundling import bundle
from cdc_contracts.registry.server.store.error_codes import invalid_schema
from cdc_contracts.registry.server.store.policies import Defaults, level_of, policy_of
from cdc_contracts.registry.server.store.registry_records import Records, StoredVersion
from cdc_contracts.registry.server.store.resolution import Resolver
from cdc_contracts.registry.server.store.subjects import Subject

RESERVED: Final = "confluent:reserved"
"""The metadata property that reserves field names, separated by commas."""
_MOST_REASONS: Final = 20
_LONGEST_REASON: Final = 1_000
_MORE: Final = "There are more differences than these: `cdc-contracts compat` lists all."


def validate(
    records: Records,
    subject: Subject,
    new: SchemaDocument,
    earlier: Sequence[StoredVersion],
    *,
    metadata: Mapping[str, Any] | None,
    config: Mapping[str, Any],
    defaults: Defaults,
) -> list[str]:
    """Return why a schema is incompatible with earlier versions, oldest first; nothing if it is compatible.

    What could not be decided is a reason too: a schema has to be proven compatible. Only the first are looked for.
    """
    level, policy = level_of(config, defaults), policy_of(config, defaults)
    validated = bool(config.get("validateFields"))
    reserved = _check_reserved(records, new, earlier, metadata) if validated else []
    group = config.get("compatibilityGroup")
    if group is not None:
        wanted = _property(metadata, group)
        earlier = [version for version in earlier if _property(_metadata_of(records, version), group) == wanted]
    context = f"{{validateFields: '{str(validated).lower()}', compatibility: '{level}', policy: '{policy}'}}"
    if level is Level.NONE or not earlier:
        return [*reserved, context] if reserved else []
    resolver = Resolver(records, subject.context)
    olds = [resolver.stored(version) for version in (earlier if level.is_transitive else earlier[-1:])]
    try:
        verdict = compare_schemas(
            [bundle(old) for old in olds], bundle(new), level=level, policy=policy, most=_MOST_REASONS + 1
        )
    except UsageError as error:
        raise invalid_schema(f"Invalid schema: {error.what}") from error
    result = [finding for finding in verdict.findings if finding.severity in (BREAKING, UNDECIDED)]
    reasons = reserved if verdict.compatible else [*reserved, *_describe_first(result)]
    return [*reasons, context] if reasons else []


def _check_reserved(
    records: Records, new: SchemaDocument, earlier: Sequence[StoredVersion], metadata: Mapping[str, Any] | None
) -> list[str]:
    """Return violations of reserved field names: names stay reserved, and no field may use one."""
    reserved = _reserved(metadata)
    before = _reserved(_metadata_of(records, earlier[-1])) if earlier else ()
    fields = _top_level_fields(new)
    removed = (
        f"The new schema has reserved field {name} removed from its metadata "
        "which is present in the old schema's metadata."
        for name in before
        if name not in reserved
    )
    taken = (
        f"The new schema has field that conflicts with the reserved field {name}."
        for name in reserved
        if name in fields
    )
    return [*removed, *taken]


def _reserved(metadata: Mapping[str, Any] | None) -> tuple[str, ...]:
    names = (name.strip() for name in str(_property(metadata, RESERVED) or "").split(","))
    return tuple(dict.fromkeys(filter(None, names)))


def _top_level_fields(schema: SchemaDocument) -> Collection[str]:
    document = schema.document
    if not isinstance(document, dict):
        return ()
    if schema.type == AVRO:
        return [field["name"] for field in document.get("fields", ())]
    properties = document.get("properties")
    return properties if isinstance(properties, dict) else ()


def _describe_first(findings: Sequence[CompatibilityFinding]) -> list[str]:
    """Return the first findings as lines, each cut to a length, and whether there are more."""
    lines = [describe(finding) for finding in findings[:_MOST_REASONS]]
    cut = [line if len(line) <= _LONGEST_REASON else line[:_LONGEST_REASON] + "…" for line in lines]
    return [*cut, _MORE] if len(findings) > _MOST_REASONS else cut


def describe(finding: CompatibilityFinding) -> str:
    """Return a finding as one line: rule, place, which version, what, and the message that proves it."""
    confluent = f" ({finding.confluent_rule})" if finding.confluent_rule else ""
    said = f"{finding.rule} {finding.name}{confluent} at '{finding.path}', {finding.direction}"
    line = f"{said}, {finding.old_version} against {finding.new_version}: {finding.says}"
    if finding.severity == UNDECIDED:
        line += " This could not be decided."
    if finding.proof is not None:
        proof = finding.proof
        message = json.dumps(proof.message, ensure_ascii=False, default=str)
        line += f" Proof: {message} is {proof.kind}; old: {_say(proof.old)}; new: {_say(proof.new)}."
    return line


def _say(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _metadata_of(records: Records, version: StoredVersion) -> Mapping[str, Any] | None:
    found = records.schema(version.subject.context, version.id)
    return None if found is None else found.content.metadata


def _property(metadata: Mapping[str, Any] | None, name: str) -> Any:
    return ((metadata or {}).get("properties") or {}).get(name)
