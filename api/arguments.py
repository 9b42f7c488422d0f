"""Arguments of the Python interface, checked so that a wrong one is refused where it was given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from cdc_contracts.registry.core.common.errors import UsageError
from cdc_contracts.registry.core.contract.table_contracts import (
    TableContracts,
    parse_table_contract,
    read_table_contracts,
)
from cdc_contracts.registry.core.contract.table_families import NO_FAMILIES, TableFamilies

Tables = str | Path | Mapping[str, Any] | Sequence[Mapping[str, Any]]
"""Table contracts: a file, a folder, or the content of one or several such files."""


def as_text(name: str, given: object, example: str) -> str:
    """Return an argument that is text. Raises UsageError if it is not."""
    if not isinstance(given, str):
        raise UsageError(
            f"{name} is text, not of the type {type(given).__name__}", hint=f'Give "{example}", for example.'
        )
    return given


def as_number(name: str, given: object, *, least: int | None = None) -> int:
    """Return an argument that is a whole number. Raises UsageError if it is not, or less than the least."""
    if isinstance(given, bool) or not isinstance(given, int) or (least is not None and given < least):
        raise UsageError(f"{name} is a whole number{'' if least is None else f' from {least}'}, not {given!r}")
    return given


def as_mapping(name: str, given: Mapping[str, str] | None, example: str) -> dict[str, str]:
    """Return an argument that is a mapping of texts. Raises UsageError if it is not."""
    if given is not None and not isinstance(given, Mapping):
        raise UsageError(f"{name} cannot be of the type {type(given).__name__}", hint=f"Give {example}, for example.")
    for value in (given or {}).values():
        if not isinstance(value, str):
            raise UsageError(
                f"a value of {name} is text, not of the type {type(value).__name__}", hint=f"Give {example}."
            )
    return dict(given or {})


def open_tables(tables: Tables | None, families: TableFamilies = NO_FAMILIES) -> TableContracts:
    """Return table contracts. Raises UsageError if there are none, ContractError if one is wrong."""
    if tables is None:
        return TableContracts(families=families)
    if isinstance(tables, str | Path):
        return read_table_contracts(Path(tables), families)
    documents = [tables] if isinstance(tables, Mapping) else tables
    if not isinstance(documents, Sequence) or not all(isinstance(one, Mapping) for one in documents):
        raise UsageError(
            f"table contracts cannot be of the type {type(tables).__name__}",
            hint='Give a file, a folder, or {"table": "shop.orders", "columns": {"id": {"type": "bigint"}}}.',
        )
    return TableContracts((parse_table_contract(dict(one), "tables") for one in documents), families=families)
