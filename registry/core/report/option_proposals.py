"""Option proposals: the options of a producer that hold in each part of a partition, for its versions file.

What ranges of the run stated comes first, then its parameters, then what the values of the topic allow alone. Where an
option changes, it is left out between the last value that rules out the new one and the first that rules out the old.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import NamedTuple

from cdc_contracts.registry.core.report.report_model import Report
from cdc_contracts.registry.core.report.reported_options import ReportedOption


class OptionPart(NamedTuple):
    """A part of a partition, from `start` up to, but not including, `end`, with options that hold in all of it.

    `left_open` are options that hold around it, and that no value there decides. None is the end of the partition.
    """

    start: int | None
    end: int | None
    options: Mapping[str, str]
    left_open: tuple[str, ...]


class _Stated(NamedTuple):
    option: str
    value: str
    start: int | None = None
    end: int | None = None

    def holds(self, offset: int) -> bool:
        return (self.start is None or self.start <= offset) and (self.end is None or offset < self.end)


class OptionProposals:
    """The options that a report supports for each part of a partition; `parameters` are those stated for the run."""

    def __init__(self, report: Report, topic: str, partition: int, parameters: Mapping[str, str]) -> None:
        found = [one for one in report.options or () if one.topic == topic]
        self._stated = [
            *_of_ranges(report, topic, partition),
            *(_Stated(option, value) for option, value in parameters.items()),
            *(part for one in found for part in _of_values(one, partition)),
        ]
        self._changing = {one.option for one in found if one.runs}

    def parts(self, start: int | None, end: int | None) -> Iterator[OptionPart]:
        """Yield the parts of a range of the partition, in order."""
        low = -1 if start is None else start
        cuts = {cut for one in self._stated for cut in (one.start, one.end) if cut is not None and low < cut}
        bounds = [start, *sorted(cut for cut in cuts if cut and (end is None or cut < end)), end]
        for first, last in pairwise(bounds):
            options: dict[str, str] = {}
            for one in self._stated:
                if one.holds(first or 0):
                    options.setdefault(one.option, one.value)
            yield OptionPart(
                first, last, dict(sorted(options.items())), tuple(sorted(self._changing - options.keys()))
            )  # fmt: skip


def _of_ranges(report: Report, topic: str, partition: int) -> Iterator[_Stated]:
    """Yield the options that ranges of a versions file stated; ranges of times have no offsets."""
    declared = [one for one in report.versions or () if one.topic == topic]
    own = [one for one in declared if one.partition == partition]
    for one in own or [one for one in declared if one.partition is None]:
        if not isinstance(one.start, str) and not isinstance(one.end, str):
            yield from (_Stated(*option, one.start, one.end) for option in (one.options or {}).items())


def _of_values(found: ReportedOption, partition: int) -> Iterator[_Stated]:
    """Yield what the values of a topic allow alone: before all of them and behind them the same is taken to hold."""
    if len(found.values) == 1:
        yield _Stated(found.option, found.values[0])
    runs = [one for one in found.runs or () if one.partition == partition]
    for place, run in enumerate(runs):
        if len(run.values) == 1:
            start = None if place == 0 else run.first_offset
            end = None if place == len(runs) - 1 else run.last_offset + 1
            yield _Stated(found.option, run.values[0], start, end)
