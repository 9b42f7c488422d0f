"""Rule view: the parts of a message that a rule may read, and the breaches that it reports."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from cdc_contracts.registry.core.contract.image_model import Side
from cdc_contracts.registry.core.contract.value_mappings import ValueMapping
from cdc_contracts.registry.core.message.reading import Reading, Row

IMAGE_PRESENT: Final = "image-present-for-op"
"""The rule about images that are missing, or hold another number of rows than the other image."""


@dataclass(frozen=True, slots=True)
class Breach:
    """A breach of a rule by one message; `severity` is None if the class decides."""

    path: str
    expected: str
    observed: str
    severity: str | None = None


@dataclass(frozen=True)
class RuleView:
    """The input of a rule: the message as read, its sides, and the mapping of its types."""

    reading: Reading
    mapping: ValueMapping

    def sides(self) -> tuple[Side, ...]:
        """Return the sides that the message's op names, before first."""
        return self.reading.sides

    def full_rows(self) -> Iterator[tuple[Row, ...]]:
        """Yield the rows of each side, completed."""
        for side in self.sides():
            yield tuple(complete_rows(self.reading, side) or ())


def unpaired_rows(reading: Reading) -> Iterator[Breach]:
    """Yield that the images of a message hold different numbers of rows: rows are paired by index."""
    sources = [source for source in map(reading.source, reading.sides) if source is not None]
    if len({len(reading.rows(source) or ()) for source in sources}) > 1:
        yield Breach(sources[0], "as many rows in each image", "another number of rows")


def complete_rows(reading: Reading, side: Side) -> list[Row] | None:
    """Return the rows of a side, each completed from the image below; None if there are none."""
    source = reading.source(side)
    if source is None:
        return None
    rows = reading.rows(source) or []
    if side.completed_from is not None and source == side.at:
        below = reading.rows(side.completed_from) or []
        rows = [(below[index] if index < len(below) else {}) | row for index, row in enumerate(rows)]
    return rows
