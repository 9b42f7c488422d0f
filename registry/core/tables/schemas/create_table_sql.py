"""SQL dialects: how engines write types and names; those of Spark, DuckDB and Flink have an exact type for each column.

Every identifier is quoted: names of columns are those of the source, whatever they hold.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

import pyarrow as pa

from cdc_contracts.registry.core.tables.canonical.column_types import INSTANT, WALL_CLOCK


@dataclass(frozen=True)
class SqlDialect:
    """How one SQL engine writes types and names; nested types are templates.

    `escapes` means that a backslash in a quoted name escapes what follows it.
    """

    quote: str
    plain: Mapping[pa.DataType, str]
    struct: str
    member: str
    array: str
    map: str
    escapes: bool = False

    def name(self, text: str) -> str:
        """Return a name as a quoted identifier."""
        text = text.replace("\\", "\\\\") if self.escapes else text
        return self.quote + text.replace(self.quote, 2 * self.quote) + self.quote

    def type(self, type_: pa.DataType) -> str:
        """Return a column type in the dialect of the SQL engine."""
        if pa.types.is_decimal(type_):
            return f"DECIMAL({type_.precision}, {type_.scale})"
        if pa.types.is_struct(type_):
            members = (self.member.format(name=self.name(one.name), type=self.type(one.type)) for one in type_)
            return self.struct.format(", ".join(members))
        if pa.types.is_list(type_):
            return self.array.format(self.type(type_.value_type))
        if pa.types.is_map(type_):
            return self.map.format(self.type(type_.key_type), self.type(type_.item_type))
        return self.plain[type_]


def sql_types(**words: str) -> Mapping[pa.DataType, str]:
    """Return the words for Arrow types, given by what these are: `text`, `whole` (64 bits), `short` (32) and so on."""
    types: Mapping[str, pa.DataType] = {
        "text": pa.string(), "whole": pa.int64(), "short": pa.int32(), "floating": pa.float64(), "boolean": pa.bool_(),
        "binary": pa.binary(), "date": pa.date32(), "instant": INSTANT, "wall_clock": WALL_CLOCK,
    }  # fmt: skip
    return MappingProxyType({types[name]: word for name, word in words.items()})


SPARK: Final = SqlDialect(
    "`",
    sql_types(text="STRING", whole="BIGINT", short="INT", floating="DOUBLE", boolean="BOOLEAN", binary="BINARY",
           date="DATE", instant="TIMESTAMP", wall_clock="TIMESTAMP_NTZ"),
    struct="STRUCT<{}>", member="{name}: {type}", array="ARRAY<{}>", map="MAP<{}, {}>",
)  # fmt: skip
DUCKDB: Final = SqlDialect(
    '"',
    sql_types(text="VARCHAR", whole="BIGINT", short="INTEGER", floating="DOUBLE", boolean="BOOLEAN", binary="BLOB",
           date="DATE", instant="TIMESTAMP WITH TIME ZONE", wall_clock="TIMESTAMP"),
    struct="STRUCT({})", member="{name} {type}", array="{}[]", map="MAP({}, {})",
)  # fmt: skip
FLINK: Final = SqlDialect(
    "`",
    sql_types(text="STRING", whole="BIGINT", short="INT", floating="DOUBLE", boolean="BOOLEAN", binary="BYTES",
           date="DATE", instant="TIMESTAMP_LTZ(6)", wall_clock="TIMESTAMP(6)"),
    struct="ROW<{}>", member="{name} {type}", array="ARRAY<{}>", map="MAP<{}, {}>",
)  # fmt: skip
