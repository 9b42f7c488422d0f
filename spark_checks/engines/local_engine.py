"""Local engine: the work of a run in this process, without a JVM, on one core."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NoReturn

import pyarrow as pa

from cdc_contracts.registry.core.common.errors import UsageError
from cdc_contracts.registry.core.engine.kernel import Kernel
from cdc_contracts.registry.core.engine.stepwise_audit import audit_in_steps
from cdc_contracts.registry.core.report.report_model import StopReason
from cdc_contracts.registry.core.stats.tally import Tally
from cdc_contracts.registry.core.tables.inference.column_evidence import InferenceEvidence
from cdc_contracts.registry.core.tables.inference.record_evidence import infer_batches
from cdc_contracts.registry.core.validate.validation_context import ValidationContext
from cdc_contracts.spark_checks.engines.engines import Input, TopicRecords
from cdc_contracts.spark_checks.engines.stopping import Stop
from cdc_contracts.spark_checks.kafka.consumer import open_reader
from cdc_contracts.spark_checks.kafka.offsets import Limits, Range
from cdc_contracts.spark_checks.tasks.spark_tasks import TaskCount, Watch, Work
from cdc_contracts.spark_checks.tasks.task_shares import ShareWork

if TYPE_CHECKING:
    from cdc_contracts.spark_checks.engines.repeat_search import FoundRepeats, RepeatSearch


@dataclass
class ProcessCount:
    """A counter in this process, with the interface of a Spark accumulator."""

    value: int = 0

    def add(self, number: int) -> None:
        self.value += number


class LocalEngine:
    """The execution engine that works in this process."""

    tasks: int | None = None

    def counter(self) -> TaskCount:
        return ProcessCount()

    def topics(self, bootstrap: str, properties: Mapping[str, str]) -> list[str]:
        with open_reader(bootstrap, properties) as reader:
            return reader.topics()

    def topic_ids(self, bootstrap: str, topics: Sequence[str], properties: Mapping[str, str]) -> dict[str, str]:
        with open_reader(bootstrap, properties) as reader:
            return reader.topic_ids(topics)

    def resolve(self, bootstrap: str, ranges: Mapping[str, Range], properties: Mapping[str, str]) -> dict[str, Limits]:
        with open_reader(bootstrap, properties) as reader:
            return {topic: reader.resolve(topic, one) for topic, one in ranges.items()}

    def peek(self, source: TopicRecords) -> Iterator[pa.RecordBatch]:
        yield from source.batches()

    def audit(
        self, source: Input, validation: ValidationContext, watch: Watch | None, stop: Stop
    ) -> tuple[Tally, StopReason | None]:
        tally, whole = audit_in_steps(source.batches(), validation, watch, stop, source.slices())
        return tally, None if whole else stop.reason

    def infer(self, source: Input, validation: ValidationContext, stop: Stop) -> InferenceEvidence:
        return infer_batches(source.batches(), Kernel(validation), lambda: stop.reason is not None)

    def run(self, source: TopicRecords, work: Work) -> Iterable[tuple[bytes]]:
        return _results(work(source.batches()))

    def run_in_order(self, source: Input, work: Work, *, mergeable: bool = False) -> Iterable[tuple[bytes]]:
        return _results(work(source.in_order()))

    def run_shares(self, shares: int, work: ShareWork) -> Iterable[tuple[bytes]]:
        return _results(work(iter(range(shares))))

    def find_repeats(self, search: RepeatSearch) -> Iterable[FoundRepeats]:
        # imported here, as an audit needs no Parquet writer
        from cdc_contracts.spark_checks.engines.local_repeat_search import search_in_process

        return [search_in_process(search)]

    def halt(self) -> None:
        """Do nothing: no work runs in the background."""

    @property
    def session(self) -> NoReturn:
        raise UsageError("--engine local works without Spark, which this needs", hint="Give --engine spark.")


def _results(batches: Iterable[pa.RecordBatch]) -> list[tuple[bytes]]:
    return [(one.as_py(),) for batch in batches for one in batch.column(0)]


LOCAL: Final = LocalEngine()
