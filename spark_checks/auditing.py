"""Auditing: every record of a range is validated once, and reported."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cdc_contracts.registry.core.detect.topic_samples import ENOUGH, find_validation
from cdc_contracts.registry.core.report.audit_report import AppliedContract, ReadRange, Span, build_report
from cdc_contracts.registry.core.report.combined_reports import combine_reports
from cdc_contracts.registry.core.report.report_model import Report
from cdc_contracts.registry.core.stats.partition_tallies import Source
from cdc_contracts.registry.core.stats.tally import Tally
from cdc_contracts.registry.core.validate.validation_context import Undetected, ValidationContext
from cdc_contracts.spark_checks.engines.engines import Engine, Input
from cdc_contracts.spark_checks.engines.stopping import Stop
from cdc_contracts.spark_checks.inputs.range_slices import describe_sample, skipped
from cdc_contracts.spark_checks.inputs.sources import windows_of
from cdc_contracts.spark_checks.tasks.spark_tasks import Watch


@dataclass(frozen=True)
class Audited:
    """A finished audit: the tally and its report."""

    tally: Tally
    report: Report


def audit_inputs(
    engine: Engine,
    inputs: Sequence[tuple[Input, ValidationContext | Undetected]],
    *,
    fail_on: str,
    watch: Watch | None = None,
    stop: Stop | None = None,
) -> Report:
    """Validate inputs of different topics, each in its own validation context, and return one report for all.

    Raises LedgerError if the counts do not add up.
    """
    return combine_reports(
        [
            audit_input(engine, source, validation, fail_on=fail_on, watch=watch, stop=stop).report
            for source, validation in inputs
        ]
    )


def audit_input(
    engine: Engine,
    source: Input,
    validation: ValidationContext | Undetected,
    *,
    fail_on: str,
    watch: Watch | None = None,
    stop: Stop | None = None,
) -> Audited:
    """Validate every record of the input, read once, and return the report.

    If the contract has to be detected, a small sample is read first; if it cannot be detected, nothing is validated.
    A run that is stopped reports what it has read.
    Raises LedgerError if the counts do not add up.
    """
    stop = stop or Stop()
    found, detection = find_validation(
        validation, lambda: source.peek(engine, ENOUGH), lambda within: source.peek(engine, ENOUGH, within)
    )
    if found is None:
        tally, stopped = Tally(), stop.reason
    else:
        tally, stopped = engine.audit(source, found, watch, stop)
    spans = _spans_read(source, tally, stopped=stopped is not None) if found is not None else {}
    report = build_report(
        tally,
        AppliedContract(
            validation.catalogue, validation.declared, detection, found.ranges if found is not None else None, found
        ),
        ReadRange(
            source.describe(tally, spans),
            spans,
            wanted=source.spans,
            sample=describe_sample(source.sample) if source.sample is not None else None,
            stopped=stopped,
        ),
        fail_on=fail_on,
        show_values=validation.reading_options.show_values,
        profiled=validation.reading_options.profiled,
    )
    return Audited(tally, report)


def _spans_read(source: Input, tally: Tally, *, stopped: bool) -> dict[Source, Span]:
    """Return the span read of each partition; of a stopped run up to the last record it read."""
    windows, spans = windows_of(source), {}
    for place, span in source.spans.items():
        end = span.end
        if stopped:
            counts = tally.partitions.get(place)
            end = span.start if counts is None or counts.last_offset is None else counts.last_offset + 1
        spans[place] = Span(span.start, end, skipped(Span(span.start, end), windows[place]))
    return spans
