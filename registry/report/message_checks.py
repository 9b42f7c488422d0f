"""Message checks in this process: findings as they occur, and the report of an audit at the end."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import pyarrow as pa

from cdc_contracts.registry.common.findings import INFO, Finding
from cdc_contracts.registry.common.safe_text import visible
from cdc_contracts.registry.detect.detection import Detection
from cdc_contracts.registry.engine.kernel import Kernel
from cdc_contracts.registry.engine.observed_shapes import findings_by_record
from cdc_contracts.registry.engine.tallying import count
from cdc_contracts.registry.records.file_plans import FilePlan
from cdc_contracts.registry.report.audit_report import Span, build_report
from cdc_contracts.registry.report.report_model import Report, ReportSource
from cdc_contracts.registry.stats.partition_tallies import Source
from cdc_contracts.registry.stats.stream_statistics import STREAM_CLASSES
from cdc_contracts.registry.stats.tally import Tally
from cdc_contracts.registry.validate.validation_context import ValidationContext


def check_batches(
    batches: Iterable[pa.RecordBatch],
    validation: ValidationContext,
    *,
    plan: FilePlan | None,
    paths: Sequence[str],
    fail_on: str,
    print_line: Callable[[str], None] | None,
    detection: Detection | None = None,
) -> Report:
    """Validate every record and return the report; `print_line` gets a line for each finding of each message.

    A line is `FILE:LINE severity class path expected observed`, lines counted from 1; where records have coordinates of
    their own it is `TOPIC/PARTITION@OFFSET` instead. What only the messages together show comes last, each once, at
    the first message that has it.
    """
    kernel, tally = Kernel(validation), Tally()
    lines = plan.line_partitions if plan is not None else None

    def where(source: Source, offset: int) -> str:
        of_a_line = lines is None or source in lines
        return f"{source.topic}:{offset + 1}" if of_a_line else f"{source.topic}/{source.partition}@{offset}"

    for records in batches:
        for batch, batch_result in kernel.batch_results(records):
            tally.merge(
                count(batch_result, batch, show_values=validation.reading_options.show_values, placings=kernel.placings)
            )
            for number, findings in findings_by_record(batch_result) if print_line else ():
                source = Source(*batch.sources[int(batch.source_of[number])])
                offset = int(batch.offsets[number])
                for finding in findings:
                    if print_line is not None:
                        print_line(_line(where(source, offset), finding))
    spans = {source: Span(*window) for source, window in plan.limits.items()} if plan is not None else {}
    blank = sum(
        spans[source].end - spans[source].start - (tally.partitions[source].read if source in tally.partitions else 0)
        for source in lines or ()
    )
    report = build_report(
        tally,
        catalogue=validation.catalogue,
        contract=validation.declared,
        detection=detection,
        source=ReportSource(kind="file", paths=tuple(paths), blank_lines=blank),
        spans=spans,
        fail_on=fail_on,
        show_values=validation.reading_options.show_values,
        versions=validation.ranges,
    )
    judged = [version.reference for version in validation.judged]
    chained = any(stretch.proven for _, stretch in tally.contradicting_stretches(*judged))
    of_stream = {*STREAM_CLASSES, *(("other-version",) if chained else ())}
    for found in report.findings if print_line else ():
        if found.name in of_stream and found.severity != INFO and print_line is not None:
            first = found.first
            at = where(Source(first.topic, first.partition), first.offset)
            observed = f"{', '.join(found.observed)} ({found.count:,} of {found.denominator:,} messages)"
            head = f"{at} {found.severity} {found.name} {found.path or '(message)'}"
            print_line(visible(f"{head} expected {found.expected}, observed {observed}", most=None))
    return report


def _line(where: str, finding: Finding) -> str:
    path = finding.path or "(message)"
    result = (
        f"{where} {finding.severity} {finding.name} {path} expected {finding.expected}, observed {finding.observed}"
    )
    return visible(result, most=None)
