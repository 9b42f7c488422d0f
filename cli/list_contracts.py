"""`cdc-contracts list`: every known contract."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cdc_contracts.cli.options.shared_options import AsJson, ContractFolders, open_catalogue
from cdc_contracts.cli.output import console

if TYPE_CHECKING:
    from cdc_contracts.registry.core.contract.catalogue import Catalogue, Version


def list_contracts(contracts: ContractFolders = None, *, as_json: AsJson = False) -> None:
    """List every contract: system, dialect, version, what it applies to, and how versions differ."""
    from cdc_contracts.registry.authoring.explain.contract_listings import list_version
    from cdc_contracts.registry.core.contract.phrases import describe_distinction

    catalogue = open_catalogue(contracts)
    if as_json:
        console.print_json({
            "contracts": [list_version(version) for version in catalogue.all_versions()],
            "canonical": [_canonical(catalogue.canonical)],
        })  # fmt: skip
        return
    _print_versions(catalogue)
    console.print_heading("How to tell versions apart")
    apart: dict[str, list[str]] = {}
    for subject in catalogue.subjects():
        apart.setdefault(describe_distinction(catalogue.versions(subject)), []).append(subject)
    rows = [("\n".join(subjects), result) for result, subjects in apart.items() if result]
    console.print_table(["", ""], rows)
    console.print_heading("What every contract decodes to")
    console.print_table(["", ""], [(catalogue.canonical.reference, "the canonical change event")])


def _print_versions(catalogue: Catalogue) -> None:
    from cdc_contracts.registry.core.contract.catalogue import span

    rows = []
    for subject in catalogue.subjects():
        system, dialect = subject.split("/")
        for index, version in enumerate(catalogue.versions(subject)):
            shown = (system, dialect) if index == 0 else ("", "")
            meaning = version.resolved
            rows.append([*shown, f"@{version.number}", span(version), meaning.get("status"), meaning.get("transport")])
    console.print_table(["SYSTEM", "DIALECT", "@N", "APPLIES", "STATUS", "SENT"], rows, fixed=2)


def _canonical(version: Version) -> dict[str, Any]:
    return {"reference": version.reference, "version": version.number, "status": version.resolved.get("status")}
