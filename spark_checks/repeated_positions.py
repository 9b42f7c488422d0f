"""Positions that came again: where in a run rows have to be compared, and with which earlier runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from cdc_contracts.registry.catalogue import Catalogue
from cdc_contracts.registry.positions import PositionLine, PositionStretch
from cdc_contracts.registry.sequences import NOT_FALLING, ONCE_EACH, RISING
from cdc_contracts.spark_checks.past_runs import PastRun, PastRuns
from cdc_contracts.spark_checks.repeats import Repeats, find_repeats
from cdc_contracts.spark_checks.runs import RunDirectory
from cdc_contracts.spark_checks.sinks import Place
from cdc_contracts.spark_checks.tasks import TaskResult

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_EACH_ITS_OWN: Final = (RISING, ONCE_EACH)
_ORDERED: Final = (RISING, NOT_FALLING)


def look_for_repeats(
    session: SparkSession,
    runs: RunDirectory,
    finished: PastRuns,
    place: Place,
    judged: TaskResult,
    catalogue: Catalogue,
) -> Repeats:
    """Return the rows of a run that repeat others of it, or of the runs of the directory that are finished.

    Nothing is read where positions show that none can. Earlier runs are looked at where the contract promises that
    positions never fall: elsewhere a position of theirs may come again by right at any time.
    """
    lines = judged.positions.whole()
    promises = {line.subject: _promise(catalogue, line.subject) for line in lines}
    alone = [subject for subject, promise in promises.items() if promise in _EACH_ITS_OWN]
    again = {line for line, stretch in lines.items() if stretch.comes_again(each_its_own=line.subject in alone)}
    earlier: list[PastRun] = []
    for past in finished:
        touched = set(_touched(past, lines, promises)) if past.run != place.run else set()
        if touched:
            again |= touched
            earlier.append(past)
    if not again:
        return Repeats()
    own = [part.path for part in judged.parts if part.table == "changes"]
    found = find_repeats(session, place, own, list(_changes_of(runs, earlier)), again, alone)
    return replace(found, earlier=tuple(past.run for past in earlier))


def _touched(
    past: PastRun, lines: dict[PositionLine, PositionStretch], promises: dict[str, str | None]
) -> Iterator[PositionLine]:
    """Yield the lines that an earlier run has read before, up to positions that come again."""
    for line, stretch in lines.items():
        before = past.positions.get(line)
        if before is None or promises[line.subject] not in _ORDERED or before.end >= stretch.start:
            continue
        shared = promises[line.subject] == RISING and before.most == stretch.least
        if before.least <= stretch.most and (before.most > stretch.least or shared):
            yield line


def _promise(catalogue: Catalogue, subject: str) -> str | None:
    place = catalogue.versions(subject)[-1].meaning.envelope.position
    return None if place is None else place.rises


def _changes_of(runs: RunDirectory, past: Sequence[PastRun]) -> Iterator[str]:
    for one in past:
        record = runs.find(one.run) or {"files": ()}
        yield from (part["path"] for part in record["files"] if part["table"] == "changes")
