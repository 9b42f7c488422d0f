"""Engines and inputs: what does the work of a run, in this process or in tasks of Spark, and what it is done over."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Protocol

import pyarrow as pa

from cdc_contracts.registry.report.audit_report import Span, Spans
from cdc_contracts.registry.report.report_model import ReportSource, StopReason
from cdc_contracts.registry.stats.partition_tallies import Source
from cdc_contracts.registry.stats.tally import Tally
from cdc_contracts.registry.tables.inference.column_evidence import InferenceEvidence
from cdc_contracts.registry.validate.validation_context import ValidationContext
from cdc_contracts.spark_checks.kafka.offsets import Limits, Range
from cdc_contracts.spark_checks.repeat_search import FoundRepeats, RepeatSearch
from cdc_contracts.spark_checks.spark_tasks import TaskCount, Watch, Work
from cdc_contracts.spark_checks.stopping import Stop
from cdc_contracts.spark_checks.task_shares import ShareWork

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row, SparkSession


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

    @property
    def idle(self) -> Spans:
        """Where partitions stand that are not read because they hold nothing new: all before has been read."""
        ...

    def topic_ids(self, engine: Engine) -> Mapping[str, str]:
        """Return the ids of its topics, as far as the broker gives them. Raises UnavailableError as `read_topics`."""
        ...

    def describe(self, tally: Tally, spans: Mapping[Source, Span]) -> ReportSource:
        """Return what a report says of the source; `spans` is what was read of it."""
        ...

    def run(self, session: SparkSession, work: Work, schema: str) -> list[Row]:
        """Run the work over every record of the range, each read once, and return the rows it yields.

        Raises UnavailableError if records are gone by the time they are read.
        """
        ...

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield every record of the range, read in this process. Raises as `run` does."""
        ...

    def in_order(self) -> Iterator[pa.RecordBatch]:
        """Yield them as `batches` does, one partition after the other where the source has them mixed."""
        ...

    def peek(self, engine: Engine, most: int) -> Iterator[pa.RecordBatch]:
        """Yield records from the beginning, the middle and the end of each partition. Raises as `run` does."""
        ...


class TopicRecords(Protocol):
    """A range of topics that an engine reads."""

    @property
    def bootstrap(self) -> str: ...

    @property
    def selected(self) -> Mapping[str, Limits]: ...

    @property
    def properties(self) -> Mapping[str, str]: ...

    def frame(self, session: SparkSession) -> DataFrame:
        """Return the records as a DataFrame with the columns of the Kafka source."""
        ...

    def run(self, session: SparkSession, work: Work, schema: str) -> list[Row]:
        """Run work as `Input.run` does."""
        ...

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield every record as `Input.batches` does."""
        ...


class Engine(Protocol):
    """What reads topics and does the work of a run. Results are the same whichever does."""

    @property
    def tasks(self) -> int | None:
        """How many tasks read a topic at once; None if its partitions decide."""
        ...

    def counter(self) -> TaskCount:
        """Return a counter that the work can add to, wherever it is done."""
        ...

    def topics(self, bootstrap: str, properties: Mapping[str, str]) -> list[str]:
        """Return the names of all topics. Raises UnavailableError if the broker does not answer."""
        ...

    def topic_ids(self, bootstrap: str, topics: Sequence[str], properties: Mapping[str, str]) -> dict[str, str]:
        """Return the broker's ids of topics, as far as it gives them. Raises UnavailableError as `resolve`."""
        ...

    def resolve(self, bootstrap: str, ranges: Mapping[str, Range], properties: Mapping[str, str]) -> dict[str, Limits]:
        """Return the offsets that a range of each topic stands for now.

        Raises UnavailableError if broker, topic or offsets are not there.
        """
        ...

    def peek(self, source: TopicRecords) -> Iterator[pa.RecordBatch]:
        """Yield the values of a small input with their places. Raises UnavailableError if records are gone."""
        ...

    def audit(
        self, source: Input, validation: ValidationContext, watch: Watch | None, stop: Stop
    ) -> tuple[Tally, StopReason | None]:
        """Validate every record of an input, and say why it ended early if it did. Raises as `Input.run` does."""
        ...

    def infer(self, source: Input, validation: ValidationContext, stop: Stop) -> InferenceEvidence:
        """Return what the rows of an input show of their tables, as far as it came. Raises as `Input.run` does."""
        ...

    def run(self, source: TopicRecords, work: Work) -> Iterable[tuple[bytes]]:
        """Run work over every record of an input, each read once, and return the results it yields, pickled.

        Nothing of it goes on once this raises. Raises as `Input.run` does.
        """
        ...

    def run_in_order(self, source: Input, work: Work) -> Iterable[tuple[bytes]]:
        """Run work as `run` does; what it is given in one go is in the order of partitions and offsets."""
        ...

    def run_shares(self, shares: int, work: ShareWork) -> Iterable[tuple[bytes]]:
        """Run work over so many shares, such as files, by their numbers, and return the results it yields, pickled."""
        ...

    def find_repeats(self, search: RepeatSearch) -> Iterable[FoundRepeats]:
        """Write the rows of changes files that repeat others."""
        ...

    def halt(self) -> None:
        """Return when nothing that was begun goes on, or a timeout has passed."""
        ...

    @property
    def session(self) -> SparkSession:
        """The session of Spark, for what only Spark can do. Raises UsageError where there is none."""
        ...
