"""Positions that came again: where in a run rows have to be compared, and with which earlier runs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from cdc_contracts.registry.catalogue import Catalogue
from cdc_contracts.registry.positions import PositionLine, PositionStretch
from cdc_contracts.registry.sequences import NOT_FALLING, ONCE_EACH, RISING
from cdc_contracts.spark_checks.past_runs import PastRun, PastRuns
from cdc_contracts.spark_checks.repeats import Repeats, find_repeats
from cdc_contracts.spark_checks.run_records import files_of
from cdc_contracts.spark_checks.runs import RunDirectory
from cdc_contracts.spark_checks.sinks import Place
from cdc_contracts.spark_checks.tasks import TaskResult

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_EACH_ITS_OWN: Final = (RISING, ONCE_EACH)
_ORDERED: Final = (RISING, NOT_FALLING)
_LOOK_BACK: Final = 100_000
"""So many offsets back a stream compares rows where no contract promises an order: else each batch would read all."""

_Before = Mapping[PositionLine, Sequence[tuple[PastRun, PositionStretch]]]


def look_for_repeats(
    session: SparkSession,
    runs: RunDirectory,
    finished: PastRuns,
    place: Place,
    judged: TaskResult,
    catalogue: Catalogue,
    *,
    query: str | None,
) -> Repeats:
    """Return the rows of a run that repeat others of it, or of the runs of the directory that are finished.

    Nothing is read where positions show that none can. Earlier runs are looked at where the contract promises that
    positions never fall: elsewhere a position of theirs may come again by right at any time. The batches of a stream,
    `query`, are looked at as the parts of one run.
    """
    lines = judged.positions.whole()
    promises = {line.subject: _promise(catalogue, line.subject) for line in lines}
    compared = plan_comparison(lines, (one for one in finished if one.run != place.run), promises, query)
    if not compared.lines:
        return Repeats()
    own = [part.path for part in judged.parts if part.table == "changes"]
    earlier = list(_changes_of(runs, finished, compared.earlier))
    alone = [subject for subject, promise in promises.items() if promise in _EACH_ITS_OWN]
    found = find_repeats(session, place, own, earlier, compared.lines, alone, compared.skipped)
    return replace(found, earlier=compared.earlier)


@dataclass(frozen=True)
class Comparison:
    """Lines whose rows have to be compared, with the rows of which earlier runs.

    `skipped` says where rows of other positions lie between them that need not be read.
    """

    lines: AbstractSet[PositionLine]
    earlier: tuple[str, ...]
    skipped: Sequence[tuple[PositionLine, int]]


def plan_comparison(
    lines: Mapping[PositionLine, PositionStretch],
    past: Iterable[PastRun],
    promises: Mapping[str, str | None],
    query: str | None,
) -> Comparison:
    """Return what has to be compared that no repeat is missed; `promises` tell by subject how positions go on."""
    again, earlier, skipped = set[PositionLine](), set[str](), list[tuple[PositionLine, int]]()
    before = _before(past, lines, promises, query)
    for line, stretch in lines.items():
        each_its_own = promises[line.subject] in _EACH_ITS_OWN
        if stretch.comes_again(each_its_own=each_its_own):
            again.add(line)
        if _comes_again(stretch, before.get(line, ()), each_its_own=each_its_own):
            again.add(line)
            earlier |= {one.run for one, told in before[line] if told.shares(stretch)}
            skipped += [(line, offset) for offset in _left_out(stretch, before[line])]
    return Comparison(again, tuple(sorted(earlier)), skipped)


def _before(
    past: Iterable[PastRun],
    lines: Mapping[PositionLine, PositionStretch],
    promises: Mapping[str, str | None],
    query: str | None,
) -> _Before:
    """Return by line what came before in runs that are to be looked at, by offset."""
    found: dict[PositionLine, list[tuple[PastRun, PositionStretch]]] = defaultdict(list)
    for one in past:
        for line in lines.keys() & one.positions.keys():
            back = lines[line].start - one.positions[line].end
            near = query is not None and one.query == query and back <= _LOOK_BACK
            if back > 0 and (near or promises[line.subject] in _ORDERED):
                found[line].append((one, one.positions[line]))
    return {line: sorted(before, key=lambda told: told[1].end) for line, before in found.items()}


def _comes_again(
    stretch: PositionStretch, before: Sequence[tuple[PastRun, PositionStretch]], *, each_its_own: bool
) -> bool:
    """Say whether a position of a stretch may have come before, and not as the one that a transaction goes on at."""
    stretches = [*(told for _, told in before), stretch]
    if not any(told.shares(stretch) for _, told in before):
        return False
    fell = any(one.fell for one in stretches) or any(after.least < one.most for one, after in pairwise(stretches))
    return fell or each_its_own


def _left_out(stretch: PositionStretch, before: Sequence[tuple[PastRun, PositionStretch]]) -> Iterator[int]:
    """Yield where rows of runs stand that are not read, once between those of two that are."""
    read = True
    for _, told in before:
        if read and not told.shares(stretch):
            yield told.start
        read = told.shares(stretch)


def _promise(catalogue: Catalogue, subject: str) -> str | None:
    place = catalogue.versions(subject)[-1].meaning.envelope.position
    return None if place is None else place.rises


def _changes_of(runs: RunDirectory, finished: PastRuns, earlier: Iterable[str]) -> Iterator[str]:
    for run in earlier:
        record = runs.find(run, finished)
        yield from (part["path"] for part in files_of(record or {"files": ()}, "changes"))
