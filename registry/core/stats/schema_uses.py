"""Schema uses: which writer schemas the records of each table name, where each begins, and how many records name it."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any, Final, NamedTuple

from cdc_contracts.registry.core.stats.position_sequences import Point
from cdc_contracts.registry.core.writer_schemas.writer_schemas import SchemaId

MOST_USES: Final = 200_000
"""Ids by table and partition. Of more the lowest ids are kept, which are the oldest, as registries count up."""
VALUE: Final = "value"
KEY: Final = "key"


class SchemaLine(NamedTuple):
    """The values, or keys, of one table in a topic; the table is None where messages name none."""

    topic: str
    table: str | None
    of: str

    @property
    def order(self) -> tuple[Any, ...]:
        return self.topic, self.table is not None, self.table or "", self.of != VALUE


class UsedRange(NamedTuple):
    """The records of a partition that name one id: how many, the first and the last."""

    records: int
    first: Point
    last: Point

    def joined(self, other: UsedRange) -> UsedRange:
        """Return the union of both."""
        first = min(self.first, other.first, key=attrgetter("offset"))
        last = max(self.last, other.last, key=attrgetter("offset"))
        return UsedRange(self.records + other.records, first, last)


@dataclass
class SchemaUses:
    """The records of each line by id and partition; mergeable in any order. `cut` if some ids are not kept."""

    held: dict[SchemaLine, dict[SchemaId, dict[int, UsedRange]]] = field(default_factory=dict)
    size: int = 0
    cut: bool = False

    def add(self, line: SchemaLine, number: SchemaId, partition: int, used: UsedRange) -> None:
        """Count records of a partition that name an id."""
        partitions = self.held.setdefault(line, {}).setdefault(number, {})
        known = partitions.get(partition)
        self.size += known is None
        partitions[partition] = used if known is None else known.joined(used)
        if self.size > 2 * MOST_USES:
            self.bound()

    def merge(self, other: SchemaUses) -> None:
        """Add the uses of another part of the run; the order of merging does not matter."""
        self.cut |= other.cut
        for line, number, partition, used in other:
            self.add(line, number, partition, used)

    def bound(self) -> None:
        """Keep the uses of the lowest ids."""
        if self.size > MOST_USES:
            kept = heapq.nsmallest(MOST_USES, self, key=_order)
            self.held, self.size, self.cut = {}, 0, True
            for use in kept:
                self.add(*use)

    def __iter__(self) -> Iterator[tuple[SchemaLine, SchemaId, int, UsedRange]]:
        for line, numbers in self.held.items():
            for number, partitions in numbers.items():
                for partition, used in partitions.items():
                    yield line, number, partition, used


def id_order(number: SchemaId) -> tuple[bool, int, str]:
    """Return what ids are sorted by: numbers before texts, which no registry counts."""
    return (True, 0, number) if isinstance(number, str) else (False, number, "")


def _order(use: tuple[SchemaLine, SchemaId, int, UsedRange]) -> tuple[Any, ...]:
    line, number, partition, _ = use
    return id_order(number), line.order, partition
