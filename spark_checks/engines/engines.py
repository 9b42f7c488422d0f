"""Execution engines and inputs: an engine does the work of a run in this process or in Spark tasks, over an input."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Protocol

import pyarrow as pa

from cdc_contracts.registry.core.records.sample_windows import Window
from cdc_contracts.registry.core.report.audit_report import Span, Spans
from cdc_contracts.registry.core.report.report_model import ReportSource, StopReason
from cdc_contracts.registry.core.stats.partition_tallies import Source
from cdc_contracts.registry.core.stats.tally import Tally
from cdc_contracts.registry.core.tables.inference.column_evidence import InferenceEvidence
from cdc_contracts.registry.core.validate.validation_context import ValidationContext
from cdc_contracts.spark_checks.engines.stopping import Stop
from cdc_contracts.spark_checks.kafka.offsets import Limits, Range
from cdc_contracts.spark_checks.tasks.spark_tasks import TaskCount, Watch, Work
from cdc_contracts.spark_checks.tasks.task_shares import ShareWork

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row, SparkSession

    from cdc_contracts.spark_checks.engines.repeat_search import FoundRepeats, RepeatSearch


class Input(Protocol):
    """An input: its spans by partition, its description in reports, and how work is run over it.

    With `sample` only slices of it are read.
    """

    @property
    def sample(self) -> Fraction | None: ...

    def slices(self) -> Mapping[Source, Sequence[Window]] | None:
        """Return the slices that a sample reads, None if everything is read. No batch has records of two of them."""

    def pieces(self, offsets: int | None = None) -> Sequence[Input]:
        """Return the input divided into inputs of about a number of offsets each."""

    @property
    def spans(self) -> Mapping[Source, Span]: ...

    @property
    def idle(self) -> Spans:
        """The offsets of partitions without new records, which are not read: everything before has been."""

    def topic_ids(self, engine: Engine) -> Mapping[str, str]:
        """Return the ids of its topics, if the broker provides them. Raises UnavailableError as `read_topics`."""

    def describe(self, tally: Tally, spans: Mapping[Source, Span]) -> ReportSource:
        """Return the description of the source for a report; `spans` are what was read of it."""

    def run(self, session: SparkSession, work: Work, schema: str, *, mergeable: bool = False) -> list[Row]:
        """Run the work over every record of the range, each read once, and return the rows it yields.

        Results that are `mergeable` may be merged in tasks before they are returned.
        Raises UnavailableError if records are gone by the time they are read.
        """

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield every record of the range, read in this process. Raises as `run` does."""

    def in_order(self) -> Iterator[pa.RecordBatch]:
        """Yield the same records as `batches`, one partition after the other even if the source mixes them."""

    def peek(
        self, engine: Engine, most: int, within: Mapping[Source, Window] | None = None
    ) -> Iterator[pa.RecordBatch]:
        """Yield records from the beginning, the middle and the end of each partition, or of windows of partitions.

        Raises as `run` does.
        """


class TopicRecords(Input, Protocol):
    """A range of topics, for an engine to read."""

    @property
    def bootstrap(self) -> str: ...

    @property
    def selected(self) -> Mapping[str, Limits]: ...

    @property
    def properties(self) -> Mapping[str, str]: ...

    def frame(self, session: SparkSession) -> DataFrame:
        """Return the records as a DataFrame with the columns of the Kafka source."""


class Engine(Protocol):
    """Reads topics and does the work of a run. Results are the same with every engine."""

    @property
    def tasks(self) -> int | None:
        """The number of tasks that read a topic; None if its partitions decide."""

    def counter(self) -> TaskCount:
        """Return a counter that the work can add to, wherever it runs."""

    def topics(self, bootstrap: str, properties: Mapping[str, str]) -> list[str]:
        """Return the names of all topics. Raises UnavailableError if the broker does not answer."""

    def topic_ids(self, bootstrap: str, topics: Sequence[str], properties: Mapping[str, str]) -> dict[str, str]:
        """Return the broker's ids of topics, if it provides them. Raises UnavailableError as `resolve`."""

    def resolve(self, bootstrap: str, ranges: Mapping[str, Range], properties: Mapping[str, str]) -> dict[str, Limits]:
        """Return the offsets that a range of each topic means now.

        Raises UnavailableError if the broker, a topic or offsets are not available.
        """

    def peek(self, source: TopicRecords) -> Iterator[pa.RecordBatch]:
        """Yield the values of a small input with their coordinates. Raises UnavailableError if records are gone."""

    def audit(
        self, source: Input, validation: ValidationContext, watch: Watch | None, stop: Stop
    ) -> tuple[Tally, StopReason | None]:
        """Validate every record of an input; return also why it ended early, if it did. Raises as `Input.run` does."""

    def infer(self, source: Input, validation: ValidationContext, stop: Stop) -> InferenceEvidence:
        """Return the evidence in rows of an input about their tables, up to a stop. Raises as `Input.run` does."""

    def run(self, source: TopicRecords, work: Work) -> Iterable[tuple[bytes]]:
        """Run work over every record of an input, each read once, and return the results it yields, pickled.

        If this raises, no part of the work is still running. Raises as `Input.run` does.
        """

    def run_in_order(self, source: Input, work: Work, *, mergeable: bool = False) -> Iterable[tuple[bytes]]:
        """Run work as `run` does, giving it records in the order of partitions and offsets."""

    def run_shares(self, shares: int, work: ShareWork) -> Iterable[tuple[bytes]]:
        """Run work over a number of shares (such as files), by index, and return the results it yields, pickled."""

    def find_repeats(self, search: RepeatSearch) -> Iterable[FoundRepeats]:
        """Write the rows of changes files that repeat others."""

    def halt(self) -> None:
        """Wait until all started work has ended, or a timeout has passed."""

    @property
    def session(self) -> SparkSession:
        """The Spark session, for work that only Spark can do. Raises UsageError if there is none."""
