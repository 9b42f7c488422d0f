"""Format evidence: what the contracts of a subject rest on: messages of real producers, source code, or documents."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Final

from cdc_contracts.registry.core.common import yaml_documents
from cdc_contracts.registry.core.contract.catalogue import Version

CAPTURES: Final = Path(__file__).parents[1] / "tests" / "producers" / "captures"
_LISTED: Final = Path(__file__).with_name("evidence.yaml")
_CODE: Final = (".go", ".java")


def captures_of(subject: str) -> list[Path]:
    """Return the captures of real producers whose messages are of a subject."""
    patterns = _patterns().get(subject, [])
    return sorted(file for pattern in patterns for file in CAPTURES.glob(pattern))


def describe_proof(version: Version) -> str:
    """Return what the contracts of a subject rest on, in words; releases are in the order of their numbers."""
    releases = {file.relative_to(CAPTURES).parts[1] for file in captures_of(version.subject)}
    if releases:
        return f"real runs of {', '.join(sorted(releases, key=_numbers))}"
    provenance = version.resolved["provenance"]
    documents = [provenance["document"], *provenance.get("by_kind", {}).values()]
    sources = [version.catalogue.source_documents.get(one) for one in documents]
    addresses = [one.address or "" for one in sources if one is not None]
    return "source code" if addresses and all(one.endswith(_CODE) for one in addresses) else "documents"


def _numbers(release: str) -> list[int]:
    return [int(part) for part in release.split(".")]


@cache
def _patterns() -> dict[str, list[str]]:
    return dict(yaml_documents.read_document(_LISTED)["captures"])
