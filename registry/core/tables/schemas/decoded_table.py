"""Decoded tables: the columns of a table as decode writes it, from which all schemas of its rows are made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

import pyarrow as pa

from cdc_contracts.registry.core.contract.table_contracts import TableContract
from cdc_contracts.registry.core.tables.canonical.column_types import TEXT
from cdc_contracts.registry.core.tables.canonical.table_layouts import FLAT, ColumnLayout, TableLayout, TableName

COORDINATES: Final = ("_topic", "_partition", "_offset", "_row_index")
"""The metadata that no two rows share."""
_ABOUT: Final[Mapping[str, str]] = MappingProxyType({
    "_op": "What happened to the row: insert, update, delete, snapshot or upsert.",
    "_tenant": "The tenant, as in the message.",
    "_event_time": "When the source changed the row.",
    "_event_time_text": "The same as sent, if that is more precise.",
    "_process_time": "When the product handled the change.",
    "_position": "The position in the log of the source.",
    "_transaction": "The transaction, as in the message.",
    "_update_part": "before or after, where an update comes as two messages.",
    "_pair_id": "What both messages of an update share.",
    "_topic": "The topic of the message.",
    "_partition": "The partition of the message.",
    "_offset": "The offset of the message.",
    "_row_index": "The number of the row within its message.",
    "_contract": "The version of the contract by which the message was read.",
    "_undecided": "Whether another version fits as well.",
    "_changed": "The columns that a partial image sent; NULL where images are whole.",
    "_absent": "Columns that an image does not have, such as after.note.",
    "_columns": "The source columns that the image has: NULL in another one means that it was not sent.",
    "_raw": "The text of each value that its column cannot hold, by the name of the column.",
    "_database": "The database of the shard that the row is of.",
    "_schema": "The schema of the shard.",
    "_table": "The table that is the shard.",
    "before": "The row before the change.",
    "after": "The row after the change.",
})  # fmt: skip
_TYPED: Final = frozenset({"decimal", "number", "timestamp", "datetime", "integer", "bit"})
"""Kinds of values whose columns are text only where no type holds every value."""


@dataclass(frozen=True)
class DecodedColumn:
    """A column of a decoded table: its name there, Arrow type, and what it is; `source` is the column of the source.

    `members` are the columns in an image.
    """

    name: str
    type: pa.DataType
    nullable: bool
    about: str
    source: ColumnLayout | None = None
    members: tuple[DecodedColumn, ...] = ()

    @property
    def kept_as_text(self) -> bool:
        """Whether it is text because no type of tables holds every value of its source type."""
        return self.source is not None and self.type == TEXT and self.source.kind in _TYPED


@dataclass(frozen=True)
class DecodedTable:
    """A table as decode writes it: its name, columns in order, and what it is."""

    name: TableName
    columns: tuple[DecodedColumn, ...]
    about: str


def decoded_table(layout: TableLayout, table: TableContract | None = None) -> DecodedTable:
    """Return the table that decode writes in a layout, with the comments of its table contract if there is one."""
    sources = tuple(_source_column(column, column.name, table) for column in layout.columns)
    if layout.shape == FLAT:
        own = [_renamed(column, layout.flat_names[column.name]) for column in sources]
    else:
        own = [
            DecodedColumn(image, layout.image, nullable=True, about=_ABOUT[image], members=sources)
            for image in ("before", "after") if layout.columns
        ]  # fmt: skip
    metadata = [DecodedColumn(one.name, one.type, one.nullable, _ABOUT[one.name]) for one in layout.metadata]
    comment = f" {table.comment}" if table is not None and table.comment else ""
    return DecodedTable(layout.name, (*metadata, *own), f"Changes of {layout.name.text}.{comment}")


def _source_column(column: ColumnLayout, name: str, table: TableContract | None) -> DecodedColumn:
    declared = table.columns.get(column.name) if table is not None else None
    parts = (column.source_type, declared.comment if declared else None)
    return DecodedColumn(name, column.type, nullable=True, about=": ".join(filter(None, parts)), source=column)


def _renamed(column: DecodedColumn, name: str) -> DecodedColumn:
    return DecodedColumn(name, column.type, column.nullable, column.about, column.source)
