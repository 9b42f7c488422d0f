"""File inputs: files of messages: captures, and files with a message per line."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pyarrow as pa

from cdc_contracts.registry.core.common.errors import UsageError
from cdc_contracts.registry.core.detect.topic_samples import sample_files
from cdc_contracts.registry.core.records.file_batches import read_slice
from cdc_contracts.registry.core.records.file_plans import FilePlan, Slice, Window
from cdc_contracts.registry.core.records.input_files import RecordsWithoutArrow, plan_files
from cdc_contracts.registry.core.report.audit_report import Span
from cdc_contracts.registry.core.report.report_model import ReportSource
from cdc_contracts.registry.core.stats.partition_tallies import Source
from cdc_contracts.registry.core.stats.tally import Tally
from cdc_contracts.spark_checks.inputs.range_slices import Windows, keep, spread
from cdc_contracts.spark_checks.kafka.offsets import Range, by_topic, report_ranges, select
from cdc_contracts.spark_checks.kafka.topic_ids import name_file
from cdc_contracts.spark_checks.spark.cluster_workers import count_slots
from cdc_contracts.spark_checks.tasks.task_shares import collect_results, hand_out

if TYPE_CHECKING:
    from pyspark.sql import Row, SparkSession

    from cdc_contracts.spark_checks.engines.engines import Engine
    from cdc_contracts.spark_checks.tasks.spark_tasks import Work

_TASK_BYTES: Final = 256 * 1024 * 1024
_OFFSET_BYTES: Final = 512  # assumed size of a message


@dataclass(frozen=True)
class FileInput:
    """A range of the messages in files; tasks read the files themselves, so that Spark splits no line.

    `tasks` is how many read at once, None if the session decides.
    """

    paths: tuple[str, ...]
    plan: FilePlan
    windows: Mapping[Source, Window]
    tasks: int | None = None
    sample: Fraction | None = None

    @property
    def spans(self) -> dict[Source, Span]:
        return {source: Span(*window) for source, window in self.windows.items()}

    @property
    def idle(self) -> dict[Source, Span]:
        return {}

    def slices(self) -> Windows | None:
        return None if self.sample is None else spread(self.spans, self.sample)

    def topic_ids(self, engine: Engine) -> dict[str, str]:
        """Return for each file the digest of its first message, by which it is the same file while it grows.

        A capture does not record the id of its topic, so messages that name their topic have none.
        """
        first_messages: dict[str, bytes] = {}
        for one in self.plan.slices:
            source = Source(one.topic, one.partition)
            if source in self.windows and getattr(one, "first", 0) == 0:
                batch = next(read_slice(one, {source: (0, 1)}), None)
                values = [] if batch is None else batch.column("value").to_pylist()
                first_messages[one.topic] = (
                    first_messages.get(one.topic, b"") + (values[0] or b"" if values else b"") + b"\n"
                )
        return {topic: name_file(values) for topic, values in first_messages.items()}

    def describe(self, tally: Tally, spans: Mapping[Source, Span]) -> ReportSource:
        blank = 0
        for source in self.plan.line_partitions & set(spans):
            span, counted = spans[source], tally.partitions.get(source)
            blank += span.end - span.start - span.skipped - (counted.read if counted else 0)
        ranges = report_ranges(by_topic(self.windows))
        return ReportSource(kind="file", paths=tuple(self.paths), ranges=ranges, blank_lines=blank)

    def run(self, session: SparkSession, work: Work, schema: str, *, mergeable: bool = False) -> list[Row]:
        groups, read = _share_out(self.plan.slices, self.tasks or count_slots(session)), self._reading()

        def read_and_work(numbers: Iterator[int]) -> Iterator[pa.RecordBatch]:
            return work(batch for number in numbers for one in groups[number] for batch in read(one))

        frame = hand_out(session, len(groups), read_and_work, schema)
        return collect_results(frame, len(groups), mergeable=mergeable)

    def in_order(self) -> Iterator[pa.RecordBatch]:
        return self.batches()

    def peek(
        self, engine: Engine, most: int, within: Mapping[Source, Window] | None = None
    ) -> Iterator[pa.RecordBatch | RecordsWithoutArrow]:
        yield from sample_files(FilePlan(self.plan.slices, dict(self.windows)), most, within)

    def batches(self) -> Iterator[pa.RecordBatch]:
        read = self._reading()
        for one in self.plan.slices:
            yield from read(one)

    def pieces(self, offsets: int | None = None) -> list[FileInput]:
        if offsets is None:
            return [self]
        pieces: list[list[Slice]] = []
        held = most = offsets * _OFFSET_BYTES
        for one in self.plan.slices:
            if held >= most:
                pieces.append([])
                held = 0
            pieces[-1].append(one)
            held += one.size
        return [replace(self, plan=replace(self.plan, slices=slices)) for slices in pieces]

    def _reading(self) -> Callable[[Slice], Iterator[pa.RecordBatch]]:
        """Return a function that reads the requested messages of a slice, in this process or in a task."""
        windows, chosen = dict(self.windows), self.slices()

        def read(one: Slice) -> Iterator[pa.RecordBatch]:
            for batch in read_slice(one, windows):
                yield from (batch,) if chosen is None else keep(batch, chosen)

        return read


def read_files(paths: Sequence[Path], wanted: Range, *, tasks: int | None = None, whole: bool = False) -> FileInput:
    """Return a range of the messages in files.

    Raises UnavailableError if a file or offset does not exist, UsageError if a range names a time.
    """
    plan = plan_files(paths, whole=whole)
    windows: dict[Source, Window] = {}
    for topic, limits in by_topic(plan.limits).items():
        for partition, window in select(wanted, limits, _no_times).items():
            windows[Source(topic, partition)] = window
    return FileInput(tuple(map(str, paths)), plan, windows, tasks)


def _no_times(_: datetime) -> Mapping[int, int]:
    raise UsageError("ranges of files are offsets, not times", hint="Use earliest, latest, offset:N or last:N.")


def _share_out(slices: Sequence[Slice], tasks: int) -> list[tuple[Slice, ...]]:
    """Divide the slices into groups of adjacent slices of about the same size, which keep all tasks busy to the end.

    Their number is a multiple of `tasks`: if five tasks ran two at a time, one core would idle during the last.
    """
    total = sum(one.size for one in slices)
    wanted = tasks * max(1, -(-total // (tasks * _TASK_BYTES)))
    groups: list[list[Slice]] = [[] for _ in range(wanted)]
    before = 0
    for one in slices:
        middle = before + one.size // 2
        groups[min(wanted - 1, middle * wanted // max(1, total))].append(one)
        before += one.size
    return [tuple(group) for group in groups if group]
