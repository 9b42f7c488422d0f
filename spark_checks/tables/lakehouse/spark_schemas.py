"""Spark schemas of tables: created once, extended by new columns, never changed otherwise."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from cdc_contracts.registry.core.common.errors import UnavailableError
from cdc_contracts.registry.core.tables.schemas.create_table_sql import SPARK
from cdc_contracts.spark_checks.spark.arrow_schemas import arrow_type, spark_schema
from cdc_contracts.spark_checks.tables.lakehouse.table_identifiers import quote

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructField, StructType

OWN: Final = "cdc-contracts."
"""What the names of our properties begin with."""
_ODD: Final = frozenset(" ,;{}()\n\t=")
"""What Delta takes in the name of a column only where it maps names."""
_WALL_CLOCK: Final = "timestamp_ntz"


def ensure_table(
    session: SparkSession, identifier: str, table_format: str, schema: pa.Schema, facts: Mapping[str, str]
) -> StructType:
    """Make sure that a table exists and has the columns of a schema; return its schema.

    `facts` are fixed properties of the table; this is idempotent.
    Raises UnavailableError if the table is another one, has a column of another type, or cannot be created.
    """
    from pyspark.errors import AnalysisException

    try:
        return _ensure_table(session, identifier, table_format, schema, facts)
    except AnalysisException as error:
        raise UnavailableError(
            f"the table cannot be created or changed: {str(error).partition(chr(10))[0]}",
            where=identifier,
            hint="Create the schema in the catalog, or whatever else is missing, and run the command again.",
        ) from error


def _ensure_table(
    session: SparkSession, identifier: str, table_format: str, schema: pa.Schema, facts: Mapping[str, str]
) -> StructType:
    wanted = spark_schema(schema)
    properties = {f"{OWN}{name}": value for name, value in facts.items()}
    columns = ", ".join(_declare(field) for field in wanted)
    result = properties | (_delta_needs(wanted.fields) if table_format == "delta" else {})
    session.sql(f"CREATE TABLE IF NOT EXISTS {identifier} ({columns}) USING {table_format} {_properties(result)}")
    _check_facts(session, identifier, properties)
    found = session.table(identifier).schema
    missing = list(_missing(identifier, found, wanted))
    if not missing:
        return found
    if table_format == "delta" and (needs := _delta_needs(field for _, field in missing)):
        session.sql(f"ALTER TABLE {identifier} SET {_properties(needs)}")
    added = ", ".join(f"{prefix}{_declare(field)}" for prefix, field in missing)
    session.sql(f"ALTER TABLE {identifier} ADD COLUMNS ({added})")
    return session.table(identifier).schema


def read_facts(session: SparkSession, identifier: str) -> dict[str, str] | None:
    """Return the facts that `ensure_table` stored for a table, None if there is no table."""
    from pyspark.errors import AnalysisException

    try:
        found = _read_properties(session, identifier)
    except AnalysisException:
        return None
    return {name.removeprefix(OWN): value for name, value in found.items() if name.startswith(OWN)}


def _read_properties(session: SparkSession, identifier: str) -> dict[str, str]:
    return {row[0]: row[1] for row in session.sql(f"SHOW TBLPROPERTIES {identifier}").collect()}


def _check_facts(session: SparkSession, identifier: str, properties: Mapping[str, str]) -> None:
    found = _read_properties(session, identifier)
    for name, value in properties.items():
        if found.get(name) != value:
            raise UnavailableError(
                f"the existing table is a different one: its {name} is {found.get(name)!r}, and not {value!r}",
                where=identifier,
                hint="Move it away, or write to another place; current rows are rebuilt from the history.",
            )


def _missing(identifier: str, found: StructType, wanted: StructType) -> Iterator[tuple[str, StructField]]:
    """Yield the columns that a table lacks, each with the prefix of its name; images are compared inside."""
    from pyspark.sql.types import StructType

    there = {field.name: field.dataType for field in found}
    for field in wanted:
        present = there.get(field.name)
        if present is None:
            yield "", field
        elif isinstance(present, StructType) and isinstance(field.dataType, StructType):
            for prefix, inner in _missing(identifier, present, field.dataType):
                yield f"{quote(field.name)}.{prefix}", inner
        elif type(present) is not type(field.dataType) or present.simpleString() != field.dataType.simpleString():
            raise UnavailableError(
                f"column {field.name} has type {present.simpleString()}, and not {field.dataType.simpleString()}",
                where=identifier,
                hint="A type is never changed: move the table away, or write to another place.",
            )


def _declare(field: StructField) -> str:
    return f"{quote(field.name)} {SPARK.type(arrow_type(field.dataType))}"


def _delta_needs(fields: Iterable[StructField]) -> dict[str, str]:
    """Return the properties that a Delta table needs for such columns; they exclude readers without support."""
    needs: dict[str, str] = {}
    for name, kind in _walk(fields):
        if _ODD & set(name):
            needs["delta.columnMapping.mode"] = "name"
        if kind == _WALL_CLOCK:
            needs["delta.feature.timestampNtz"] = "supported"
    return needs


def _walk(fields: Iterable[StructField]) -> Iterator[tuple[str, str]]:
    from pyspark.sql.types import StructType

    for field in fields:
        yield field.name, field.dataType.simpleString()
        if isinstance(field.dataType, StructType):
            yield from _walk(field.dataType)


def _properties(values: Mapping[str, Any]) -> str:
    if not values:
        return ""
    # Only names and JSON are passed here; SQL escapes a backslash and a quote by a backslash.
    result = ", ".join(f"'{name}' = '{escape(value)}'" for name, value in values.items())
    return f"TBLPROPERTIES ({result})"


def escape(text: str) -> str:
    """Return a text escaped for an SQL string literal."""
    return text.replace("\\", "\\\\").replace("'", "\\'")
