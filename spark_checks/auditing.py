"""Auditing: every record of a range is validated once, and reported."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass

from cdc_contracts.registry.core.detect.detection import Detection
from cdc_contracts.registry.core.report.audit_report import AppliedContract, ReadRange, Span, build_report
from cdc_contracts.registry.core.report.combined_reports import combine_reports, with_detections
from cdc_contracts.registry.core.report.report_model import Report
from cdc_contracts.registry.core.stats.partition_tallies import Source
from cdc_contracts.registry.core.stats.tally import Tally
from cdc_contracts.registry.core.validate.validation_context import Undetected, ValidationContext
from cdc_contracts.spark_checks.detecting import find_input_validation
from cdc_contracts.spark_checks.engines.engines import Engine, Input
from cdc_contracts.spark_checks.engines.stopping import Stop
from cdc_contracts.spark_checks.inputs.range_slices import describe_sample, skipped
from cdc_contracts.spark_checks.inputs.sources import TopicInput, join_topics, windows_of
from cdc_contracts.spark_checks.tasks.spark_tasks import Watch


@dataclass(frozen=True)
class Audited:
    """A finished audit: the tally and its report."""

    tally: Tally
    report: Report


@dataclass(frozen=True)
class _Part:
    """An input, what was asked for, and the context and detection that its messages gave; no context if undetected."""

    source: Input
    asked: ValidationContext | Undetected
    found: ValidationContext | None
    detection: Detection | None


def audit_inputs(
    engine: Engine,
    inputs: Sequence[tuple[Input, ValidationContext | Undetected]],
    *,
    fail_on: str,
    watch: Watch | None = None,
    stop: Stop | None = None,
) -> Report:
    """Validate inputs of different topics, each in its own validation context, and return one report for all.

    Topics of one contract, declared or detected, are validated together: what several have is one finding.
    Raises LedgerError if the counts do not add up.
    """
    stop = stop or Stop()
    groups: dict[Hashable, list[_Part]] = {}
    for number, (source, asked) in enumerate(inputs):
        part = _Part(source, asked, None, None) if stop.reason else _detect(engine, source, asked)
        groups.setdefault(_likeness(part, number), []).append(part)
    return combine_reports([_audit(engine, parts, fail_on, watch, stop).report for parts in groups.values()])


def audit_input(engine: Engine, source: Input, validation: ValidationContext | Undetected, *, fail_on: str) -> Audited:
    """Validate every record of the input, read once, and return the report.

    If the contract has to be detected, a small sample is read first; if it cannot be detected, nothing is validated.
    Raises LedgerError if the counts do not add up.
    """
    return _audit(engine, [_detect(engine, source, validation)], fail_on, None, Stop())


def _detect(engine: Engine, source: Input, asked: ValidationContext | Undetected) -> _Part:
    """Return an input with the context that was asked for, or that a sample of its messages gives."""
    return _Part(source, asked, *find_input_validation(engine, source, asked))


def _likeness(part: _Part, number: int) -> Hashable:
    """Return what parts have in common that are validated together; ranges and what is undetected are of one part."""
    found = part.found
    if found is None or found.ranges is not None or not isinstance(part.source, TopicInput):
        return number
    return found.declared, found.detected


def _audit(engine: Engine, parts: Sequence[_Part], fail_on: str, watch: Watch | None, stop: Stop) -> Audited:
    """Validate parts that are validated together, and return their report."""
    first, tally, stopped = parts[0], Tally(), stop.reason if parts[0].found is None else None
    spans: dict[Source, Span] = {}
    joined = [*_joined(parts)]
    for source, found in joined:
        one, reason = engine.audit(source, found, watch, stop)
        tally.merge(one)
        stopped = stopped or reason
        spans |= _spans_read(source, one, stopped=reason is not None)
    if len(joined) > 1:  # slices of inputs that are read apart may be at the same parts, so that they are no more proof
        for counts in tally.partitions.values():
            counts.slices = {}
    source, asked = join_topics([part.source for part in parts]), first.asked
    report = build_report(
        tally,
        AppliedContract(
            asked.catalogue,
            asked.declared,
            first.detection,
            first.found,
        ),
        ReadRange(
            source.describe(tally, spans),
            spans,
            wanted=source.spans,
            sample=describe_sample(source.sample) if source.sample is not None else None,
            stopped=stopped,
        ),
        fail_on=fail_on,
        show_values=asked.reading_options.show_values,
        profiled=asked.reading_options.profiled,
    )
    if len(parts) > 1:
        detected = {
            place.topic: part.detection.report() for part in parts if part.detection for place in part.source.spans
        }
        report = with_detections(report, detected)
    return Audited(tally, report)


def _joined(parts: Sequence[_Part]) -> Iterator[tuple[Input, ValidationContext]]:
    """Yield the inputs to read, those with the same context as one, so that many small topics are one job."""
    by_table: dict[str | None, tuple[ValidationContext, list[Input]]] = {}
    for part in parts:
        if part.found is not None:
            by_table.setdefault(part.found.reading_options.table, (part.found, []))[1].append(part.source)
    for found, sources in by_table.values():
        yield join_topics(sources), found


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
