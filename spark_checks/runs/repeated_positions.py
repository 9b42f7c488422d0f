"""Repeated positions: where in a run rows have to be compared, and with which earlier runs."""

from __future__ import annotations

from bisect import bisect
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

from cdc_contracts.registry.contract.catalogue import Catalogue
from cdc_contracts.registry.stats.position_sequences import NOT_FALLING, ONCE_EACH, RISING
from cdc_contracts.registry.stats.positions import PositionLine, PositionStretch
from cdc_contracts.spark_checks.engines import Engine
from cdc_contracts.spark_checks.file_sinks import SinkPlace
from cdc_contracts.spark_checks.repeat_search import RepeatSearch
from cdc_contracts.spark_checks.runs.finished_runs import PastRun, PastRuns
from cdc_contracts.spark_checks.runs.repeats import Repeats, find_repeats
from cdc_contracts.spark_checks.runs.run_directory import RunDirectory
from cdc_contracts.spark_checks.spark_tasks import TaskResult

_EACH_ITS_OWN: Final = (RISING, ONCE_EACH)
_ORDERED: Final = (RISING, NOT_FALLING)
_LOOK_BACK: Final = 100_000
"""So many offsets back a stream compares rows where no contract promises an order: else each batch would read all."""


def look_for_repeats(
    engine: Engine,
    runs: RunDirectory,
    finished: PastRuns,
    place: SinkPlace,
    judged: TaskResult,
    catalogue: Catalogue,
    *,
    query: str | None,
) -> Repeats:
    """Return the rows of a run that repeat others of it, or of the runs of the directory that are finished.

    Nothing is read where positions show that none can. Earlier runs are looked at where the contract promises that
    positions never fall: elsewhere a position of theirs may rightly come again at any time. The batches of a stream,
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
    found = find_repeats(engine, RepeatSearch(place, own, earlier, compared.lines, alone, compared.skipped))
    return replace(found, earlier=compared.earlier)


@dataclass(frozen=True)
class RowComparison:
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
) -> RowComparison:
    """Return what has to be compared so that no repeat is missed; `promises` say by subject how positions continue."""
    again, earlier, skipped = set[PositionLine](), set[str](), list[tuple[PositionLine, int]]()
    shared, others = _look_back(lines, past, promises, query)
    for line, stretch in lines.items():
        each_its_own = promises[line.subject] in _EACH_ITS_OWN
        if stretch.comes_again(each_its_own=each_its_own):
            again.add(line)
        before = sorted(shared[line], key=lambda told: told[1].end)
        stretches = [*(told for _, told in before), stretch]
        between = sorted(start for start in others[line] if start > stretches[0].start)
        if before and (each_its_own or between or _falls(stretches)):
            again.add(line)
            earlier |= {one.run for one, _ in before}
            skipped += [(line, offset) for offset in _first_between(stretches, between)]
    return RowComparison(again, tuple(sorted(earlier)), skipped)


def _look_back(
    lines: Mapping[PositionLine, PositionStretch],
    past: Iterable[PastRun],
    promises: Mapping[str, str | None],
    query: str | None,
) -> tuple[Mapping[PositionLine, list[tuple[PastRun, PositionStretch]]], Mapping[PositionLine, list[int]]]:
    """Return by line what came before that may share a position, and where all else begins that did."""
    shared: dict[PositionLine, list[tuple[PastRun, PositionStretch]]] = defaultdict(list)
    others: dict[PositionLine, list[int]] = defaultdict(list)
    for one in past:
        for line in lines.keys() & one.positions.keys():
            stretch, result = lines[line], one.positions[line]
            back = stretch.start - result.end
            near = query is not None and one.query == query and back <= _LOOK_BACK
            if back > 0 and (near or promises[line.subject] in _ORDERED):
                if result.shares(stretch):
                    shared[line].append((one, result))
                else:
                    others[line].append(result.start)
    return shared, others


def _falls(stretches: Sequence[PositionStretch]) -> bool:
    """Return whether a position is below one before it: else equal ones are those of one transaction."""
    return any(one.fell for one in stretches) or any(after.least < one.most for one, after in pairwise(stretches))


def _first_between(stretches: Sequence[PositionStretch], starts: Sequence[int]) -> Iterator[int]:
    """Yield for each two stretches that follow each other the first start that lies between them, if one does."""
    for one, after in pairwise(stretches):
        at = bisect(starts, one.end)
        if at < len(starts) and starts[at] < after.start:
            yield starts[at]


def _promise(catalogue: Catalogue, subject: str) -> str | None:
    place = catalogue.versions(subject)[-1].meaning.envelope.position
    return None if place is None else place.rises


def _changes_of(runs: RunDirectory, finished: PastRuns, earlier: Iterable[str]) -> Iterator[str]:
    for run in earlier:
        record = runs.find(run, finished)
        yield from (part.path for part in record.files_of("changes")) if record is not None else ()
