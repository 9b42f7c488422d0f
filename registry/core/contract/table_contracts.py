"""Table contracts: what a user states about one source table."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import AfterValidator, Field

from cdc_contracts.registry.core.common import yaml_documents
from cdc_contracts.registry.core.common.errors import ContractError, UsageError
from cdc_contracts.registry.core.common.time_zones import Zone, parse_zone
from cdc_contracts.registry.core.contract.document_model import Document
from cdc_contracts.registry.core.contract.table_families import NO_FAMILIES, TableFamilies


def _zone(text: str) -> str:
    parse_zone(text)
    return text


class TableColumn(Document):
    """One column: its source type as the database names it, and whether it may be NULL."""

    type: str
    """The type as the source database names it, such as decimal(20,2)."""
    nullable: bool = True
    """Whether the column may be NULL."""
    default: str | None = None
    """The constant that a row has where a statement leaves the column out, in any spelling; a producer may send
    it in place of NULL."""
    comment: str | None = None
    """What the column is, for people."""


class TableContract(Document):
    """One source table: `database.table`, its columns, primary key and the zone of its zone-less timestamps.

    `version` counts what its owner published of it, as `NAME@N`; no message is validated by it.
    """

    table: str
    """The table, as DATABASE.TABLE or DATABASE.SCHEMA.TABLE."""
    version: Annotated[int, Field(ge=1)] | None = None
    """How many times its owner has published it."""
    comment: str | None = None
    """What the table is, for people."""
    columns: dict[str, TableColumn] = Field(min_length=1)
    """The columns by name."""
    primary_key: tuple[str, ...] = ()
    """The columns of the primary key, in order."""
    source_time_zone: Annotated[str, AfterValidator(_zone)] | None = None
    """The zone of timestamps that the source writes without one, such as Asia/Shanghai or +08:00."""

    @property
    def reference(self) -> str:
        """The name of the contract: `shop.orders@2`, or only the table if it has no version."""
        return self.table if self.version is None else f"{self.table}@{self.version}"

    def may_be_null(self, name: str) -> bool:
        """Return whether a column may be NULL: one of the primary key may not, whether it says so or leaves it out."""
        return self.columns[name].nullable and name not in self.primary_key

    @cached_property
    def types(self) -> dict[str, str]:
        return {name: column.type for name, column in self.columns.items()}

    @cached_property
    def defaulted(self) -> tuple[str, ...]:
        """The columns that may be NULL and have a default."""
        return tuple(
            name for name, column in self.columns.items() if column.default is not None and self.may_be_null(name)
        )

    @cached_property
    def zone(self) -> Zone | None:
        return None if self.source_time_zone is None else parse_zone(self.source_time_zone)


_PROSE: Final[Any] = {"version": True, "comment": True, "columns": {"__all__": {"comment"}}}
"""Keys that say nothing about messages: they are not part of a run's fingerprint."""


class TableContracts:
    """The table contracts of a run, found by the names in a message; `origin` is where they were read from.

    A shard of one of the `families` without a contract of its own has that of its family.
    """

    def __init__(
        self,
        contracts: Iterable[TableContract] = (),
        *,
        origin: Path | None = None,
        families: TableFamilies = NO_FAMILIES,
    ) -> None:
        self.origin = origin
        self.families = families
        self._by_name: dict[str, TableContract] = {}
        for contract in contracts:
            if contract.table in self._by_name:
                raise ContractError(f"two contracts for table {contract.table}")
            self._by_name[contract.table] = contract

    def __bool__(self) -> bool:
        return bool(self._by_name)

    def of(self, database: str | None, schema: str | None, table: str | None) -> TableContract | None:
        """Return the contract of a table, or None if there is none."""
        if not self._by_name or table is None:
            return None
        return self._find(table_name(database, schema, table) or "")

    def lists(self, name: str | None) -> bool:
        """Return whether there is a contract of the table with a full name."""
        return self._find(name or "") is not None

    def _find(self, name: str) -> TableContract | None:
        return self._by_name.get(name) or self._by_name.get(self.families.family_of(name) or "")

    def of_families(self) -> bool:
        """Return whether there is a contract of a family, so that what is a shard of it decides how it is read."""
        return not self._by_name.keys().isdisjoint(self.families.patterns)

    def first(self) -> TableContract | None:
        """Return the contract that comes first by name, None if there is none."""
        return self._by_name[min(self._by_name)] if self._by_name else None

    def names(self) -> tuple[str, ...]:
        """Return the tables that are listed, in order."""
        return tuple(sorted(self._by_name))

    @cached_property
    def key_columns(self) -> frozenset[str]:
        """The columns that are part of the primary key of some table."""
        return frozenset(name for contract in self._by_name.values() for name in contract.primary_key)

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 over all that the contracts say."""
        text = json.dumps(self.documents(), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()

    def documents(self) -> list[dict[str, Any]]:
        """Return the parts that affect validation as plain data, in order of the names of the tables."""
        return [self._by_name[name].model_dump(exclude=_PROSE) for name in sorted(self._by_name)]


def table_name(database: str | None, schema: str | None, table: str | None) -> str | None:
    """Return the name of a table as findings and table contracts write it: its parts joined by dots."""
    if table is None:
        return None
    return ".".join(filter(None, (database, schema, table)))


def read_table_contracts(path: Path | None, families: TableFamilies = NO_FAMILIES) -> TableContracts:
    """Return the table contracts of one file, or of every `.yaml` file below a folder; of None there are none.

    Raises ContractError if a document is wrong, UsageError if there is none.
    """
    found = {} if path is None else read_table_files(table_files([path]))
    return TableContracts((contract for _, contract in found.values()), origin=path, families=families)


def table_files(paths: Iterable[Path]) -> list[Path]:
    """Return the files that some paths name: themselves, or every `.yaml` file below a folder.

    Raises UsageError if a path leads to none.
    """
    found: list[Path] = []
    for path in paths:
        if not path.exists():
            raise UsageError(f"there is no file or folder {path}", hint="Give a YAML file or a folder of them.")
        below = sorted(path.rglob("*.yaml")) if path.is_dir() else [path]
        if not below:
            raise UsageError(f"no .yaml file below {path}")
        found += below
    return found


def read_table_files(files: Iterable[Path]) -> dict[str, tuple[Path, TableContract]]:
    """Return the table contracts of files by table, each with its file.

    Raises ContractError if a document is wrong, or a table has two contracts.
    """
    found: dict[str, tuple[Path, TableContract]] = {}
    for file in files:
        contract = parse_table_contract(yaml_documents.read_document(file), str(file))
        if contract.table in found:
            raise ContractError(
                f"two contracts for table {contract.table}", where=f"{found[contract.table][0]} and {file}"
            )
        found[contract.table] = (file, contract)
    return found


def parse_table_contract(document: dict[str, Any], where: str) -> TableContract:
    """Return a table contract. Raises ContractError if a key or value is not allowed."""
    contract = TableContract.checked(yaml_documents.without_nulls(document), where)
    missing = [name for name in contract.primary_key if name not in contract.columns]
    if missing:
        raise ContractError(f"primary_key names `{missing[0]}`, which is not a column", where=where)
    return contract
