"""Contract listings for machines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cdc_contracts.registry.core.contract.phrases import describe_evidence

if TYPE_CHECKING:
    from cdc_contracts.registry.core.contract.catalogue import Version


def list_version(version: Version) -> dict[str, Any]:
    """Return the list entry of one version. Raises ContractError if it is inconsistent."""
    system, dialect = version.subject.split("/")
    meaning = version.resolved
    return {
        "reference": version.reference,
        "system": system,
        "dialect": dialect,
        "version": version.number,
        "applies": meaning.get("applies"),
        "status": meaning.get("status"),
        "transport": meaning.get("transport"),
        "told_apart_by": [describe_evidence(entry) for entry in meaning.get("version_evidence", [])],
    }
