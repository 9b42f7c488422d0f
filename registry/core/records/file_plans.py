"""File plans: what there is to read in files of messages, as pieces that any worker can read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from cdc_contracts.registry.core.stats.partition_tallies import Source

Window = tuple[int, int]

BATCH_ROWS: Final = 10_240
"""How many messages are read and validated at once: enough for the cost of calls; more save hardly anything."""


@dataclass(frozen=True)
class LineSlice:
    """Whole lines of a file: from `start` for `size` bytes, the first of them line number `first`."""

    path: str
    topic: str
    partition: int
    start: int
    size: int
    first: int


@dataclass(frozen=True)
class WholeFile:
    """A file that is one message, of `size` bytes."""

    path: str
    topic: str
    partition: int
    size: int


@dataclass(frozen=True)
class StreamedFile:
    """A file that can only be read from its start: compressed lines, or one JSON array (`file_forms.py`)."""

    path: str
    topic: str
    partition: int
    size: int
    form: str


@dataclass(frozen=True)
class ParquetRowGroup:
    """One row group of a Parquet file, of `size` bytes; its first row is row number `first` of the file."""

    path: str
    topic: str
    partition: int
    group: int
    first: int
    size: int


Slice = LineSlice | WholeFile | StreamedFile | ParquetRowGroup


@dataclass
class FilePlan:
    """What there is to read: the slices, and per partition the first offset and the one after the last."""

    slices: list[Slice] = field(default_factory=list)
    limits: dict[Source, Window] = field(default_factory=dict)
    line_partitions: set[Source] = field(default_factory=set)
