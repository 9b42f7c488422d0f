"""Records by layout: what a batch parser has sorted the records of a batch into."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from cdc_contracts.registry.core.engine.layouts.layout_parts import Layout, RowShape


@dataclass
class Sorted:
    """The records of a batch by layout, as their numbers in the batch; `ungrouped` go to the reference validator.

    `guessed` are the records whose shape is not verified yet.
    """

    groups: dict[Layout, tuple[RowShape, list[int], list[Any]]] = field(default_factory=dict)
    guessed: dict[tuple[RowShape, Layout], tuple[list[int], list[Any]]] = field(default_factory=dict)
    ungrouped: list[int] = field(default_factory=list)
    tombstones: list[int] = field(default_factory=list)

    def guess(self, shape: RowShape, layout: Layout, numbers: Iterable[int], records: Iterable[Any]) -> None:
        known_numbers, known_records = self.guessed.setdefault((shape, layout), ([], []))
        known_numbers.extend(numbers)
        known_records.extend(records)

    def add(self, shape: RowShape, layout: Layout, numbers: Iterable[int], records: Iterable[Any]) -> None:
        """Add records to those of the same layout; tables with the same columns share one."""
        _, known_numbers, known_records = self.groups.setdefault(layout, (shape, [], []))
        known_numbers.extend(numbers)
        known_records.extend(records)
