"""Version proposals: the versions file that the messages of a report support, with a reason for every open part.

Only a proof places a version. Records between the last message proven old and the first proven new are left open. So
is the beginning or the end of a partition that may lie on the other side of a switch. Versions rise, so only what comes
before a proof of the lowest version of a subject, or after one of its highest, is taken for the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from cdc_contracts.registry.contract.catalogue import Catalogue
from cdc_contracts.registry.contract.table_contract_files import write_scalar
from cdc_contracts.registry.report.report_model import PartitionTimeline, Report, ReportedRun

_HEAD: Final = """\
# The version of the contract that each part of a topic follows: --versions FILE of check, audit, decode and replay.
# A range applies from its `from` up to, but not including, its `to`: offsets, or times such as 2024-05-01T00:00:00Z.
# What no range covers belongs to no version: it stays in quarantine until a range covers it, and then
# `cdc-contracts replay quarantine DIR --versions FILE` decodes it.
"""


def propose_versions(report: Report, catalogue: Catalogue) -> str:
    """Return a versions file as YAML; the same report gives the same text."""
    lines = [_HEAD]
    if report.stopped or (report.coverage and report.coverage.sample):
        lines.append("# Only a part of the messages was read: reading more may narrow the ranges left open.\n")
    lines.append("topics:\n" if report.ledger.partitions else "topics: {}\n")
    result = {(one.topic, one.partition): one for one in report.timeline or ()}
    topics: dict[str, list[int]] = {}
    for one in report.ledger.partitions:
        topics.setdefault(one.topic, []).append(one.partition)
    for topic, partitions in topics.items():
        lines.append(f"  {write_scalar(topic)}:\n")
        found = {partition: _proven(result.get((topic, partition))) for partition in partitions}
        ends = _ends(list(found.values()), catalogue)
        for partition, runs in found.items():
            cut = (topic, partition) in result and result[topic, partition].cut
            lines += _partition(partition, runs, ends, cut=cut)
    return "".join(lines)


def _proven(line: PartitionTimeline | None) -> list[ReportedRun]:
    """Return the runs of a partition that name a version."""
    return [run for run in (line.runs if line is not None else ()) if "@" in run.contract]


def _ends(partitions: Sequence[Sequence[ReportedRun]], catalogue: Catalogue) -> tuple[str | None, str | None]:
    """Return the lowest and the highest version in use in a topic; None if its versions do not only rise."""
    result = [[_order(run.contract) for run in runs] for runs in partitions if runs]
    subjects = {subject for runs in result for subject, _ in runs}
    if len(subjects) != 1 or any(before >= after for runs in result for before, after in pairwise(runs)):
        return None, None
    versions = catalogue.versions(subjects.pop())
    return versions[0].reference, versions[-1].reference


def _order(reference: str) -> tuple[str, int]:
    subject, _, number = reference.partition("@")
    return subject, int(number)


def _partition(
    partition: int, runs: Sequence[ReportedRun], ends: tuple[str | None, str | None], *, cut: bool
) -> Iterator[str]:
    """Yield the lines of a partition: its ranges, and before, between and after them what is left open, and why."""
    if not runs:
        yield f"    {partition}: []  # left open: no message proves a version\n"
        return
    yield f"    {partition}:\n"
    lowest, highest = ends
    first, last = runs[0], runs[-1]
    if first.contract != lowest and first.first_offset:
        yield _open(
            f"offsets up to {first.first_offset - 1}", "they may precede a switch, and no message proves their version"
        )
    before: ReportedRun | None = None
    for run in runs:
        if before is not None and before.last_offset + 1 < run.first_offset:
            yield _open(
                f"offsets {before.last_offset + 1} to {run.first_offset - 1}",
                f"no message there proves {before.contract} or {run.contract}",
            )
        start = None if run is first and run.contract == lowest else run.first_offset
        end = None if run is last and run.contract == highest and not cut else run.last_offset + 1
        yield _range(start, end, run)
        before = run
    if cut:
        yield _open(f"offsets from {last.last_offset + 1}", "the report does not keep that many version changes")
    elif last.contract != highest:
        yield _open(
            f"offsets from {last.last_offset + 1}", "they may follow a switch, and no message proves their version"
        )


def _range(start: int | None, end: int | None, run: ReportedRun) -> str:
    bounds = [f"{word}: {at}" for word, at in (("from", start), ("to", end)) if at is not None]
    members = ", ".join([*bounds, f"contract: {run.contract}"])
    count = run.records
    proof = f"{count:,} messages prove it" if count > 1 else "1 message proves it"
    place = f"offsets {run.first_offset} to {run.last_offset}" if count > 1 else f"offset {run.first_offset}"
    times = [time for time in (run.first_timestamp, run.last_timestamp) if time is not None]
    when = f" ({' to '.join(dict.fromkeys(times))})" if times else ""
    return f"      - {{{members}}}  # {proof}: {place}{when}\n"


def _open(what: str, why: str) -> str:
    return f"      # {what} left open: {why}\n"
