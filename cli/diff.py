"""`cdc-contracts diff`: the differences between two contracts."""

from __future__ import annotations

from dataclasses import asdict
from itertools import groupby
from typing import TYPE_CHECKING, Annotated

import typer

from cdc_contracts.cli.options.shared_options import AsJson, ContractFolders, open_catalogue
from cdc_contracts.cli.output import console

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cdc_contracts.registry.authoring.explain.contract_differences import ContractDifference, ContractDifferences


def diff(
    left: Annotated[str, typer.Argument(metavar="REF", help="SYSTEM/DIALECT@N.")],
    right: Annotated[str, typer.Argument(metavar="REF", help="SYSTEM/DIALECT@N.")],
    contracts: ContractFolders = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Show how two contracts differ, in the terms of contracts. Always exits with 0."""
    from cdc_contracts.registry.authoring.explain.contract_differences import compare

    catalogue = open_catalogue(contracts)
    found = compare(catalogue.version(left), catalogue.version(right))
    if as_json:
        console.print_json(asdict(found))
        return
    console.print_heading(f"{found.left} and {found.right}", first=True)
    if not found.meaning:
        console.print_line("say the same.")
    for group, entries in groupby((*found.meaning, *found.prose), key=lambda one: one.group):
        _print_group(found, group, list(entries))


def _print_group(found: ContractDifferences, title: str, entries: Sequence[ContractDifference]) -> None:
    from cdc_contracts.registry.authoring.explain.contract_differences import PRESENT

    console.print_heading(title.capitalize())
    changed = [one for one in entries if PRESENT not in (one.left, one.right)]
    rows = [(one.what, one.left or "-", "→", one.right or "-") for one in changed]
    console.print_table(["", "", "", ""], rows, fixed=0)
    only = [(found.left if one.right is None else found.right, one.what) for one in entries if one not in changed]
    console.print_table(["", ""], [(f"only {reference}", what) for reference, what in only])
