"""Spark engine: does the work of a run in pieces, each a Spark job whose results are kept if the run is stopped."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

import pyarrow as pa

from cdc_contracts.registry.core.report.report_model import StopReason
from cdc_contracts.registry.core.stats.tally import Tally
from cdc_contracts.registry.core.tables.inference.column_evidence import InferenceEvidence
from cdc_contracts.registry.core.tables.inference.record_evidence import infer_batches
from cdc_contracts.registry.core.validate.validation_context import ValidationContext
from cdc_contracts.spark_checks.engines.engines import Input, TopicRecords
from cdc_contracts.spark_checks.engines.repeat_search import FoundRepeats, RepeatSearch
from cdc_contracts.spark_checks.engines.spark_repeat_search import search_with_spark
from cdc_contracts.spark_checks.engines.stopping import Stop, halt, run_job
from cdc_contracts.spark_checks.kafka.failures import reading
from cdc_contracts.spark_checks.kafka.offsets import Limits, Range, parse_range
from cdc_contracts.spark_checks.kafka.spark_source import list_topics, resolve, topic_ids
from cdc_contracts.spark_checks.spark.cluster_workers import count_slots
from cdc_contracts.spark_checks.tasks.spark_tasks import (
    RESULT_SCHEMA,
    TaskCount,
    Watch,
    Work,
    as_result,
    audit_work,
    describe_validation,
    open_kernel,
    read_results,
)
from cdc_contracts.spark_checks.tasks.task_shares import ShareWork, hand_out

if TYPE_CHECKING:
    from pyspark.sql import Row, SparkSession


PIECE_OFFSETS: Final = 1_000_000
LIMITED_OFFSETS: Final = 100_000
"""The offsets of one Spark job for each task that runs at once; fewer where the time is limited, because a job
is kept whole or not at all."""
_LEAST_SLOTS: Final = 2


@dataclass(frozen=True)
class SparkEngine:
    """The execution engine that works in a Spark session."""

    session: SparkSession

    @property
    def tasks(self) -> int | None:
        return count_slots(self.session)

    def counter(self) -> TaskCount:
        return self.session.sparkContext.accumulator(0)

    def topics(self, bootstrap: str, properties: Mapping[str, str]) -> list[str]:
        return list_topics(self.session, bootstrap, properties)

    def topic_ids(self, bootstrap: str, topics: Sequence[str], properties: Mapping[str, str]) -> dict[str, str]:
        return topic_ids(self.session, bootstrap, topics, properties)

    def resolve(self, bootstrap: str, ranges: Mapping[str, Range], properties: Mapping[str, str]) -> dict[str, Limits]:
        return {topic: resolve(self.session, bootstrap, topic, one, properties) for topic, one in ranges.items()}

    def peek(self, source: TopicRecords) -> Iterator[pa.RecordBatch]:
        limits = partial(resolve, self.session, source.bootstrap, wanted=parse_range(), properties=source.properties)
        with reading(source.bootstrap, source.selected, source.properties, limits):
            frame = source.frame(self.session)
            names = ["value", "topic", "partition", "offset", *({"headers"} & {*frame.columns})]
            yield from frame.select(names).toArrow().to_batches()

    def audit(
        self, source: Input, validation: ValidationContext, watch: Watch | None, stop: Stop
    ) -> tuple[Tally, StopReason | None]:
        work, total = audit_work(describe_validation(validation), watch, source.slices()), Tally()
        for piece in source.pieces(self._piece(LIMITED_OFFSETS if stop.limited else PIECE_OFFSETS)):
            rows = None if stop.reason else self._run_job(piece, work, stop)
            if rows is None:
                return total, stop.reason
            for tally in read_results(rows):
                total.merge(tally)
        return total, None

    def infer(self, source: Input, validation: ValidationContext, stop: Stop) -> InferenceEvidence:
        work, total = _infer_work(validation), InferenceEvidence()
        for piece in source.pieces(self._piece(PIECE_OFFSETS)):
            rows = None if stop.reason else self._run_job(piece, work, stop)
            for evidence in () if rows is None else read_results(rows):
                total.merge(evidence)
        return total

    def run(self, source: TopicRecords, work: Work) -> Iterable[tuple[bytes]]:
        try:
            return source.run(self.session, work, RESULT_SCHEMA)
        except BaseException:
            self.halt()
            raise

    def run_in_order(self, source: Input, work: Work, *, mergeable: bool = False) -> Iterable[tuple[bytes]]:
        # Each task reads records of a partition in their order.
        return source.run(self.session, work, RESULT_SCHEMA, mergeable=mergeable)

    def run_shares(self, shares: int, work: ShareWork) -> Iterable[tuple[bytes]]:
        return hand_out(self.session, shares, work, RESULT_SCHEMA).collect()

    def find_repeats(self, search: RepeatSearch) -> Iterable[FoundRepeats]:
        return search_with_spark(self.session, search)

    def halt(self) -> None:
        halt(self.session)

    def _piece(self, offsets: int) -> int:
        """Return how many offsets are one job: on a large cluster one of a fixed size would leave most cores idle."""
        return offsets * max(_LEAST_SLOTS, self.tasks or 1)

    def _run_job(self, piece: Input, work: Work, stop: Stop) -> list[Row] | None:
        """Return the rows that work yields over a piece; None if it was cancelled because the run is to stop."""
        return run_job(self.session, partial(piece.run, self.session, work, RESULT_SCHEMA, mergeable=True), stop)


def _infer_work(validation: ValidationContext) -> Work:
    spec = pickle.dumps(describe_validation(validation))

    def work(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield as_result(infer_batches(batches, open_kernel(spec)))

    return work
