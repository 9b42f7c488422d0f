"""Sources: inputs from topics and files. A range is resolved once, before anything is read."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

import pyarrow as pa

from cdc_contracts.registry.core.common.errors import UnavailableError
from cdc_contracts.registry.core.records.sample_windows import Window, share_windows
from cdc_contracts.registry.core.report.audit_report import Span, Spans
from cdc_contracts.registry.core.report.report_model import ReportSource
from cdc_contracts.registry.core.stats.partition_tallies import Source
from cdc_contracts.registry.core.stats.tally import Tally
from cdc_contracts.spark_checks.engines.engines import Engine, Input
from cdc_contracts.spark_checks.inputs.range_slices import Windows, cut, spread
from cdc_contracts.spark_checks.kafka.bookmarks import Offsets
from cdc_contracts.spark_checks.kafka.consumer import open_reader
from cdc_contracts.spark_checks.kafka.failures import reading
from cdc_contracts.spark_checks.kafka.offsets import Range, bounds_of, by_topic, parse_range, report_ranges
from cdc_contracts.spark_checks.kafka.spark_source import reading_options, resolve
from cdc_contracts.spark_checks.tasks.task_shares import collect_results, records_per_task

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row, SparkSession

    from cdc_contracts.spark_checks.tasks.spark_tasks import Work

_COLUMNS = ("key", "value", "topic", "partition", "offset", "timestamp", "timestampType")


@dataclass(frozen=True)
class TopicInput:
    """A range of one or more topics; `tasks` is how many read it at once, None if each reads a whole partition."""

    bootstrap: str
    selected: Mapping[str, Mapping[int, tuple[int, int]]]
    properties: Mapping[str, str] = field(repr=False)
    tasks: int | None = None
    headers: bool = True
    sample: Fraction | None = None
    idle: Spans = field(default_factory=dict)

    @property
    def spans(self) -> dict[Source, Span]:
        return {
            Source(topic, partition): Span(*window)
            for topic, partitions in self.selected.items()
            for partition, window in partitions.items()
        }

    def of_topics(self, names: Sequence[str]) -> TopicInput:
        """Return the part of the input that is in some of its topics."""
        return replace(self, selected={name: self.selected[name] for name in names})

    def slices(self) -> Windows | None:
        return None if self.sample is None else spread(self.spans, self.sample)

    def topic_ids(self, engine: Engine) -> dict[str, str]:
        return engine.topic_ids(self.bootstrap, list(self.selected), self.properties)

    def pieces(self, offsets: int | None = None) -> list[TopicInput]:
        """Return the input in pieces of about a number of offsets; without a number in one piece, unless it is sampled.

        A piece has one window of each partition that it reads.
        """
        return [replace(self, selected=by_topic(piece), sample=None) for piece in cut(windows_of(self), offsets)]

    def describe(self, tally: Tally, spans: Mapping[Source, Span]) -> ReportSource:
        return ReportSource(
            kind="kafka",
            bootstrap=self.bootstrap,
            topics=tuple(self.selected),
            ranges=report_ranges(self.selected),
            blank_lines=0,
        )

    def frame(self, session: SparkSession) -> DataFrame:
        """Return the records as a DataFrame with the columns of the Kafka source."""
        frames = []
        most = None if self.tasks is None else records_per_task(self._offsets(), self.tasks)
        # An array column, even of nulls, costs Spark's Arrow writer several times as much as all others together.
        headers = "case when headers is null then null else to_json(headers) end as headers"
        for topic, selected in self.selected.items():
            options = reading_options(self.bootstrap, topic, selected, self.properties, tasks=self.tasks, most=most)
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

    def _offsets(self) -> int:
        return sum(end - start for partitions in self.selected.values() for start, end in partitions.values())

    def run(self, session: SparkSession, work: Work, schema: str, *, mergeable: bool = False) -> list[Row]:
        most = self._offsets() if self.tasks is None else records_per_task(self._offsets(), self.tasks)
        ranges = sum(-(-(span.end - span.start) // max(1, most)) for span in self.spans.values())
        limits = partial(resolve, session, self.bootstrap, wanted=parse_range(), properties=self.properties)
        with reading(self.bootstrap, self.selected, self.properties, limits):
            frame = self.frame(session).mapInArrow(work, schema)
            return collect_results(frame, ranges, mergeable=mergeable)

    def peek(
        self, engine: Engine, most: int, within: Mapping[Source, Window] | None = None
    ) -> Iterator[pa.RecordBatch]:
        for windows in share_windows(bounds_of(self.spans) if within is None else within, most):
            selected = by_topic(windows)
            part = replace(self, selected=selected, tasks=None, sample=None)
            if selected:
                yield from engine.peek(part)

    def batches(self) -> Iterator[pa.RecordBatch]:
        with open_reader(self.bootstrap, self.properties) as reader:
            for piece in self.pieces():
                yield from reader.read(piece.selected, headers=self.headers)

    def in_order(self) -> Iterator[pa.RecordBatch]:
        with open_reader(self.bootstrap, self.properties) as reader:
            for piece in self.pieces():
                for place, span in sorted(piece.spans.items()):
                    one = {place.topic: {place.partition: (span.start, span.end)}}
                    yield from reader.read(one, headers=self.headers)


def join_topics(inputs: Sequence[Input]) -> Input:
    """Return inputs of different topics at the same broker as one; any other input is alone."""
    first, *others = inputs
    if not isinstance(first, TopicInput) or not others:
        return first
    selected = {name: bounds for one in inputs if isinstance(one, TopicInput) for name, bounds in one.selected.items()}
    return replace(first, selected=selected)


def read_topics(
    engine: Engine,
    bootstrap: str,
    topics: Sequence[str],
    wanted: Range,
    properties: Mapping[str, str],
    *,
    tasks: int | None = None,
    headers: bool = True,
    since: Offsets | None = None,
) -> TopicInput:
    """Return a range of topics, resolved against the broker now.

    With `since` it begins at these offsets, and for partitions without one at their beginning.
    Raises UnavailableError if the broker, a topic or offsets are not available.
    """
    ranges = {topic: wanted if since is None else wanted.since(since.get(topic, {})) for topic in topics}
    return TopicInput(bootstrap, engine.resolve(bootstrap, ranges, properties), properties, tasks, headers)


def match_topics(engine: Engine, bootstrap: str, pattern: re.Pattern[str], properties: Mapping[str, str]) -> list[str]:
    """Return the topics whose whole name matches, sorted; internal topics (`__...`) never match.

    Raises UnavailableError if no topic matches, or the broker does not answer.
    """
    names = engine.topics(bootstrap, properties)
    found = [name for name in names if pattern.fullmatch(name)]
    if not found:
        near = difflib.get_close_matches(pattern.pattern, names, 3, 0) or ["none"]
        raise UnavailableError(
            f"no topic matches {pattern.pattern}", where=bootstrap, hint=f"Topics there: {', '.join(near)}."
        )
    return found


def windows_of(source: Input) -> Windows:
    """Return the windows read of each partition: its whole span, or the slices of a sample."""
    return source.slices() or {place: [bounds] for place, bounds in bounds_of(source.spans).items()}
