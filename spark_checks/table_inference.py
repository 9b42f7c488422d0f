"""Table inference over a topic or files: what the columns of their tables were seen to hold."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING

import pyarrow as pa

from cdc_contracts.registry.common.errors import UndetectedError
from cdc_contracts.registry.detect.topic_samples import ENOUGH, find_validation
from cdc_contracts.registry.engine.kernel import Kernel, paced
from cdc_contracts.registry.tables.inference.column_evidence import InferenceEvidence
from cdc_contracts.registry.tables.inference.record_evidence import witness
from cdc_contracts.registry.validate.validation_context import Undetected, ValidationContext
from cdc_contracts.spark_checks.auditing import PIECE_OFFSETS
from cdc_contracts.spark_checks.sources import Input
from cdc_contracts.spark_checks.spark_tasks import (
    RESULT_SCHEMA,
    Work,
    as_result,
    describe_validation,
    open_kernel,
    read_results,
)
from cdc_contracts.spark_checks.stopping import Stop, run_job

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def infer_input(
    session: SparkSession | None, source: Input, validation: ValidationContext | Undetected, stop: Stop
) -> InferenceEvidence:
    """Return what the rows of an input show of their tables; without a session the work is done in this process.

    A run that is to stop returns what it has seen. Raises UndetectedError where no contract can be detected.
    """
    found, _ = find_validation(validation, lambda: source.peek(session, ENOUGH))
    if found is None:
        raise UndetectedError(
            "the contract of the messages cannot be detected",
            hint="name it with --contract; `detect` shows the evidence",
        )
    return _infer_here(source, found, stop) if session is None else _infer_in_tasks(session, source, found, stop)


def _infer_here(source: Input, validation: ValidationContext, stop: Stop) -> InferenceEvidence:
    kernel, total = Kernel(validation), InferenceEvidence()
    for records in paced(source.batches()):
        if stop.reason is not None:
            break
        total.merge(witness(kernel, records))
    return total


def _infer_in_tasks(
    session: SparkSession, source: Input, validation: ValidationContext, stop: Stop
) -> InferenceEvidence:
    work, total = _work(validation), InferenceEvidence()
    for piece in source.pieces(PIECE_OFFSETS):
        rows = None if stop.reason else run_job(session, partial(piece.run, session, work, RESULT_SCHEMA), stop)
        for evidence in () if rows is None else read_results(rows):
            total.merge(evidence)
    return total


def _work(validation: ValidationContext) -> Work:
    spec = pickle.dumps(describe_validation(validation))

    def work(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        kernel, total = open_kernel(spec), InferenceEvidence()
        for records in paced(batches):
            total.merge(witness(kernel, records))
        yield as_result(total)

    return work
