"""CREATE TABLE of a canonical table in the SQL of Spark, DuckDB, Flink and of warehouses.

A type that does not hold every value of the column becomes text, never a float; a comment before the statement says
where that is so, and what else a reader has to know.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

import pyarrow as pa

from cdc_contracts.registry.core.common.identifiers import distinct_names
from cdc_contracts.registry.core.contract.table_contracts import TableContract
from cdc_contracts.registry.core.tables.canonical.column_types import INSTANT, WALL_CLOCK
from cdc_contracts.registry.core.tables.canonical.table_layouts import TableLayout
from cdc_contracts.registry.core.tables.schemas.create_table_sql import DUCKDB, FLINK, SPARK, SqlDialect, sql_types
from cdc_contracts.registry.core.tables.schemas.decoded_table import (
    COORDINATES,
    DecodedColumn,
    DecodedTable,
    decoded_table,
)
from cdc_contracts.registry.core.values.source_types import parse_source_type

_MOST_TOPIC: Final = 249
"""The characters of the longest name of a topic, all of them ASCII."""
_NOT_PLAIN: Final = re.compile(r"\W")
_KEY: Final = ", ".join(f"`{name}`" for name in COORDINATES)


@dataclass(frozen=True)
class Warehouse:
    """How one engine or warehouse writes tables.

    `notes` say of a type what its SQL type does not; without `annotated` nothing is said about columns. `levels` is how
    many parts the name of a table has at most, `plain_names` whether names have letters, digits and underscores only,
    `reserved` what no name may begin with. `optional` is how a scalar type says that it may be NULL, `required` how a
    column says that it may not; `lists` whether lists and maps may be NULL. `keyed` means that the coordinates come
    first, as the key of the table.
    """

    dialect: SqlDialect
    comment: str = ""
    ending: str = ""
    annotated: bool = True
    notes: Mapping[pa.DataType, str] = field(default_factory=dict)
    decimal: Callable[[int, int], str] = "DECIMAL({}, {})".format
    levels: int = 2
    plain_names: bool = False
    reserved: tuple[str, ...] = ()
    optional: str = "{}"
    required: str = " NOT NULL"
    lists: bool = True
    images: bool = True
    keyed: bool = False
    text_for: Callable[[DecodedColumn], str | None] = lambda column: None

    def create(self, table: DecodedTable) -> str:
        """Return the statement, with a comment for each column that needs one."""
        columns = sorted(table.columns, key=_key_first) if self.keyed else table.columns
        names = self._names([one.name for one in columns])
        lines = [f"  {self._column(one, names[one.name])}" for one in columns]
        parts = [part for part in table.name if part]
        name = parts
        if len(parts) > self.levels:
            name = [*parts[: self.levels - 1], "_".join(parts[self.levels - 1 :])]
        path = ".".join(self.dialect.name(self._plain(part)) for part in name)
        notes = "".join(f"-- {_one_line(one)}\n" for one in (self._notes(columns, "") if self.annotated else ()))
        ending = self.ending.format(comment=self._literal(table.about), key=_KEY)
        return f"{notes}CREATE TABLE {path} (\n" + ",\n".join(lines) + f"\n){ending};\n"

    def type(self, column: DecodedColumn) -> str:
        """Return the type of a column, with that of every member of an image."""
        if column.members:
            names = self._names([one.name for one in column.members])
            members = (
                self.dialect.member.format(name=self.dialect.name(names[one.name]), type=self.type(one))
                for one in column.members
            )
            return self.dialect.struct.format(", ".join(members))
        if column.name == "_topic" and self.keyed:
            return f"VARCHAR({_MOST_TOPIC})"
        if self.text_for(column):
            plain = self.dialect.plain[pa.string()]
        elif pa.types.is_decimal(column.type):
            plain = self.decimal(column.type.precision, column.type.scale)
        else:
            plain = self.dialect.type(column.type)
        return self.optional.format(plain) if column.nullable and not _is_nested(column.type) else plain

    def _column(self, column: DecodedColumn, name: str) -> str:
        bare = _is_nested(column.type) and not (self.images if column.members else self.lists)
        required = "" if column.nullable or bare else self.required
        about = f"{self.comment.format(self._literal(column.about))}" if column.about else ""
        return f"{self.dialect.name(name)} {self.type(column)}{required}{about}"

    def _names(self, names: list[str]) -> dict[str, str]:
        return distinct_names(names, self._plain)

    def _plain(self, name: str) -> str:
        plain = _NOT_PLAIN.sub("_", name) if self.plain_names else name
        if self.plain_names and plain[:1].isdigit():
            plain = f"_{plain}"
        taken = any(plain.upper().startswith(one) for one in self.reserved)
        return f"_{plain}" if taken else plain

    def _notes(self, columns: list[DecodedColumn] | tuple[DecodedColumn, ...], above: str) -> Iterator[str]:
        """Yield what a reader of the table has to know about its columns, once for images that are alike."""
        names, seen = self._names([one.name for one in columns]), False
        for one in columns:
            path = f"{above}{one.name}"
            if names[one.name] != one.name:
                yield f"{path}: the column is {names[one.name]} here, a name that the database takes."
            if one.kept_as_text and one.source is not None:
                yield f"{path}: {one.source.source_type} is text, for no type of decoded tables holds every value."
            note = self.text_for(one) or self.notes.get(one.type)
            if note is not None:
                yield f"{path}: {note}"
            if one.nullable and _is_nested(one.type) and not (self.images if one.members else self.lists):
                yield f"{path}: {'every column is NULL' if one.members else 'it is empty'} where the file has NULL."
            if one.members and not seen:
                seen = True
                yield from self._notes(one.members, "before, after: ")

    def _literal(self, text: str) -> str:
        return "'" + _one_line(text).replace("\\", "\\\\").replace("'", "\\'") + "'"


def _key_first(column: DecodedColumn) -> int:
    return COORDINATES.index(column.name) if column.name in COORDINATES else len(COORDINATES)


def _is_nested(type_: pa.DataType) -> bool:
    return bool(pa.types.is_nested(type_))


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _bigquery_decimal(precision: int, scale: int) -> str:
    most_scale, most_whole = 9, 29
    exact = scale <= most_scale and precision - scale <= most_whole
    return f"{'NUMERIC' if exact else 'BIGNUMERIC'}({precision}, {scale})"


def _clickhouse_text(column: DecodedColumn) -> str | None:
    """Return why a column is text.

    Measured: 25.8 refuses other dates in Parquet and moves those in text to 1900 or 2299; 26.9 holds them all.
    """
    if column.source is None:
        return None
    zoned = parse_source_type(column.source.source_type or "").zoned
    if column.type in (pa.date32(), WALL_CLOCK) or (column.type == INSTANT and zoned):
        return "text, for ClickHouse 25 has the years 1900 to 2299 alone, and changes others silently; 26.9 holds them."
    return None


_UTC: Final = MappingProxyType({INSTANT: "a moment, as its date and time in UTC."})
_NO_BYTES: Final = MappingProxyType({
    **_UTC, pa.binary(): "text as Base64, for there is no type of bytes.",
})  # fmt: skip
_OLAP: Final = "\nENGINE = OLAP\nDUPLICATE KEY ({key})\nCOMMENT {comment}\nDISTRIBUTED BY HASH (`_topic`, `_partition`)"
_MYSQL: Final = {
    "text": "STRING", "whole": "BIGINT", "short": "INT", "floating": "DOUBLE", "boolean": "BOOLEAN",
    "date": "DATE", "instant": "DATETIME(6)", "wall_clock": "DATETIME(6)",
}  # fmt: skip

WAREHOUSES: Final[Mapping[str, Warehouse]] = MappingProxyType({
    "spark-ddl": Warehouse(SPARK, ending=" USING parquet", levels=3, annotated=False),
    "duckdb": Warehouse(DUCKDB, levels=3, annotated=False),
    "flink-ddl": Warehouse(FLINK, levels=3, annotated=False),
    "bigquery": Warehouse(
        SqlDialect(
            "`",
            sql_types(text="STRING", whole="INT64", short="INT64", floating="FLOAT64", boolean="BOOL", binary="BYTES",
                      date="DATE", instant="TIMESTAMP", wall_clock="DATETIME"),
            struct="STRUCT<{}>", member="{name} {type}", array="ARRAY<{}>",
            map="ARRAY<STRUCT<`key` {}, `value` {}>>",
        ),
        comment=" OPTIONS (description = {})", ending="\nOPTIONS (description = {comment})",
        decimal=_bigquery_decimal, plain_names=True, lists=False,
        reserved=("_TABLE_", "_FILE_", "_PARTITION", "_ROW_TIMESTAMP", "__ROOT__", "_COLIDENTIFIER", "_CHANGE_"),
    ),
    "snowflake": Warehouse(
        SqlDialect(
            '"',
            sql_types(text="VARCHAR", whole="NUMBER(19, 0)", short="NUMBER(10, 0)", floating="DOUBLE",
                      boolean="BOOLEAN", binary="BINARY", date="DATE", instant="TIMESTAMP_LTZ(6)",
                      wall_clock="TIMESTAMP_NTZ(6)"),
            struct="OBJECT({})", member="{name} {type}", array="ARRAY({})", map="MAP({}, {})",
        ),
        comment=" COMMENT {}", ending="\nCOMMENT = {comment}", decimal="NUMBER({}, {})".format, levels=3,
    ),
    "clickhouse": Warehouse(
        SqlDialect(
            "`",
            sql_types(text="String", whole="Int64", short="Int32", floating="Float64", boolean="Bool", binary="String",
                      date="Date32", instant="DateTime64(6, 'UTC')", wall_clock="DateTime64(6)"),
            struct="Tuple({})", member="{name} {type}", array="Array({})", map="Map({}, Nullable({}))",
            escapes=True,
        ),
        comment=" COMMENT {}", ending="\nENGINE = MergeTree\nORDER BY ({key})\nCOMMENT {comment}",
        notes=MappingProxyType({pa.binary(): "bytes as they are, in the type of text."}),
        decimal="Decimal({}, {})".format, optional="Nullable({})", required="", lists=False, images=False,
        text_for=_clickhouse_text,
    ),
    "starrocks": Warehouse(
        SqlDialect(
            "`", sql_types(**{**_MYSQL, "instant": "DATETIME", "wall_clock": "DATETIME"}, binary="VARBINARY"),
            struct="STRUCT<{}>", member="{name} {type}", array="ARRAY<{}>", map="MAP<{}, {}>",
        ),
        comment=" COMMENT {}", ending=_OLAP, notes=_UTC, plain_names=True, keyed=True,
    ),
    "doris": Warehouse(
        SqlDialect(
            "`", sql_types(**_MYSQL, binary="STRING"),
            struct="STRUCT<{}>", member="{name}: {type}", array="ARRAY<{}>", map="MAP<{}, {}>",
        ),
        comment=" COMMENT {}", ending=f"{_OLAP} BUCKETS AUTO", notes=_NO_BYTES, plain_names=True, keyed=True,
    ),
})  # fmt: skip


def warehouse_ddl(name: str, layout: TableLayout, table: TableContract | None = None) -> str:
    """Return the CREATE TABLE of a canonical table for one of WAREHOUSES, with the comments of its table contract."""
    return WAREHOUSES[name].create(decoded_table(layout, table))
