"""The layout of a canonical table: its columns, and which type each has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import pyarrow as pa

from cdc_contracts.registry.tables import table_name

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
"""What stands before the images `before` and `after` (structs of the columns) in every typed table.

`_changed` names the columns that a partial image sent, null where the dialect sends whole images. `_absent` names as
`after.NAME` or `before.NAME` the columns of the layout that an image which is there does not hold. `_raw` keeps, under
the same names, the text of every value that its typed column cannot hold (an invalid date, a column that the layout
does not have); the typed value is null there. So a null that is in neither is SQL NULL.
"""


class TableName(NamedTuple):
    """A source table by its parts, as a message names them."""

    database: str | None
    schema: str | None
    table: str

    @property
    def text(self) -> str:
        """The name as findings and table contracts write it."""
        return table_name(*self) or self.table


@dataclass(frozen=True)
class ColumnLayout:
    """One column: its name, its type in tables, and the source type and canonical kind that this was settled by."""

    name: str
    type: pa.DataType
    source_type: str | None
    kind: str | None


@dataclass(frozen=True)
class TableLayout:
    """The columns of a canonical table, in their order, and where they come from: `contract` or `messages`."""

    name: TableName
    columns: tuple[ColumnLayout, ...]
    primary_key: tuple[str, ...]
    origin: str

    @property
    def image(self) -> pa.StructType:
        """The type of `before` and `after`."""
        return pa.struct([pa.field(column.name, column.type) for column in self.columns])

    @property
    def arrow(self) -> pa.Schema:
        """The schema of the table."""
        return pa.schema([*METADATA, pa.field("before", self.image), pa.field("after", self.image)])


Layouts = Mapping[TableName, TableLayout]


def write_layout(layout: TableLayout) -> dict[str, Any]:
    """Return a layout as a JSON document, as run records keep it."""
    raise NotImplementedError


def read_layout(document: Mapping[str, Any]) -> TableLayout:
    """Return the layout that a document describes."""
    raise NotImplementedError
