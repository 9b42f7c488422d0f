"""Table revisions: table contracts to compare, of a file, of a folder, or of a commit."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Final

from cdc_contracts.registry.authoring.compat.tables.table_comparison import FiledTable
from cdc_contracts.registry.authoring.review.revisions.git import Repository
from cdc_contracts.registry.core.common import yaml_documents
from cdc_contracts.registry.core.common.errors import ContractError, UsageError
from cdc_contracts.registry.core.contract.catalogue import TABLES
from cdc_contracts.registry.core.contract.table_contracts import parse_table_contract

_ENDING: Final = ".yaml"


def read_tables(path: Traversable) -> list[FiledTable]:
    """Return the table contracts of a file, or of every `.yaml` file below a folder.

    Raises UsageError if there is none, ContractError if one is wrong or two are of one table.
    """
    if not path.is_file() and not path.is_dir():
        raise UsageError(f"there is no file or folder {path}")
    found = [_read(file) for file in ([path] if path.is_file() else _files(path))]
    seen: dict[str, Traversable | None] = {}
    for one in found:
        if one.contract.table in seen:
            where = f"{seen[one.contract.table]} and {one.file}"
            raise ContractError(f"two contracts for table {one.contract.table}", where=where)
        seen[one.contract.table] = one.file
    if not found:
        raise UsageError(f"no {_ENDING} file below {path}")
    return found


def published_tables(reference: str, path: Path) -> list[FiledTable]:
    """Return the table contracts of a folder at a git ref; none if it did not exist yet.

    Raises UsageError if there is no such ref, UnavailableError if there is no repository.
    """
    folder = path if path.is_dir() else path.parent
    repository = Repository(folder)
    commit = repository.commit(reference)
    inside = folder.resolve().relative_to(repository.top().resolve()).as_posix()
    tree = repository.tree(commit, "" if inside == "." else inside, f"{reference}:{inside}")
    if tree is None:
        return []
    if path.is_dir():
        return [_read(file) for file in _files(tree)]
    file = tree.joinpath(path.name)
    return [_read(file)] if file.is_file() else []


def tables_beside(root: Traversable) -> list[FiledTable]:
    """Return the table contracts in a folder of contracts, if it has any. Raises ContractError if one is wrong."""
    folder = root.joinpath(TABLES)
    return [_read(file) for file in _files(folder)] if folder.is_dir() else []


def _files(folder: Traversable) -> Iterator[Traversable]:
    for entry in sorted(folder.iterdir(), key=lambda one: one.name):
        if entry.is_dir():
            yield from _files(entry)
        elif entry.name.endswith(_ENDING):
            yield entry


def _read(file: Traversable) -> FiledTable:
    return FiledTable(parse_table_contract(yaml_documents.read_document(file), str(file)), file)
