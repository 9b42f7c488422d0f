"""Two contracts, or two versions of a subject, judged for somebody who asks the server."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from cdc_contracts.registry.catalogue import Version
from cdc_contracts.registry.compatibility.comparison import compare_schemas
from cdc_contracts.registry.compatibility.levels import Level, Policy
from cdc_contracts.registry.compatibility.verdict import CompatibilityFinding, Verdict
from cdc_contracts.registry.schema_documents import AVRO, JSON, SchemaDocument


def compare_contracts(old: Version, new: Version, *, level: Level, policy: Policy) -> Verdict:
    """Return whether a contract may follow another, by what its messages are written in."""
    return compare_schemas([_document(old)], _document(new), level=level, policy=policy)


def tell_verdict(verdict: Verdict) -> dict[str, Any]:
    """Return a verdict as JSON."""
    return {
        "compatible": verdict.compatible,
        "level": verdict.level,
        "policy": verdict.policy,
        "findings": [_tell(finding) for finding in verdict.findings],
    }


def _document(version: Version) -> SchemaDocument:
    avro = version.meaning.transport == "avro"
    schema = version.avro_schema if avro else version.schema
    return SchemaDocument(AVRO if avro else JSON, version.reference, schema, json.dumps(schema))


def _tell(finding: CompatibilityFinding) -> dict[str, Any]:
    return asdict(finding)
