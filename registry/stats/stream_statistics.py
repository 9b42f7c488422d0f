"""Stream statistics: what no message shows by itself, kept small and merged in any order."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, NamedTuple

from cdc_contracts.registry.stats.column_writing import ColumnWriting
from cdc_contracts.registry.stats.position_sequences import Sequences, Stretch
from cdc_contracts.registry.stats.table_drift import TableShapes
from cdc_contracts.registry.validate.rule_coverage import RuleCoverage

CLASSES_OF_A_COURSE: Final = ("other-version", "table-schema", "order", "control-share", "not-exercised")


class ControlKind(NamedTuple):
    """Messages of a partition that hold no row, by op; `path` is where they state it."""

    topic: str
    partition: int
    path: str
    op: str


@dataclass
class StreamStatistics:
    """How positions follow each other, what shapes rows had and how their columns were written, and what else came.

    `controls` are the messages that held no row, `rule_coverage` is what was exercised.

    `severities` has the severities in this run of the classes that only a stream shows.
    """

    sequences: Sequences = field(default_factory=Sequences)
    shapes: TableShapes = field(default_factory=TableShapes)
    writing: ColumnWriting = field(default_factory=ColumnWriting)
    controls: dict[ControlKind, Stretch] = field(default_factory=dict)
    rule_coverage: RuleCoverage = field(default_factory=RuleCoverage)
    severities: dict[str, str] = field(default_factory=dict)

    def add_control(self, kind: ControlKind, stretch: Stretch) -> None:
        """Count messages that hold no row."""
        if kind in self.controls:
            self.controls[kind].add(stretch)
        else:
            self.controls[kind] = stretch

    def merge(self, other: StreamStatistics) -> None:
        """Merge what another part of the run saw; the order of merging does not matter."""
        self.sequences.merge(other.sequences)
        self.shapes.merge(other.shapes)
        self.writing.merge(other.writing)
        for kind, stretch in other.controls.items():
            self.add_control(kind, stretch)
        self.rule_coverage.update(other.rule_coverage)
        self.severities |= other.severities
