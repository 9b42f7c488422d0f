"""What is published stays: two catalogues compared version by version.

A published version may change only in prose, samples and provenance. A new version is compared with the one before it
and reported, never failed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cdc_contracts.registry.catalogue import Catalogue
    from cdc_contracts.registry.compatibility.verdict import CompatibilityFinding


def compare_published(old: Catalogue, new: Catalogue) -> tuple[CompatibilityFinding, ...]:
    """Return what became of the published contracts of `old` in `new`, by reference.

    Findings of severity `breaking` are changes that no published version may see; those of severity `note` tell new
    versions and what they change. Raises ContractError where a contract does not hold together.
    """
    raise NotImplementedError(old, new)
