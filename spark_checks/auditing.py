"""Auditing: every record of a range validated once, and the report of it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

from cdc_contracts.registry.detect.topic_samples import ENOUGH, find_validation
from cdc_contracts.registry.engine.kernel import Kernel, paced
from cdc_contracts.registry.report.audit_report import Span, build_report
from cdc_contracts.registry.report.combined_reports import combine_reports
from cdc_contracts.registry.report.report_model import Report, StopReason
from cdc_contracts.registry.stats.partition_tallies import Source
from cdc_contracts.registry.stats.tally import Tally
from cdc_contracts.registry.validate.validation_context import Undetected, ValidationContext
from cdc_contracts.spark_checks.range_slices import describe_sample, skipped
from cdc_contracts.spark_checks.sources import Input, windows_of
from cdc_contracts.spark_checks.spark_tasks import (
    RESULT_SCHEMA,
    Watch,
    audit_work,
    describe_validation,
    merge_tallies,
    read_results,
)
from cdc_contracts.spark_checks.stopping import Stop, run_job

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_STEP_SECONDS: Final = 0.25
_LEAST_STEP: Final = 256
PIECE_OFFSETS: Final = 2_000_000
LIMITED_OFFSETS: Final = 200_000
"""So many offsets are one job of Spark; fewer where the time is limited, because a job is kept whole or not at all."""


@dataclass(frozen=True)
class Audited:
    """A finished audit: the tally and its report."""

    tally: Tally
    report: Report


def audit_inputs(
    session: SparkSession | None,
    inputs: Sequence[tuple[Input, ValidationContext | Undetected]],
    *,
    fail_on: str,
    watch: Watch | None = None,
    stop: Stop | None = None,
) -> Report:
    """Validate inputs of different topics, each in its own validation context, and return one report of all.

    Raises LedgerError where the counts do not add up.
    """
    return combine_reports(
        [
            audit_input(session, source, validation, fail_on=fail_on, watch=watch, stop=stop).report
            for source, validation in inputs
        ]
    )


def audit_input(
    session: SparkSession | None,
    source: Input,
    validation: ValidationContext | Undetected,
    *,
    fail_on: str,
    watch: Watch | None = None,
    stop: Stop | None = None,
) -> Audited:
    """Validate every record of the input, read once, and return the report; without a session in this process.

    Where the contract has to be detected, a small sample is read first. Where it cannot be detected, nothing is
    validated. A run that is to stop reports what it has read.
    Raises LedgerError where the counts do not add up.
    """
    stop = stop or Stop()
    found, detection = find_validation(validation, lambda: source.peek(session, ENOUGH))
    if found is None:
        tally, stopped = Tally(), stop.reason
    elif session is None:
        tally, stopped = _audit_here(source, found, watch, stop)
    else:
        tally, stopped = _audit_in_tasks(session, source, found, watch, stop)
    spans = _spans_read(source, tally, stopped=stopped is not None) if found is not None else {}
    report = build_report(
        tally,
        catalogue=validation.catalogue,
        contract=validation.declared,
        source=source.describe(tally, spans),
        spans=spans,
        fail_on=fail_on,
        detection=detection,
        sample=describe_sample(source.sample) if source.sample is not None else None,
        stopped=stopped,
        wanted=source.spans,
        show_values=validation.reading_options.show_values,
        versions=found.ranges if found is not None else None,
    )
    return Audited(tally, report)


def _audit_in_tasks(
    session: SparkSession, source: Input, validation: ValidationContext, watch: Watch | None, stop: Stop
) -> tuple[Tally, StopReason | None]:
    """Validate the input piece by piece, each a job: results of finished jobs are kept when a run is to stop."""
    work, total = audit_work(describe_validation(validation), watch), Tally()
    for piece in source.pieces(LIMITED_OFFSETS if stop.limited else PIECE_OFFSETS):
        rows = None if stop.reason else run_job(session, partial(piece.run, session, work, RESULT_SCHEMA), stop)
        if rows is None:
            return total, stop.reason
        total.merge(merge_tallies(read_results(rows)))
    return total, None


def _audit_here(
    source: Input, validation: ValidationContext, watch: Watch | None, stop: Stop
) -> tuple[Tally, StopReason | None]:
    """Validate the input in this process, in steps short enough that a run can stop between them."""
    kernel, total, step = Kernel(validation), Tally(), _LEAST_STEP
    for records in paced(source.batches()):
        done = 0
        while stop.reason is None and done < records.num_rows:
            part, began = records.slice(done, step), time.monotonic()
            tally = stop.attempt(partial(kernel.audit, part))
            if tally is None:
                return total, stop.reason
            if watch is not None:
                watch.add(tally)
            total.merge(tally)
            done += part.num_rows
            step = max(_LEAST_STEP, int(part.num_rows * _STEP_SECONDS / max(time.monotonic() - began, 1e-6)))
        if done < records.num_rows or stop.reason is not None:
            return total, stop.reason
    return total, None


def _spans_read(source: Input, tally: Tally, *, stopped: bool) -> dict[Source, Span]:
    """Return what was read of each partition: its span, or as far as a run came that was stopped."""
    windows, spans = windows_of(source), {}
    for place, span in source.spans.items():
        end = span.end
        if stopped:
            counts = tally.partitions.get(place)
            end = span.start if counts is None or counts.last_offset is None else counts.last_offset + 1
        spans[place] = Span(span.start, end, skipped(Span(span.start, end), windows[place]))
    return spans
