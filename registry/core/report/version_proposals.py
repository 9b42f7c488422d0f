"""Version proposals: the versions file that the messages of a report support, with a reason for every open part.

Only a proof places a version. Records between the last message proven old and the first proven new are left open. So
is the beginning or the end of a partition that may lie on the other side of a switch (`stats/proven_ranges.py`).
Ranges state the options of the producer that hold in all of them (`option_proposals.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from msgspec import UNSET

from cdc_contracts.registry.core.contract.catalogue import Catalogue
from cdc_contracts.registry.core.contract.table_contract_files import write_scalar
from cdc_contracts.registry.core.report.option_proposals import OptionProposals
from cdc_contracts.registry.core.report.report_model import PartitionTimeline, Report, ReportedRun
from cdc_contracts.registry.core.stats.proven_ranges import (
    Direction,
    KnownRange,
    ProvenRun,
    find_direction,
    place_ranges,
)

_HEAD: Final = """\
# The version of the contract that each part of a topic follows: --versions FILE of check, audit, decode and replay.
# A range applies from its `from` up to, but not including, its `to`: offsets, or times such as 2024-05-01T00:00:00Z.
# `options` are those that the producer wrote it with; what none states is written as it was sent.
# What no range covers belongs to no version: it stays in quarantine until a range covers it, and then
# `cdc-contracts replay quarantine DIR --versions FILE` decodes it.
"""


def propose_versions(report: Report, catalogue: Catalogue, parameters: Mapping[str, str] | None = None) -> str:
    """Return a versions file as YAML; the same report gives the same text.

    `parameters` are the options of the producer that were stated for the run.
    """
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
        direction = _direction(list(found.values()), catalogue)
        for partition, runs in found.items():
            cut = (topic, partition) in result and result[topic, partition].cut
            options = OptionProposals(report, topic, partition, parameters or {})
            lines += _partition(partition, runs, direction, options, cut=cut)
    return "".join(lines)


def _proven(line: PartitionTimeline | None) -> list[ReportedRun]:
    """Return the runs of a partition that name a version."""
    return [run for run in (line.runs if line is not None else ()) if "@" in run.contract]


def _direction(partitions: Sequence[Sequence[ReportedRun]], catalogue: Catalogue) -> Direction | None:
    """Return the first and the last version in use in a topic; None if its versions go to and fro."""
    runs = [[_run(run) for run in found] for found in partitions]
    subjects = {run.contract.partition("@")[0] for found in runs for run in found}
    if len(subjects) != 1:
        return None
    return find_direction(runs, [version.reference for version in catalogue.versions(subjects.pop())])


def _run(run: ReportedRun) -> ProvenRun:
    """Return a run as far as its version is certain."""
    first, last = run.certain_from, run.certain_to
    return ProvenRun(
        run.contract,
        run.first_offset if first is UNSET else first,
        run.last_offset if last is UNSET else last,
    )


def _partition(
    partition: int, runs: Sequence[ReportedRun], direction: Direction | None, options: OptionProposals, *, cut: bool
) -> Iterator[str]:
    """Yield the lines of a partition: its ranges, and before, between and after them what is left open, and why."""
    if not runs:
        yield f"    {partition}: []  # left open: no message proves a version\n"
        return
    yield f"    {partition}:\n"
    by_place = {_run(run): run for run in runs}
    placed = list(place_ranges(list(by_place), direction))
    for number, one in enumerate(placed):
        if isinstance(one, KnownRange):
            end = one.run.last + 1 if cut and one is placed[-1] else one.end
            yield from _range(one.start, end, by_place[one.run], options)
        elif one.start is None:
            yield _open(
                f"offsets up to {(one.end or 0) - 1}", "they may precede a switch, and no message proves their version"
            )
        elif one.end is not None:
            around = [
                by_place[known.run]
                for known in (placed[number - 1], placed[number + 1])
                if isinstance(known, KnownRange)
            ]
            versions = " or ".join(run.contract for run in around)
            proofs = any(one.start <= at < one.end for run in around for at in (run.first_offset, run.last_offset))
            why = f"few row changes there tell {versions}" if proofs else f"no message there proves {versions}"
            yield _open(f"offsets {one.start} to {one.end - 1}", why)
        elif not cut:
            yield _open(f"offsets from {one.start}", "they may follow a switch, and no message proves their version")
    if cut:
        yield _open(f"offsets from {runs[-1].last_offset + 1}", "the report does not keep that many version changes")


def _range(start: int | None, end: int | None, run: ReportedRun, options: OptionProposals) -> Iterator[str]:
    """Yield the lines of a range, one for each part of it in which other options hold."""
    reason = _proof(run)
    for number, part in enumerate(options.parts(start, end)):
        bounds = [f"{word}: {at}" for word, at in (("from", part.start), ("to", part.end)) if at is not None]
        stated = [f"{name}: {write_scalar(value)}" for name, value in part.options.items()]
        members = [*bounds, f"contract: {run.contract}", *([f"options: {{{', '.join(stated)}}}"] if stated else [])]
        open_ = f"{', '.join(part.left_open)} left open: no value there proves it" if part.left_open else ""
        why = "; ".join(filter(None, [reason if number == 0 else "", open_]))
        yield f"      - {{{', '.join(members)}}}" + (f"  # {why}\n" if why else "\n")


def _proof(run: ReportedRun) -> str:
    count = run.records
    proof = f"{count:,} messages prove it" if count > 1 else "1 message proves it"
    place = f"offsets {run.first_offset} to {run.last_offset}" if count > 1 else f"offset {run.first_offset}"
    times = [time for time in (run.first_timestamp, run.last_timestamp) if time is not None]
    when = f" ({' to '.join(dict.fromkeys(times))})" if times else ""
    return f"{proof}: {place}{when}"


def _open(what: str, why: str) -> str:
    return f"      # {what} left open: {why}\n"
