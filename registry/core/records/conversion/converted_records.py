"""Converted records, turned into the other form batch by batch; keys, headers, times and coordinates stay."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from cdc_contracts.registry.core.common.errors import LedgerError
from cdc_contracts.registry.core.common.exit_codes import DRIFT, INCONCLUSIVE, PASS
from cdc_contracts.registry.core.common.safe_text import visible
from cdc_contracts.registry.core.records.conversion.converter import ConversionRefused
from cdc_contracts.registry.core.records.record_batches import CAPTURE_SCHEMA, as_capture
from cdc_contracts.registry.core.stats.partition_tallies import Source

REFUSED_SCHEMA: Final = CAPTURE_SCHEMA.append(pa.field("reason", pa.string()))
"""A capture of what was refused: the records whole, each with why."""
MOST_EXAMPLES: Final = 100


@dataclass
class Converted:
    """One batch: what was converted, tombstones among it, and what was refused, with the columns of its schema."""

    records: pa.RecordBatch
    refused: pa.RecordBatch
    tombstones: int


@dataclass
class Counts:
    """What became of the records: read = converted + refused + tombstones.

    `examples` has the first that were refused; `keyed` counts those that have a key or headers.
    """

    read: int = 0
    converted: int = 0
    refused: int = 0
    tombstones: int = 0
    keyed: int = 0
    examples: list[tuple[Source, int, str]] = field(default_factory=list)

    def note(self, converted: Converted) -> None:
        """Count one batch."""
        done, refused = converted.records.num_rows, converted.refused.num_rows
        self.read += done + refused
        self.converted += done - converted.tombstones
        self.refused += refused
        self.tombstones += converted.tombstones
        keys, headers = (converted.records.column(name).is_valid() for name in ("key", "headers"))
        self.keyed += pc.sum(pc.or_(keys, headers)).as_py() or 0
        names = ("topic", "partition", "offset", "reason")
        first = converted.refused.slice(0, max(0, MOST_EXAMPLES - len(self.examples))).select(list(names))
        self.examples += [
            (Source(one["topic"], one["partition"]), one["offset"], one["reason"]) for one in first.to_pylist()
        ]

    def merge(self, other: Counts) -> None:
        """Take the counts of another task."""
        self.read += other.read
        self.converted += other.converted
        self.refused += other.refused
        self.tombstones += other.tombstones
        self.keyed += other.keyed
        self.examples = sorted(self.examples + other.examples)[:MOST_EXAMPLES]

    @property
    def verdict(self) -> str:
        """Drift where something was refused, inconclusive where there was no message at all, else pass."""
        if self.refused:
            return DRIFT
        return PASS if self.converted else INCONCLUSIVE

    def describe(self) -> str:
        """Return the counts in a line. Raises LedgerError if they do not add up."""
        if self.read != self.converted + self.refused + self.tombstones:
            raise LedgerError("records were read that are not accounted for")
        parts = ", ".join(f"{getattr(self, name):,} {name}" for name in ("converted", "refused", "tombstones"))
        return f"{self.read:,} read: {parts}"


def convert_batch(batch: pa.RecordBatch, convert: Callable[[bytes], bytes]) -> Converted:
    """Return the records of a batch with the columns of the Kafka source, their values converted or refused."""
    capture = as_capture(batch)
    values: list[bytes | None] = []
    reasons: list[str | None] = []
    for value in capture.column("value").to_pylist():
        try:
            values.append(None if value is None else convert(value))
            reasons.append(None)
        except ConversionRefused as error:
            values.append(None)
            reasons.append(visible(str(error), most=None))
    place = CAPTURE_SCHEMA.get_field_index("value")
    done = pa.array([reason is None for reason in reasons], pa.bool_())
    records = capture.set_column(place, CAPTURE_SCHEMA.field("value"), pa.array(values, pa.binary())).filter(done)
    arrays = [*capture.columns, pa.array(reasons, pa.string())]
    refused = pa.RecordBatch.from_arrays(arrays, schema=REFUSED_SCHEMA)
    refused = refused.filter(refused.column("reason").is_valid())
    return Converted(records, refused, records.column("value").null_count)
