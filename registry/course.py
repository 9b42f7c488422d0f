"""The course of a stream: what no message shows by itself, kept small and put together in any order."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, NamedTuple

from cdc_contracts.registry.column_writing import ColumnWriting
from cdc_contracts.registry.exercise import Exercise
from cdc_contracts.registry.sequences import Sequences, Stretch
from cdc_contracts.registry.table_drift import TableShapes

CLASSES_OF_A_COURSE: Final = ("other-version", "table-schema", "order", "control-share", "not-exercised")


class ControlKind(NamedTuple):
    """Messages of a partition that hold no row, by the op they are; `path` is where they say it."""

    topic: str
    partition: int
    path: str
    op: str


@dataclass
class Course:
    """How positions follow each other, what shapes rows had and how their columns were written, and what else came.

    `controls` are the messages that held no row, `exercise` is what was put to the test.

    `severities` has how much the classes that only a course shows weigh in this run.
    """

    sequences: Sequences = field(default_factory=Sequences)
    shapes: TableShapes = field(default_factory=TableShapes)
    writing: ColumnWriting = field(default_factory=ColumnWriting)
    controls: dict[ControlKind, Stretch] = field(default_factory=dict)
    exercise: Exercise = field(default_factory=Exercise)
    severities: dict[str, str] = field(default_factory=dict)

    def add_control(self, kind: ControlKind, stretch: Stretch) -> None:
        """Count messages that hold no row."""
        if kind in self.controls:
            self.controls[kind].add(stretch)
        else:
            self.controls[kind] = stretch

    def merge(self, other: Course) -> None:
        """Take what another part of the run saw; the order of merging does not matter."""
        self.sequences.merge(other.sequences)
        self.shapes.merge(other.shapes)
        self.writing.merge(other.writing)
        for kind, stretch in other.controls.items():
            self.add_control(kind, stretch)
        self.exercise.update(other.exercise)
        self.severities |= other.severities
