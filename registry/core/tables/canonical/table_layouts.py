"""Table layouts: the columns of a canonical table and their types."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import pyarrow as pa
from msgspec import UNSET, Struct

from cdc_contracts.registry.core.common.identifiers import names_beside
from cdc_contracts.registry.core.common.written_models import Sometimes
from cdc_contracts.registry.core.stats.observed_columns import TableName
from cdc_contracts.registry.core.tables.canonical.column_types import read_type, write_type

_INSTANT: Final = pa.timestamp("us", tz="UTC")

METADATA: Final = pa.schema([
    pa.field("_op", pa.string(), nullable=False),
    pa.field("_tenant", pa.string()),
    pa.field("_event_time", _INSTANT),
    pa.field("_event_time_text", pa.string()),
    pa.field("_process_time", _INSTANT),
    pa.field("_position", pa.string()),
    pa.field("_transaction", pa.string()),
    pa.field("_update_part", pa.string()),
    pa.field("_pair_id", pa.string()),
    pa.field("_topic", pa.string(), nullable=False),
    pa.field("_partition", pa.int32(), nullable=False),
    pa.field("_offset", pa.int64(), nullable=False),
    pa.field("_row_index", pa.int32(), nullable=False),
    pa.field("_contract", pa.string(), nullable=False),
    pa.field("_undecided", pa.bool_(), nullable=False),
    pa.field("_changed", pa.list_(pa.string())),
    pa.field("_absent", pa.list_(pa.string()), nullable=False),
    pa.field("_raw", pa.map_(pa.string(), pa.string()), nullable=False),
])  # fmt: skip
"""The columns before the images `before` and `after` (structs of the columns) in every typed table.

`_changed` names the columns that a partial image sent, null if the dialect sends whole images. `_absent` names as
`after.NAME` or `before.NAME` the columns of the layout that an image which is there does not hold. `_raw` keeps, under
the same names, the text of every value that its typed column cannot hold (an invalid date, a column that the layout
does not have); the typed value is null there. So a null that is in neither is SQL NULL.
"""
SHARD: Final = pa.schema([pa.field(name, pa.string()) for name in ("_database", "_schema", "_table")])
"""The columns after METADATA in the table of a sharded family: the source table of the row, as its message names it."""
_FLAT_METADATA: Final = pa.schema([
    pa.field("_columns", pa.list_(pa.string())) if one.name == "_absent" else one for one in METADATA
])  # fmt: skip
"""The columns before those of the source where each row has one image: the one after the change, else the one before.

`_columns` names the columns of the layout that the image holds, null if there is no image; `_raw` keeps texts under the
names of their columns alone. So a null whose column `_columns` names and `_raw` does not is SQL NULL.
"""

NESTED: Final = "nested"
FLAT: Final = "flat"
SHAPES: Final = (NESTED, FLAT)
"""How typed rows hold images: both as structs, or one with its columns beside the metadata."""


@dataclass(frozen=True)
class ColumnLayout:
    """One column: its name, its type in tables, and the source type and canonical kind that it was resolved from."""

    name: str
    type: pa.DataType
    source_type: str | None
    kind: str | None


@dataclass(frozen=True)
class TableLayout:
    """The columns of a canonical table, in their order, and where they come from: `contract` or `messages`.

    `awaited` are columns that a DDL message added and no row had so far: they become columns once one has them.
    `shape` is one of SHAPES. `shards` is the pattern of the source tables whose rows the table of a family holds, None
    if it holds those of one.
    """

    name: TableName
    columns: tuple[ColumnLayout, ...]
    primary_key: tuple[str, ...]
    origin: str
    awaited: tuple[str, ...] = ()
    shape: str = NESTED
    shards: str | None = None

    @property
    def metadata(self) -> pa.Schema:
        """The columns that say what a row is: those of every table of this shape, and of which shard it is."""
        own = METADATA if self.shape == NESTED else _FLAT_METADATA
        return own if self.shards is None else pa.schema([*own, *SHARD])

    @cached_property
    def flat_names(self) -> Mapping[str, str]:
        """The names of source columns in flat rows: one that names metadata gets `_` in front.

        Metadata keeps its names, for a later column must not rename what is written already.
        """
        return names_beside((column.name for column in self.columns), self.metadata.names)

    @property
    def image(self) -> pa.StructType:
        """The type of `before` and `after`."""
        return pa.struct([pa.field(column.name, column.type) for column in self.columns])

    @property
    def arrow(self) -> pa.Schema:
        """The schema of the table; one without columns has no images, for Parquet has no struct without a field."""
        if self.shape == FLAT:
            return pa.schema([*self.metadata, *(pa.field(self.flat_names[one.name], one.type) for one in self.columns)])
        images = [pa.field("before", self.image), pa.field("after", self.image)] if self.columns else []
        return pa.schema([*self.metadata, *images])


Layouts = Mapping[TableName, TableLayout]


class RecordedName(Struct, frozen=True):
    """The name of a table as run records keep it."""

    database: str | None
    schema: str | None
    table: str


class RecordedColumn(Struct, frozen=True):
    """A column of a layout as run records keep it, its type as text."""

    name: str
    type: str
    source_type: str | None
    kind: str | None


class RecordedLayout(Struct, frozen=True):
    """A layout as run records keep it."""

    name: RecordedName
    columns: tuple[RecordedColumn, ...]
    primary_key: tuple[str, ...]
    origin: str
    awaited: tuple[str, ...] = ()
    shards: Sometimes[str] = UNSET


def write_layout(layout: TableLayout) -> RecordedLayout:
    """Return a layout as run records keep it."""
    return RecordedLayout(
        name=RecordedName(*layout.name),
        columns=tuple(
            RecordedColumn(one.name, write_type(one.type), one.source_type, one.kind) for one in layout.columns
        ),
        primary_key=layout.primary_key,
        origin=layout.origin,
        awaited=layout.awaited,
        shards=UNSET if layout.shards is None else layout.shards,
    )


def read_layout(recorded: RecordedLayout, shape: str = NESTED) -> TableLayout:
    """Return the layout that a run record keeps, for a run that writes rows of a shape."""
    return TableLayout(
        name=TableName(recorded.name.database, recorded.name.schema, recorded.name.table),
        columns=tuple(
            ColumnLayout(one.name, read_type(one.type), one.source_type, one.kind) for one in recorded.columns
        ),
        primary_key=recorded.primary_key,
        origin=recorded.origin,
        awaited=recorded.awaited,
        shape=shape,
        shards=recorded.shards or None,
    )


__all__ = [
    "FLAT", "METADATA", "NESTED", "SHAPES", "SHARD", "ColumnLayout", "Layouts", "TableLayout", "TableName",
    "read_layout", "write_layout",
]  # fmt: skip
