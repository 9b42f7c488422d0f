"""Table contract files: their YAML, their names, and adding them to a folder without overwriting other content."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import yaml

from cdc_contracts.registry.core.contract.table_contracts import TableColumn, TableContract, read_table_files

_LONGEST: Final = 180
"""The longest name that is not cut; most file systems allow 255 bytes."""
_LONGEST_KEY: Final = 1000
_PLAIN: Final = re.compile(r"[A-Za-z_](?:[A-Za-z0-9_().$-]| (?=[A-Za-z0-9_(]))*")
_NO_TEXT: Final = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n"})

NEW: Final = "new"
SAME: Final = "same"
DIFFERS: Final = "differs"


@dataclass(frozen=True)
class Filing:
    """What happens to a contract in a folder: its file, whether that is new, the same or differs, and what was there.

    `contract` is what is to be written: what a file says besides (version, zone, comments) is kept.
    """

    contract: TableContract
    file: Path
    state: str
    before: TableContract | None = None


def write_table_contract(contract: TableContract, notes: Mapping[str, str] | None = None, head: str = "") -> str:
    """Return a table contract as YAML, one column per line; notes follow columns, `head` precedes everything.

    The same contract gives the same text.
    """
    lines = [f"# {line}".rstrip() for line in head.splitlines()]
    lines.append(_pair("table", contract.table))
    if contract.version is not None:
        lines.append(_pair("version", contract.version))
    if contract.comment is not None:
        lines.append(_pair("comment", contract.comment))
    lines.append("columns:")
    for name, column in contract.columns.items():
        note = (notes or {}).get(name)
        lines.append(f"  {_pair(name, _column(column))}" + (f"  # {note}" if note else ""))
    if contract.primary_key:
        lines.append(_pair("primary_key", list(contract.primary_key)))
    if contract.source_time_zone is not None:
        lines.append(_pair("source_time_zone", contract.source_time_zone))
    return "\n".join(lines) + "\n"


def file_name(table: str, *, apart: bool = False) -> str:
    """Return the file name of a table: `shop.orders.yaml`, with other bytes percent-encoded.

    `apart` keeps it from being another's where a filesystem does not tell capital letters from small ones.
    """
    name = quote(table, safe="-_.", errors="surrogatepass").replace("~", "%7E")
    name = "%2E" + name[1:] if name.startswith(".") else name
    if apart or len(name) > _LONGEST:
        name = f"{name[:_LONGEST]}~{hashlib.sha256(table.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"
    return f"{name}.yaml"


def file_contracts(folder: Path, contracts: Iterable[TableContract]) -> list[Filing]:
    """Return the changes that contracts make in a folder; nothing is written yet.

    A table that has a contract there under another name of file keeps that file.
    Raises ContractError if a file in the folder cannot be read.
    """
    held = read_table_files(sorted(folder.rglob("*.yaml")) if folder.is_dir() else ())
    filings = []
    taken = {str(file).casefold() for file, _ in held.values()}
    for contract in contracts:
        if contract.table not in held:
            file = folder / file_name(contract.table)
            if str(file).casefold() in taken:
                file = folder / file_name(contract.table, apart=True)
            taken.add(str(file).casefold())
            filings.append(Filing(contract, file, NEW))
        else:
            file, before = held[contract.table]
            kept = keep_what_was_added(contract, before)
            filings.append(Filing(kept, file, SAME if _means(kept) == _means(before) else DIFFERS, before))
    return filings


def keep_what_was_added(contract: TableContract, before: TableContract) -> TableContract:
    """Return a contract with what only its earlier form says: version, zone, and comments that people wrote."""
    columns = {
        name: column
        if column.comment is not None or name not in before.columns
        else column.model_copy(update={"comment": before.columns[name].comment})
        for name, column in contract.columns.items()
    }
    return contract.model_copy(
        update={
            "columns": columns,
            "version": before.version if contract.version is None else contract.version,
            "comment": before.comment if contract.comment is None else contract.comment,
            "source_time_zone": before.source_time_zone
            if contract.source_time_zone is None
            else contract.source_time_zone,
        }
    )


def _means(contract: TableContract) -> TableContract:
    """Return a contract whose key columns are marked as not nullable, as its key implies."""
    columns = {
        name: column.model_copy(update={"nullable": contract.may_be_null(name)})
        for name, column in contract.columns.items()
    }
    return contract.model_copy(update={"columns": columns})


def _column(column: TableColumn) -> dict[str, Any]:
    said: dict[str, Any] = {"type": column.type}
    if not column.nullable:
        said["nullable"] = False
    if column.default is not None:
        said["default"] = column.default
    if column.comment is not None:
        said["comment"] = column.comment
    return said


def _pair(name: str, value: Any) -> str:
    """Return one member as a line of YAML; a name that is too long for one is written as an explicit key."""
    key = write_scalar(name)
    return f"{key}: {_flow(value)}" if len(key) < _LONGEST_KEY else f"? {key}\n  : {_flow(value)}"


def _flow(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(_pair(name, one) for name, one in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_flow, value)) + "]"
    return write_scalar(value) if isinstance(value, str) else str(value).lower()


def write_scalar(text: str) -> str:
    """Return a text as every reader of YAML takes it; what some take for the end of a line is escaped."""
    if _PLAIN.fullmatch(text) and text.lower() not in _NO_TEXT:
        return text
    return yaml.safe_dump(text, default_style='"', allow_unicode=text.isprintable(), width=float("inf")).strip()
