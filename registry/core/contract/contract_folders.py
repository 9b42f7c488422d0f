"""Contract folders: the catalogue of the shipped contracts and of folders that a user names."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from pathlib import Path

from cdc_contracts.registry.core.common.errors import UsageError
from cdc_contracts.registry.core.contract.catalogue import Catalogue, shipped_catalogue


def open_catalogue(folders: Sequence[Path] | None) -> Catalogue:
    """Return the shipped contracts and those of some folders.

    Raises UsageError if a folder is missing or holds no contract.
    """
    return reduce(Catalogue.with_root, check_folders(folders), shipped_catalogue())


def own_folders(catalogue: Catalogue) -> list[Path]:
    """Return the folders beside the shipped one, as they were named; those that are held in memory have no name."""
    shipped = shipped_catalogue().roots
    return [root for root in catalogue.roots if isinstance(root, Path) and root not in shipped]


def check_folders(folders: Sequence[Path] | None) -> list[Path]:
    """Return the folders that a user names. Raises UsageError if one is missing or holds no contract."""
    for folder in folders or ():
        if not folder.is_dir():
            raise UsageError(f"there is no folder {folder}", hint="A folder of contracts is needed.")
        if not any(folder.glob("*/*/v*/contract.yaml")) and not any(folder.glob("*/types/*.yaml")):
            raise UsageError(
                f"no contract below {folder}", hint="Contracts are expected at SYSTEM/DIALECT/vN/contract.yaml."
            )
    return list(folders or ())
