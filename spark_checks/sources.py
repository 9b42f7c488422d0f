"""Sources: what is read, from where to where, and as which DataFrame. A range is decided once, before any reading."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

import pyarrow as pa

from cdc_contracts.registry.detection.samples import sample_files
from cdc_contracts.registry.errors import UnavailableError, UsageError
from cdc_contracts.registry.files import FilePlan, Slice, Window, plan_files, read_slice
from cdc_contracts.registry.report import Span
from cdc_contracts.registry.tally import Source, Tally
from cdc_contracts.registry.windows import share_windows
from cdc_contracts.spark_checks.bookmarks import Offsets
from cdc_contracts.spark_checks.consumer import open_reader
from cdc_contracts.spark_checks.failures import reading
from cdc_contracts.spark_checks.offsets import (
    Range,
    bounds_of,
    by_topic,
    list_topics,
    range_words,
    reading_options,
    resolve,
    select,
    topic_ids,
)
from cdc_contracts.spark_checks.slices import Windows, cut, keep, spread

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row, SparkSession

    from cdc_contracts.spark_checks.tasks import Work

_TASK_BYTES: Final = 256 * 1024 * 1024
_OFFSET_BYTES: Final = 512  # what a message may weigh
_COLUMNS = ("key", "value", "topic", "partition", "offset", "timestamp", "timestampType")


class Input(Protocol):
    """Something to read: its spans by partition, what a report says of it, and how work is run over it.

    With `sample` only slices of it are read.
    """

    @property
    def sample(self) -> Fraction | None: ...

    def pieces(self, offsets: int | None = None) -> Sequence[Input]:
        """Return what is to be read as inputs of about so many offsets, which together are all of it."""
        ...

    @property
    def spans(self) -> Mapping[Source, Span]: ...

    def topic_ids(self, session: SparkSession) -> Mapping[str, str]:
        """Return what a broker knows its topics by, as far as one tells. Raises UnavailableError as `read_topics`."""
        ...

    def describe(self, tally: Tally, spans: Mapping[Source, Span]) -> dict[str, Any]:
        """Return what a report says of the source; `spans` is what was read of it."""
        ...

    def run(self, session: SparkSession, work: Work, schema: str) -> list[Row]:
        """Run the work over every record of the range, each read once, and return the rows it yields.

        Raises UnavailableError where records are gone by the time they are read.
        """
        ...

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield every record of the range, read in this process. Raises as `run` does."""
        ...

    def peek(self, session: SparkSession | None, most: int) -> Iterator[pa.RecordBatch]:
        """Yield records from the beginning, the middle and the end of each partition. Raises as `run` does."""
        ...


@dataclass(frozen=True)
class TopicInput:
    """A range of one or more topics."""

    bootstrap: str
    selected: Mapping[str, Mapping[int, tuple[int, int]]]
    properties: Mapping[str, str]
    tasks: int | None = None
    headers: bool = True
    sample: Fraction | None = None

    @property
    def spans(self) -> dict[Source, Span]:
        return {
            Source(topic, partition): Span(*window)
            for topic, partitions in self.selected.items()
            for partition, window in partitions.items()
        }

    def topic_ids(self, session: SparkSession) -> dict[str, str]:
        return topic_ids(session, self.bootstrap, list(self.selected), self.properties)

    def pieces(self, offsets: int | None = None) -> list[TopicInput]:
        """Return what is to be read in pieces of about so many offsets; without a number, in one if it is not sampled.

        A piece has one window of each partition that it reads.
        """
        return [replace(self, selected=by_topic(piece), sample=None) for piece in cut(windows_of(self), offsets)]

    def describe(self, tally: Tally, spans: Mapping[Source, Span]) -> dict[str, Any]:
        return {
            "kind": "kafka",
            "bootstrap": self.bootstrap,
            "topics": list(self.selected),
            "ranges": range_words(self.selected),
            "blank_lines": 0,
        }

    def frame(self, session: SparkSession) -> DataFrame:
        """Return the records as a DataFrame with the columns of the Kafka source."""
        frames = []
        # An array column costs Spark's Arrow writer several times as much as all others together, even if all null.
        headers = "case when headers is null then null else to_json(headers) end as headers"
        for topic, selected in self.selected.items():
            options = reading_options(self.bootstrap, topic, selected, self.properties, tasks=self.tasks)
            reader = session.read.format("kafka").options(**options)
            if self.headers:
                loaded = reader.option("includeHeaders", "true").load()
                frames.append(loaded.selectExpr(*_COLUMNS, headers))
            else:
                frames.append(reader.load().selectExpr(*_COLUMNS))
        frame = frames[0]
        for other in frames[1:]:
            frame = frame.unionAll(other)
        return frame

    def run(self, session: SparkSession, work: Work, schema: str) -> list[Row]:
        with reading(self.bootstrap, list(self.selected), self.properties):
            return self.frame(session).mapInArrow(work, schema).collect()

    def peek(self, session: SparkSession | None, most: int) -> Iterator[pa.RecordBatch]:
        for windows in share_windows(bounds_of(self.spans), most):
            selected = by_topic(windows)
            part = replace(self, selected=selected, tasks=None, headers=False, sample=None)
            if not selected:
                continue
            if session is None:
                yield from part.batches()
                continue
            with reading(self.bootstrap, list(selected), self.properties):
                yield from part.frame(session).select("value", "topic", "partition", "offset").toArrow().to_batches()

    def batches(self) -> Iterator[pa.RecordBatch]:
        with open_reader(self.bootstrap, self.properties) as reader:
            for piece in self.pieces():
                yield from reader.read(piece.selected, headers=self.headers)


def read_topics(
    session: SparkSession | None,
    bootstrap: str,
    topics: Sequence[str],
    wanted: Range,
    properties: Mapping[str, str],
    *,
    tasks: int | None = None,
    headers: bool = True,
    since: Offsets | None = None,
) -> TopicInput:
    """Return a range of topics, resolved against the broker now; without a session, without a JVM.

    With `since` it begins at these offsets, and where they do not name a partition at its beginning.
    Raises UnavailableError where broker, topic or offsets are not there.
    """
    ranges = {topic: wanted if since is None else wanted.since(since.get(topic, {})) for topic in topics}
    if session is not None:
        selected = {topic: resolve(session, bootstrap, topic, one, properties) for topic, one in ranges.items()}
    else:
        with open_reader(bootstrap, properties) as reader:
            selected = {topic: reader.resolve(topic, one) for topic, one in ranges.items()}
    return TopicInput(bootstrap, selected, properties, tasks, headers)


def match_topics(
    session: SparkSession | None, bootstrap: str, pattern: re.Pattern[str], properties: Mapping[str, str]
) -> list[str]:
    """Return the topics whose whole name matches, in order; those of Kafka itself (`__...`) never do.

    Raises UnavailableError where none does, or the broker does not answer.
    """
    if session is not None:
        names = list_topics(session, bootstrap, properties)
    else:
        with open_reader(bootstrap, properties) as reader:
            names = reader.topics()
    found = [name for name in names if pattern.fullmatch(name)]
    if not found:
        near = difflib.get_close_matches(pattern.pattern, names, 3, 0) or ["none"]
        raise UnavailableError(
            f"no topic matches {pattern.pattern}", where=bootstrap, mend=f"Topics there: {', '.join(near)}."
        )
    return found


@dataclass(frozen=True)
class FileInput:
    """A range of the messages in files; the tasks read the files themselves, so Spark cuts no line."""

    paths: tuple[str, ...]
    plan: FilePlan
    windows: Mapping[Source, Window]
    tasks: int
    sample: Fraction | None = None

    @property
    def spans(self) -> dict[Source, Span]:
        return {source: Span(*window) for source, window in self.windows.items()}

    def topic_ids(self, session: SparkSession) -> dict[str, str]:
        return {}  # a capture does not say which topic of its name it is of

    def describe(self, tally: Tally, spans: Mapping[Source, Span]) -> dict[str, Any]:
        blank = 0
        for source in self.plan.line_partitions & set(spans):
            span, counted = spans[source], tally.partitions.get(source)
            blank += span.end - span.start - span.skipped - (counted.read if counted else 0)
        ranges = range_words(by_topic(self.windows))
        return {"kind": "file", "paths": list(self.paths), "ranges": ranges, "blank_lines": blank}

    def run(self, session: SparkSession, work: Work, schema: str) -> list[Row]:
        groups, read = _share_out(self.plan.slices, self.tasks), self._reading()

        def read_and_work(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            mine = [number for batch in batches for number in batch.column(0).to_pylist()]
            yield from work(batch for number in mine for one in groups[number] for batch in read(one))

        numbers = session.range(0, len(groups), 1, max(1, len(groups)))
        return numbers.mapInArrow(read_and_work, schema).collect()

    def peek(self, session: SparkSession | None, most: int) -> Iterator[pa.RecordBatch]:
        yield from sample_files(FilePlan(self.plan.slices, dict(self.windows)), most)

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
        """Return what reads the messages of a slice that are wanted, in this process or in a task."""
        windows, chosen = dict(self.windows), windows_of(self) if self.sample is not None else None

        def read(one: Slice) -> Iterator[pa.RecordBatch]:
            for batch in read_slice(one, windows):
                yield batch if chosen is None else keep(batch, chosen)

        return read


def read_files(paths: Sequence[Path], wanted: Range, *, tasks: int, whole: bool = False) -> FileInput:
    """Return a range of the messages in files.

    Raises UnavailableError where a file or offset is not there, UsageError where a range names a time.
    """
    plan = plan_files(paths, whole=whole)
    windows: dict[Source, Window] = {}
    for topic, limits in by_topic(plan.limits).items():
        for partition, window in select(wanted, limits, _no_times).items():
            windows[Source(topic, partition)] = window
    return FileInput(tuple(map(str, paths)), plan, windows, tasks)


def windows_of(source: Input) -> Windows:
    """Return what is read of each partition: all of its span, or the slices of a sample."""
    if source.sample is not None:
        return spread(source.spans, source.sample)
    return {place: [bounds] for place, bounds in bounds_of(source.spans).items()}


def _no_times(_: datetime) -> Mapping[int, int]:
    raise UsageError("files are ranged by offsets, not by times", mend="use earliest, latest, offset:N or last:N")


def _share_out(slices: Sequence[Slice], tasks: int) -> list[tuple[Slice, ...]]:
    """Part the slices into runs of neighbours of about the same size, as many as keep all tasks busy to the end.

    They are a multiple of `tasks`: where five tasks run two at a time, one core waits for the last.
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
