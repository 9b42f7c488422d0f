"""Message checks in this process: findings as they occur, and the report of an audit at the end."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Protocol, TypeVar

from cdc_contracts.registry.core.common.findings import INFO, Finding
from cdc_contracts.registry.core.common.safe_text import visible
from cdc_contracts.registry.core.records.file_plans import FilePlan
from cdc_contracts.registry.core.report.audit_report import AppliedContract, ReadRange, Span, build_report
from cdc_contracts.registry.core.report.report_model import Report, ReportSource
from cdc_contracts.registry.core.stats.partition_tallies import Source
from cdc_contracts.registry.core.stats.stream_statistics import STREAM_CLASSES
from cdc_contracts.registry.core.stats.tally import Tally
from cdc_contracts.registry.core.validate.validation_context import ValidationContext

if TYPE_CHECKING:
    from cdc_contracts.registry.core.detect.detection import Detection

_Batch = TypeVar("_Batch")
_Records_contra = TypeVar("_Records_contra", contravariant=True)


class Checker(Protocol[_Records_contra]):
    """Validates batches of records in the order of their offsets: Arrow batches, or plain records without Arrow."""

    validation: ValidationContext

    def check(self, records: _Records_contra) -> Iterable[tuple[Source, int, Sequence[Finding]]]:
        """Return the records that have findings, with partition and offset, in order of their offsets."""

    def finish(self) -> Tally:
        """Return the tally of all records; nothing is checked afterwards."""


def check_batches(
    batches: Iterable[_Batch],
    checker: Checker[_Batch],
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
    validation = checker.validation
    lines = plan.line_partitions if plan is not None else None

    def where(source: Source, offset: int) -> str:
        of_a_line = lines is None or source in lines
        return f"{source.topic}:{offset + 1}" if of_a_line else f"{source.topic}/{source.partition}@{offset}"

    for batch in batches:
        for source, offset, findings in checker.check(batch):
            for finding in findings:
                if print_line is not None:
                    print_line(_line(where(source, offset), finding))
    tally = checker.finish()
    spans = {source: Span(*window) for source, window in plan.limits.items()} if plan is not None else {}
    blank = sum(
        spans[source].end - spans[source].start - (tally.partitions[source].read if source in tally.partitions else 0)
        for source in lines or ()
    )
    report = build_report(
        tally,
        AppliedContract(validation.catalogue, validation.declared, detection, validation),
        ReadRange(ReportSource(kind="file", paths=tuple(paths), blank_lines=blank), spans),
        fail_on=fail_on,
        show_values=validation.reading_options.show_values,
    )
    validated = [version.reference for version in validation.validated]
    chained = any(stretch.proven for _, stretch in tally.contradicting_stretches(*validated))
    of_stream = {*STREAM_CLASSES, *(("other-version",) if chained else ())}
    for found_in_all in report.findings if print_line else ():
        if found_in_all.name in of_stream and found_in_all.severity != INFO and print_line is not None:
            first = found_in_all.first
            at = where(Source(first.topic, first.partition), first.offset)
            observed = (
                f"{', '.join(found_in_all.observed)} ({found_in_all.count:,} of {found_in_all.denominator:,} messages)"
            )
            head = f"{at} {found_in_all.severity} {found_in_all.name} {found_in_all.path or '(message)'}"
            print_line(visible(f"{head} expected {found_in_all.expected}, observed {observed}", most=None))
    return report


def _line(where: str, finding: Finding) -> str:
    path = finding.path or "(message)"
    observed = f", observed {finding.observed}" if finding.observed else ""
    return visible(f"{where} {finding.severity} {finding.name} {path} expected {finding.expected}{observed}", most=None)
