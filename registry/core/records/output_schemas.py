"""Output schemas: what runs write, as Arrow schemas: `changes/`, `control/`, `quarantine/`, `replayed/`, `ledger/`.

They are apart from `canonical_changes.py` because validating a single message needs no Arrow, which is slow to load.
"""

from __future__ import annotations

from typing import Final

import pyarrow as pa

INSTANT: Final = pa.timestamp("us", tz="UTC")
_IMAGE: Final = pa.map_(pa.string(), pa.string())
_COORDINATES: Final = [
    pa.field("topic", pa.string(), nullable=False),
    pa.field("partition", pa.int32(), nullable=False),
    pa.field("offset", pa.int64(), nullable=False),
]
_NAMES: Final = [pa.field(name, pa.string()) for name in ("tenant", "database", "schema", "table")]

CHANGES_SCHEMA: Final = pa.schema([
    pa.field("contract", pa.string(), nullable=False),
    pa.field("undecided", pa.bool_(), nullable=False),
    pa.field("op", pa.string(), nullable=False),
    *_NAMES,
    pa.field("primary_key", pa.list_(pa.string())),
    pa.field("before", _IMAGE),
    pa.field("after", _IMAGE),
    pa.field("before_complete", pa.bool_()),
    pa.field("after_complete", pa.bool_()),
    pa.field("changed", pa.list_(pa.string())),
    pa.field("column_types", _IMAGE),
    pa.field("types_from", pa.string(), nullable=False),
    pa.field("invalid", pa.list_(pa.string()), nullable=False),
    pa.field("invalid_values", pa.list_(pa.string())),
    pa.field("event_time", INSTANT),
    pa.field("event_time_text", pa.string()),
    pa.field("process_time", INSTANT),
    pa.field("position", pa.string()),
    pa.field("transaction", pa.string()),
    pa.field("update_part", pa.string()),
    pa.field("pair_id", pa.string()),
    *_COORDINATES,
    pa.field("row_index", pa.int32(), nullable=False),
    pa.field("kafka_timestamp", INSTANT),
    pa.field("kafka_key", pa.binary()),
])  # fmt: skip
"""`invalid` names the columns kept as text in either image, `invalid_values` each value: `before.NAME`, `after.NAME`.

`invalid_values` is null in files of releases that did not tell the images apart.
"""

_NOT_TYPED: Final = ("primary_key", "before_complete", "after_complete", "types_from", "kafka_timestamp", "kafka_key")
TYPED_FROM: Final = pa.schema([one for one in CHANGES_SCHEMA if one.name not in _NOT_TYPED])
"""What of `changes/` typed rows are made of."""

CONTROL_SCHEMA: Final = pa.schema([
    pa.field("contract", pa.string(), nullable=False),
    pa.field("kind", pa.string(), nullable=False),
    *_NAMES,
    pa.field("ddl_text", pa.string()),
    pa.field("ddl_type", pa.string()),
    pa.field("event_time", INSTANT),
    pa.field("process_time", INSTANT),
    pa.field("position", pa.string()),
    pa.field("transaction", pa.string()),
    *_COORDINATES,
])  # fmt: skip

FINDING_TYPE: Final = pa.struct([
    (name, pa.string()) for name in ("rule", "class", "severity", "path", "expected", "observed")
])  # fmt: skip
HEADERS_TYPE: Final = pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))

QUARANTINE_SCHEMA: Final = pa.schema([
    pa.field("outcome", pa.string(), nullable=False),
    pa.field("contract", pa.string()),
    pa.field("findings", pa.list_(FINDING_TYPE), nullable=False),
    pa.field("key", pa.binary()),
    pa.field("value", pa.binary()),
    pa.field("headers", HEADERS_TYPE),
    pa.field("kafka_timestamp", INSTANT),
    pa.field("timestamp_type", pa.int32()),
    *_COORDINATES,
])  # fmt: skip

REPLAYED_SCHEMA: Final = pa.schema(_COORDINATES)

REPEATS_SCHEMA: Final = pa.schema([
    pa.field("database", pa.string()),
    pa.field("schema", pa.string()),
    pa.field("table", pa.string()),
    pa.field("position", pa.string(), nullable=False),
    *_COORDINATES,
    pa.field("row_index", pa.int32(), nullable=False),
    pa.field("first_offset", pa.int64(), nullable=False),
])  # fmt: skip
"""Rows of `changes/` that were there before, at `first_offset` of the same partition."""

LEDGER_SCHEMA: Final = pa.schema(
    [
        pa.field("topic", pa.string(), nullable=False),
        pa.field("partition", pa.int32(), nullable=False),
        *[
            pa.field(name, pa.int64(), nullable=False)
            for name in (
                "start",
                "end",
                "read",
                "conforming",
                "control",
                "tombstone",
                "quarantined",
                "gaps",
                "changes",
                "repeated",
                "dropped",
            )
        ],
        pa.field("first_timestamp", INSTANT),
        pa.field("last_timestamp", INSTANT),
    ]
)
