"""`cdc-contracts schema`: the schema of a version's messages or of one table's, to take away; or written beside all."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cdc_contracts.cli import console, judging
from cdc_contracts.cli.options import ContractFolders, open_catalogue
from cdc_contracts.registry.errors import UsageError

if TYPE_CHECKING:
    from cdc_contracts.registry.catalogue import Version
    from cdc_contracts.registry.tables import TableContract
    from cdc_contracts.registry.terms import Terms


class Format(StrEnum):
    """The language of a schema."""

    JSON_SCHEMA = "json-schema"
    AVRO = "avro"
    AVRO_CANONICAL = "avro-canonical"
    SPARK_DDL = "spark-ddl"
    DUCKDB = "duckdb"
    FLINK_DDL = "flink-ddl"
    PYDANTIC = "pydantic"
    ODCS = "odcs"


TableName = Annotated[
    str | None,
    typer.Option(
        "--table", metavar="[DATABASE.]TABLE", help="The table whose schema it is; needed where there are several."
    ),
]


def schema(
    reference: Annotated[str | None, typer.Argument(metavar="REF", help="SYSTEM/DIALECT@N, or @latest.")] = None,
    kind: Annotated[Format, typer.Option("--format", help="The language of the schema.")] = Format.JSON_SCHEMA,
    tables: judging.Tables = None,
    table: TableName = None,
    parameters: judging.Parameters = None,
    write: Annotated[
        Path | None,
        typer.Option("--write", metavar="FOLDER", help="Write both schemas beside every contract in a folder."),
    ] = None,
    contracts: ContractFolders = None,
) -> None:
    """Print the whole schema of a version's messages: what a validator, a code generator or a registry needs.

    With --tables or --table it is the schema of one table's messages: every column by name, with the form of its type.
    With --write the schemas of all contracts in a folder are written as message.schema.json and message.avsc; lint
    tells those that are no longer what their contract says.
    """
    if (reference is None) == (write is None):
        raise UsageError("give a contract, or --write and a folder of contracts", mend="`cdc-contracts list` shows all")
    if write is not None:
        if tables is not None or table is not None:
            raise UsageError("--write writes schemas of versions, not of tables", mend="leave out --tables, --table")
        _write(write)
        return
    if tables is None and table is None:
        console.write(_message_schema(open_catalogue(contracts).version(reference or ""), kind))
        return
    judged = judging.Judging(folders=contracts, tables=tables, parameters=parameters)
    catalogue, terms, _ = judged.open_terms()
    version = catalogue.version(reference or "")
    console.write(_table_schema(version, kind, _choose(terms, table), terms))


def _message_schema(version: Version, kind: Format) -> str:
    from cdc_contracts.registry.message_schemas.avro_schema import avro_message_schema
    from cdc_contracts.registry.message_schemas.json_schema import message_schema
    from cdc_contracts.registry.message_schemas.layout import lay_out

    match kind:
        case Format.JSON_SCHEMA:
            told: Any = message_schema(version)
        case Format.AVRO:
            told = avro_message_schema(version)
        case _:
            raise UsageError(f"{kind} is said of the rows of a table", mend="give --tables, and --table of several")
    return lay_out(told)


def _table_schema(version: Version, kind: Format, table: TableContract, terms: Terms) -> str:
    """Return the schema of a table's messages. Raises UsageError where the version or the format cannot say it."""
    from cdc_contracts.registry.message_schemas.bound_avro import bound_avro_schema
    from cdc_contracts.registry.message_schemas.bound_schema import bound_schema
    from cdc_contracts.registry.message_schemas.layout import lay_out
    from cdc_contracts.registry.table_schemas.avro_row import avro_row_schema
    from cdc_contracts.registry.table_schemas.canonical_table import canonical_table
    from cdc_contracts.registry.table_schemas.ddl import DDL
    from cdc_contracts.registry.table_schemas.odcs import odcs_document
    from cdc_contracts.registry.table_schemas.pydantic_model import pydantic_module

    match kind:
        case Format.JSON_SCHEMA:
            return lay_out(bound_schema(version, table, terms))
        case Format.AVRO:
            return lay_out(bound_avro_schema(version, table, terms))
    layout = canonical_table(version, table, terms)
    match kind:
        case Format.AVRO_CANONICAL:
            return lay_out(avro_row_schema(layout))
        case Format.PYDANTIC:
            return pydantic_module(layout)
        case Format.ODCS:
            return odcs_document(version, table, layout)
        case _:
            return DDL[kind](layout)


def _choose(terms: Terms, name: str | None) -> TableContract:
    """Return the table contract of a name, or the only one. Raises UsageError where there is none, or several."""
    names = terms.tables.names()
    if not names:
        raise UsageError("there are no table contracts", mend="--tables takes a YAML file or a folder of them")
    if name is None and len(names) > 1:
        raise UsageError(f"there are {len(names)} table contracts", mend="--table takes one of " + ", ".join(names))
    found = terms.tables.of(None, None, name or names[0])
    if found is None:
        raise UsageError(f"no table contract is of {name}", where="--table", mend="there are: " + ", ".join(names))
    return found


def _write(folder: Path) -> None:
    from cdc_contracts.registry.message_schemas.files import write_message_files
    from cdc_contracts.registry.publishing.publications import open_own_versions

    if not folder.is_dir():
        raise UsageError(f"there is no folder {folder}", mend="give a folder of contracts: SYSTEM/DIALECT/vN below it")
    versions = open_own_versions(folder)
    if not versions:
        raise UsageError(f"{folder} holds no contracts", mend="give the folder above SYSTEM/DIALECT/vN/contract.yaml")
    canonical = versions[0].catalogue.canonical
    if Path(str(canonical.folder)).resolve().is_relative_to(folder.resolve()):
        versions = (*versions, canonical)
    count = 0
    for version in versions:
        written = write_message_files(version)
        for file in written:
            console.print_line(f"wrote {file}")
        count += len(written)
    console.say(
        f"{len(versions)} contracts, {count} files written" if count else "every schema is as its contract says"
    )
