"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cdc_contracts.registry.errors import UsageError

if TYPE_CHECKING:
    from cdc_contracts.registry.catalogue import Catalogue

ContractFolders = Annotated[
    list[Path] | None,
    typer.Option("--contracts", metavar="DIR", help="Your own contracts, besides those shipped. Repeatable."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for a machine.")]


def open_catalogue(folders: Sequence[Path] | None) -> Catalogue:
    """Return the shipped contracts together with those of some folders.

    Raises UsageError where a folder is missing or holds no contract.
    """
    from cdc_contracts.registry.catalogue import Catalogue, shipped_catalogue

    return Catalogue([*shipped_catalogue().roots, *check_folders(folders)])


def check_folders(folders: Sequence[Path] | None) -> list[Path]:
    """Return the folders that `--contracts` names. Raises UsageError where one is missing or holds no contract."""
    for folder in folders or ():
        if not folder.is_dir():
            raise UsageError(f"there is no folder {folder}", mend="--contracts takes a folder of contracts")
        if not any(folder.glob("*/*/v*/contract.yaml")) and not any(folder.glob("*/types/*.yaml")):
            raise UsageError(f"no contract below {folder}", mend="contracts stand in SYSTEM/DIALECT/vN/contract.yaml")
    return list(folders or ())
