"""`cdc-contracts schema`: the schema of a version's or of one table's messages, printed or written to files."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cdc_contracts.cli.options import validation_options
from cdc_contracts.cli.options.output_options import RowLayout
from cdc_contracts.cli.options.shared_options import ContractFolders, open_catalogue
from cdc_contracts.cli.output import console
from cdc_contracts.registry.core.common.errors import UsageError

if TYPE_CHECKING:
    from cdc_contracts.registry.core.contract.catalogue import Version
    from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
    from cdc_contracts.registry.core.contract.table_contracts import TableContract


class SchemaFormat(StrEnum):
    """The language of a schema."""

    JSON_SCHEMA = "json-schema"
    AVRO = "avro"
    AVRO_CANONICAL = "avro-canonical"
    SPARK_DDL = "spark-ddl"
    DUCKDB = "duckdb"
    FLINK_DDL = "flink-ddl"
    PYDANTIC = "pydantic"
    PYTHON = "python"
    ODCS = "odcs"
    BIGQUERY = "bigquery"
    SNOWFLAKE = "snowflake"
    CLICKHOUSE = "clickhouse"
    STARROCKS = "starrocks"
    DORIS = "doris"
    DBT = "dbt"
    ICEBERG = "iceberg"
    DELTA = "delta"
    ASYNCAPI = "asyncapi"


_MESSAGES = (SchemaFormat.JSON_SCHEMA, SchemaFormat.AVRO, SchemaFormat.ASYNCAPI, SchemaFormat.PYTHON)
"""Formats that describe messages and what is read of them, not the rows that decode writes."""

TableName = Annotated[
    str | None, typer.Option("--table", metavar="[DATABASE.]TABLE", help="The table; required if there are several.")
]


def schema(
    reference: Annotated[str | None, typer.Argument(metavar="REF", help="SYSTEM/DIALECT@N, or @latest.")] = None,
    kind: Annotated[
        SchemaFormat, typer.Option("--format", help="The format of the schema.")
    ] = SchemaFormat.JSON_SCHEMA,
    tables: validation_options.Tables = None,
    table: TableName = None,
    parameters: validation_options.Parameters = None,
    layout: Annotated[
        RowLayout, typer.Option("--layout", help="The layout of decoded rows: that of `decode --layout`.")
    ] = RowLayout.NESTED,
    topic: Annotated[
        str | None, typer.Option("--topic", metavar="TOPIC", help="The topic that --format asyncapi names.")
    ] = None,
    write: Annotated[
        Path | None,
        typer.Option("--write", metavar="FOLDER", help="Write both schemas beside every contract in a folder."),
    ] = None,
    contracts: ContractFolders = None,
) -> None:
    """Print the full schema of a version's messages, for a validator, a code generator or a registry.

    With --tables or --table it is the schema of one table's messages: every column by name, with the form of its type.
    With --write the schemas of all contracts in a folder are written as message.schema.json and message.avsc; lint
    reports stale ones.
    """
    if topic is not None and kind is not SchemaFormat.ASYNCAPI:
        raise UsageError("--topic is a part of --format asyncapi", hint="Leave out --topic, or give --format asyncapi.")
    if layout is RowLayout.FLAT and kind in _MESSAGES:
        raise UsageError(
            f"{kind} describes messages and their values, which have no layout", hint="Leave out --layout flat."
        )
    if (reference is None) == (write is None):
        raise UsageError(
            "give a contract, or --write and a folder of contracts", hint="`cdc-contracts list` shows all."
        )
    if write is not None:
        if tables is not None or table is not None:
            raise UsageError("--write writes schemas of versions, not of tables", hint="Leave out --tables, --table.")
        _write(write)
        return
    if tables is None and table is None:
        console.write(_message_schema(open_catalogue(contracts).version(reference or ""), kind, topic))
        return
    validated = validation_options.ValidationOptions(folders=contracts, tables=tables, parameters=parameters)
    catalogue, reading_options, _ = validated.open_reading_options()
    version = catalogue.version(reference or "")
    chosen = _choose(reading_options, table)
    console.write(
        _messages_of(version, kind, chosen, reading_options, topic)
        if kind in _MESSAGES
        else _table_schema(version, kind, chosen, reading_options, layout)
    )


def _message_schema(version: Version, kind: SchemaFormat, topic: str | None) -> str:
    from cdc_contracts.registry.core.schema.message_schemas.asyncapi_document import asyncapi_document
    from cdc_contracts.registry.core.schema.message_schemas.message_avro_schema import avro_message_schema
    from cdc_contracts.registry.core.schema.message_schemas.message_json_schema import message_schema
    from cdc_contracts.registry.core.schema.message_schemas.schema_files import lay_out

    match kind:
        case SchemaFormat.JSON_SCHEMA:
            result: Any = message_schema(version)
        case SchemaFormat.AVRO:
            result = avro_message_schema(version)
        case SchemaFormat.ASYNCAPI:
            return asyncapi_document(version, message_schema(version), topic)
        case _:
            raise UsageError(
                f"{kind} describes the rows of a table", hint="Give --tables, and --table if there are several."
            )
    return lay_out(result)


def _messages_of(
    version: Version, kind: SchemaFormat, table: TableContract, reading_options: ReadingOptions, topic: str | None
) -> str:
    """Return the schema of a table's messages. Raises UsageError if the version or the format cannot express it."""
    from cdc_contracts.registry.core.schema.message_schemas.asyncapi_document import asyncapi_document
    from cdc_contracts.registry.core.schema.message_schemas.bound_avro import bound_avro_schema
    from cdc_contracts.registry.core.schema.message_schemas.bound_schema import bound_schema
    from cdc_contracts.registry.core.schema.message_schemas.schema_files import lay_out
    from cdc_contracts.registry.core.tables.schemas.row_types import row_types_module

    match kind:
        case SchemaFormat.PYTHON:
            return row_types_module(version, table, reading_options)
        case SchemaFormat.AVRO:
            return lay_out(bound_avro_schema(version, table, reading_options))
    schema = bound_schema(version, table, reading_options)
    return lay_out(schema) if kind is SchemaFormat.JSON_SCHEMA else asyncapi_document(version, schema, topic)


def _table_schema(
    version: Version, kind: SchemaFormat, table: TableContract, reading_options: ReadingOptions, shape: str
) -> str:
    """Return the schema of a table's decoded rows."""
    from cdc_contracts.registry.core.schema.message_schemas.schema_files import lay_out
    from cdc_contracts.registry.core.tables.canonical.layout_resolution import canonical_table
    from cdc_contracts.registry.core.tables.schemas.avro_row import avro_row_schema
    from cdc_contracts.registry.core.tables.schemas.dbt_sources import dbt_sources
    from cdc_contracts.registry.core.tables.schemas.lakehouse_schemas import delta_schema, iceberg_schema
    from cdc_contracts.registry.core.tables.schemas.odcs import odcs_document
    from cdc_contracts.registry.core.tables.schemas.pydantic_model import pydantic_module
    from cdc_contracts.registry.core.tables.schemas.warehouse_sql import warehouse_ddl

    layout = canonical_table(version, table, reading_options, shape)
    match kind:
        case SchemaFormat.AVRO_CANONICAL:
            return lay_out(avro_row_schema(layout))
        case SchemaFormat.PYDANTIC:
            return pydantic_module(layout)
        case SchemaFormat.ODCS:
            return odcs_document(version, table, layout)
        case SchemaFormat.DBT:
            return dbt_sources(table, layout)
        case SchemaFormat.ICEBERG:
            return lay_out(iceberg_schema(layout))
        case SchemaFormat.DELTA:
            return lay_out(delta_schema(layout))
        case _:
            return warehouse_ddl(kind, layout, table)


def _choose(reading_options: ReadingOptions, name: str | None) -> TableContract:
    """Return the table contract with a name, or the only one. Raises UsageError if there is none, or several."""
    names = reading_options.tables.names()
    if not names:
        raise UsageError("there are no table contracts", hint="Give --tables with a YAML file or a folder of them.")
    if name is None and len(names) > 1:
        raise UsageError(
            f"there are {len(names)} table contracts", hint=f"Give --table with one of {', '.join(names)}."
        )
    found = reading_options.tables.of(None, None, name or names[0])
    if found is None:
        raise UsageError(
            f"there is no table contract for {name}", where="--table", hint=f"There are {', '.join(names)}."
        )
    return found


def _write(folder: Path) -> None:
    from cdc_contracts.registry.authoring.sync.publications import open_own_versions
    from cdc_contracts.registry.core.schema.message_schemas.schema_files import write_message_files

    if not folder.is_dir():
        raise UsageError(f"there is no folder {folder}", hint="Give a folder of contracts: SYSTEM/DIALECT/vN below it.")
    versions = open_own_versions(folder)
    if not versions:
        raise UsageError(f"{folder} holds no contracts", hint="Give the folder above SYSTEM/DIALECT/vN/contract.yaml.")
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
