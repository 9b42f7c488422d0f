"""Repeated positions: the rows of a run to compare, and the earlier runs to compare them with."""

from __future__ import annotations

from bisect import bisect
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

from cdc_contracts.registry.core.contract.catalogue import Catalogue
from cdc_contracts.registry.core.stats.position_sequences import NON_STRICT, STRICT, UNIQUE
from cdc_contracts.registry.core.stats.positions import PositionLine, PositionStretch
from cdc_contracts.spark_checks.engines.engines import Engine
from cdc_contracts.spark_checks.engines.repeat_search import RepeatSearch
from cdc_contracts.spark_checks.files.file_sinks import SinkPlace
from cdc_contracts.spark_checks.runs.finished_runs import PastRun, PastRuns
from cdc_contracts.spark_checks.runs.repeats import Repeats, find_repeats
from cdc_contracts.spark_checks.runs.run_directory import RunDirectory
from cdc_contracts.spark_checks.tables.decode_tasks import DecodeResult

_EACH_ITS_OWN: Final = (STRICT, UNIQUE)
_ORDERED: Final = (STRICT, NON_STRICT)
_LOOK_BACK: Final = 100_000
"""How many offsets back a stream compares rows if no contract promises an order: else each batch would read all."""


def look_for_repeats(
    engine: Engine,
    runs: RunDirectory,
    finished: PastRuns,
    place: SinkPlace,
    validated: DecodeResult,
    catalogue: Catalogue,
    *,
    query: str | None,
) -> Repeats:
    """Return the rows of a run that repeat others of it, or of finished runs of the directory.

    Nothing is read if positions show that there can be no repeats. Earlier runs are compared only if the contract
    promises that positions never decrease: otherwise a position may legitimately occur again at any time. The batches
    of a stream, `query`, are compared as the parts of one run.
    """
    lines = validated.positions.whole()
    orders = {line.subject: position_order(catalogue, line.subject) for line in lines}
    compared = plan_comparison(lines, (one for one in finished if one.run != place.run), orders, query)
    if not compared.lines:
        return Repeats()
    own = [part.path for part in validated.parts if part.table == "changes"]
    earlier = list(_changes_of(runs, finished, compared.earlier))
    alone = [subject for subject, monotonic in orders.items() if monotonic in _EACH_ITS_OWN]
    found = find_repeats(engine, RepeatSearch(place, own, earlier, compared.lines, alone, compared.skipped))
    return replace(found, earlier=compared.earlier)


@dataclass(frozen=True)
class RowComparison:
    """The lines whose rows have to be compared, and the earlier runs to compare them with.

    `skipped` are the offsets of rows with other positions in between, which need not be read.
    """

    lines: AbstractSet[PositionLine]
    earlier: tuple[str, ...]
    skipped: Sequence[tuple[PositionLine, int]]


def plan_comparison(
    lines: Mapping[PositionLine, PositionStretch],
    past: Iterable[PastRun],
    orders: Mapping[str, str | None],
    query: str | None,
) -> RowComparison:
    """Return the comparison that misses no repeat; `orders` are the position orders that subjects promise."""
    again, earlier, skipped = set[PositionLine](), set[str](), list[tuple[PositionLine, int]]()
    shared, others = _look_back(lines, past, orders, query)
    for line, stretch in lines.items():
        each_its_own = orders[line.subject] in _EACH_ITS_OWN
        if stretch.comes_again(each_its_own=each_its_own):
            again.add(line)
        before = sorted(shared[line], key=lambda pair: pair[1].end)
        stretches = [*(one for _, one in before), stretch]
        between = sorted(start for start in others[line] if start > stretches[0].start)
        if before and (each_its_own or between or _falls(stretches)):
            again.add(line)
            earlier |= {one.run for one, _ in before}
            skipped += [(line, offset) for offset in _first_between(stretches, between)]
    return RowComparison(again, tuple(sorted(earlier)), skipped)


def _look_back(
    lines: Mapping[PositionLine, PositionStretch],
    past: Iterable[PastRun],
    orders: Mapping[str, str | None],
    query: str | None,
) -> tuple[Mapping[PositionLine, list[tuple[PastRun, PositionStretch]]], Mapping[PositionLine, list[int]]]:
    """Return, by line, earlier stretches that may share a position, and the starts of all other earlier stretches."""
    shared: dict[PositionLine, list[tuple[PastRun, PositionStretch]]] = defaultdict(list)
    others: dict[PositionLine, list[int]] = defaultdict(list)
    for one in past:
        for line in lines.keys() & one.positions.keys():
            stretch, result = lines[line], one.positions[line]
            back = stretch.start - result.end
            near = query is not None and one.query == query and back <= _LOOK_BACK
            if back > 0 and (near or orders[line.subject] in _ORDERED):
                if result.shares(stretch):
                    shared[line].append((one, result))
                else:
                    others[line].append(result.start)
    return shared, others


def _falls(stretches: Sequence[PositionStretch]) -> bool:
    """Return whether a position is lower than an earlier one: if not, equal ones belong to one transaction."""
    return any(one.fell for one in stretches) or any(after.least < one.most for one, after in pairwise(stretches))


def _first_between(stretches: Sequence[PositionStretch], starts: Sequence[int]) -> Iterator[int]:
    """Yield for each two consecutive stretches the first start between them, if there is one."""
    for one, after in pairwise(stretches):
        at = bisect(starts, one.end)
        if at < len(starts) and starts[at] < after.start:
            yield starts[at]


def position_order(catalogue: Catalogue, subject: str) -> str | None:
    """Return the order that a subject promises of its positions, by its newest version; None if it promises none."""
    place = catalogue.versions(subject)[-1].meaning.envelope.position
    return None if place is None else place.monotonic


def _changes_of(runs: RunDirectory, finished: PastRuns, earlier: Iterable[str]) -> Iterator[str]:
    for run in earlier:
        record = runs.find(run, finished)
        yield from (part.path for part in record.files_of("changes")) if record is not None else ()
