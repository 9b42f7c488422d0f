"""Contradicted batches: what a stream has published before evidence turned against the version it was read by."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from msgspec import UNSET
from msgspec.structs import replace

from cdc_contracts.registry.core.report.audit_report import Span
from cdc_contracts.registry.core.report.contradicted_runs import ContradictedRange, ContradictedRun, ContradictedRuns
from cdc_contracts.registry.core.report.report_model import Report
from cdc_contracts.registry.core.stats.partition_tallies import Source
from cdc_contracts.registry.core.stats.run_evidence import DoubtedRange
from cdc_contracts.spark_checks.runs.finished_runs import PastRun


class RangeToReread(NamedTuple):
    """What is to be read again of a topic, by partition from one offset up to another.

    `contract` is the version that all of it is proven to be of, None if that has to be found out from everything that
    was read, `known`.
    """

    topic: str
    offsets: Mapping[int, tuple[int, int]]
    known: Mapping[int, tuple[int, int]]
    contract: str | None


Reread = Callable[[Sequence[RangeToReread]], Sequence[str]]
"""Returns the commands that read ranges again and replace the runs that read them."""


def with_contradicted(
    report: Report,
    read: Mapping[Source, Span],
    withheld: int | None,
    *,
    published: Callable[[], Mapping[int, PastRun]],
    reread: Reread,
) -> Report:
    """Return the report of a stream with the published batches that its evidence is about; as it is without any.

    `read` is everything that the report is about, `withheld` the batch that was not published, if any; `published`
    returns the published batches of the stream by number.
    All batches from the first of them on are read again: the evidence is spread over them, and a run is replaced whole.
    """
    evidence = report.evidence
    doubts = [one.doubted for one in (evidence.objections if evidence else ()) if one.doubted is not UNSET]
    batches = sorted(published().items()) if doubts else []
    found = {number: run for number, run in batches if any(_holds(run, doubt) for doubt in doubts)}
    if not found and withheld is None:
        return report
    commands = reread(_ranges(report, next(iter(found.values())), read, doubts)) if found else ()
    named = tuple(ContradictedRun(run.run, number, tuple(_written(run.spans))) for number, run in found.items())
    return replace(report, contradicted=ContradictedRuns(withheld, named, tuple(commands)))


def _holds(run: PastRun, doubt: DoubtedRange) -> bool:
    """Return whether a run holds some of the records that evidence is about."""
    span = run.spans.get(Source(doubt.topic, doubt.partition))
    return (
        span is not None
        and max(span.start, doubt.start) < span.end
        and (doubt.end is None or max(span.start, doubt.start) < doubt.end)
    )


def _ranges(
    report: Report, first: PastRun, read: Mapping[Source, Span], doubts: Iterable[DoubtedRange]
) -> list[RangeToReread]:
    """Return what was read from a run on, by topic."""
    known: dict[str, dict[int, tuple[int, int]]] = {}
    offsets: dict[str, dict[int, tuple[int, int]]] = {}
    for (topic, partition), span in sorted(read.items()):
        begun = first.spans.get(Source(topic, partition), span)
        for found, start in ((known, span.start), (offsets, begun.start)):
            if start < span.end:
                found.setdefault(topic, {})[partition] = start, span.end
    of_topic = {topic: [doubt for doubt in doubts if doubt.topic == topic] for topic in offsets}
    return [
        RangeToReread(topic, found, known[topic], _version_of(report, topic, found, of_topic[topic]))
        for topic, found in offsets.items()
    ]


def _version_of(
    report: Report, topic: str, offsets: Mapping[int, tuple[int, int]], doubts: Sequence[DoubtedRange]
) -> str | None:
    """Return the version that all ranges of a topic are proven to be of, None if evidence names several or none."""
    versions = {doubt.contract for doubt in doubts if doubt.proven}
    partial = any(
        doubt.end is not None or doubt.start > offsets[doubt.partition][0]
        for doubt in doubts
        if doubt.partition in offsets
    )
    if len(versions) != 1 or partial or not all(doubt.proven for doubt in doubts):
        return None
    seen = {
        run.contract
        for line in report.timeline or ()
        if line.topic == topic and line.partition in offsets
        for run in line.runs
        if run.last_offset >= offsets[line.partition][0]
    }
    return versions.pop() if seen <= versions else None


def _written(spans: Mapping[Source, Span]) -> Iterable[ContradictedRange]:
    return (ContradictedRange(*source, span.start, span.end) for source, span in sorted(spans.items()))
