"""Open notes: what the messages of a report leave open, and what speaks for and against how they were read."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby, pairwise
from typing import Final

from cdc_contracts.registry.core.common.safe_text import list_first, visible
from cdc_contracts.registry.core.report.report_model import Report, ReportedChains, ReportedPair
from cdc_contracts.registry.core.report.reported_options import ReportedOption

_MOST_PARTS: Final = 4
_MOST_NAMES: Final = 3
_MICROS_OF_SECOND: Final = 1_000_000
_ENOUGH: Final = 20
"""Nanoseconds are below a million, as all microseconds are, once in a thousand times if they fall anywhere in a second;
and never where clocks tell milliseconds, tenths or whole parts. This number of them is no chance."""
_MOST_NAMED: Final = 8
_MOST_LINES: Final = 4


def option_notes(report: Report) -> Iterator[str]:
    """Yield what is known of each option, and how to state it."""
    left_open = {(one.topic, one.option) for one in report.options or () if not one.taken}
    for one in report.options or ():
        columns = f"{one.columns:,} column" + ("" if one.columns == 1 else "s")
        seen = f"{columns}, {one.held:,} value" + ("" if one.held == 1 else "s")
        name, topic = visible(one.option), visible(one.topic)
        if one.taken and len(one.values) > 1 and (one.topic, one.option) in left_open:
            continue  # the same values leave other columns open
        if one.taken:
            yield (
                f"Option of the producer of {topic}: {name}={' or '.join(map(visible, one.values))}, from a sample "
                f"({seen}). What it does not read is quarantined."
            )
        elif len(one.values) == 1:
            stated = f"{name}={visible(one.values[0])}"
            yield f"Option of the producer of {topic}: {stated} ({seen}). --parameter {stated} reads them so."
        elif one.values:
            left = " or ".join(map(visible, one.values))
            yield f"Option of the producer of {topic}: {name} may be {left} ({seen}). {_as_sent(one)}."
        else:
            yield (
                f"Option of the producer of {topic}: {name} changes ({seen}){_where(one)}. "
                f"{_as_sent(one)}; `audit --write-versions FILE` says what holds where, for --versions."
            )


def _as_sent(left_open: ReportedOption) -> str:
    """Return which values are read as they were sent, or may stand for NULL."""
    names = list(map(visible, (left_open.named or ())[:_MOST_NAMES]))
    more = left_open.columns - len(names)
    listed = ", ".join(names) + (f" and {more:,} more" if names and more else "")
    if left_open.of_null:
        return f"A value that equals the default of {listed or 'its column'} may stand for NULL"
    return f"Read as sent: {listed}" if names else "The values are read as sent"


def _where(changed: ReportedOption) -> str:
    """Return where an option changes in the first partition that shows it."""
    runs = changed.runs or ()
    first = next((one.partition for one, after in pairwise(runs) if one.partition == after.partition), None)
    parts = [
        f"{' or '.join(map(visible, one.values)) or 'several'} from offset {one.first_offset} to {one.last_offset}"
        for one in runs
        if one.partition == first
    ]
    return (
        f": in partition {first} {', '.join(parts[:_MOST_PARTS])}{' …' * (len(parts) > _MOST_PARTS)}" if parts else ""
    )


def fraction_notes(report: Report) -> Iterator[str]:
    """Yield for each table the columns whose parts of a second seem to be microseconds."""
    small = [one for one in report.parts or () if one.values >= _ENOUGH and one.most < _MICROS_OF_SECOND]
    for (topic, table), columns in groupby(small, lambda one: (one.topic, one.table)):
        listed = list(columns)
        named = list_first([visible(one.column) for one in listed], _MOST_NAMED)
        values, most = sum(one.values for one in listed), max(one.most for one in listed)
        yield (
            f"Parts of a second in {visible(topic)} {visible(table or '')}, read as nanoseconds, are at most {most:,} "
            f"in all {values:,} values of {named} that have one: they seem to be microseconds. "
            "--parameter avro_timestamp_fraction=micros reads them so."
        )


def vote_notes(report: Report) -> Iterator[str]:
    """Yield the votes by partition where some speak against the declared version, or against each other."""
    found = [line for line in report.chains or () if _is_contested(line, report.contract)]
    for line in found[:_MOST_LINES]:
        says = "; ".join(_votes_for(line, version) for version in line.links)
        yield f"Evidence of {visible(line.topic)} {line.partition}: {says}."
    if len(found) > _MOST_LINES:
        yield f"There is evidence against a version in {len(found) - _MOST_LINES:,} more partitions."


def _votes_of(line: ReportedChains, version: str) -> int:
    return line.links[version] + (line.states or {}).get(version, 0)


def _is_contested(line: ReportedChains, declared: str) -> bool:
    """Return whether links or states speak against the declared version; if there is none, against each other."""
    others = [version for version in line.links if version != declared]
    voted = [version for version in others if _votes_of(line, version)]
    return bool(voted) if declared in line.links else len(voted) > 1


def _votes_for(line: ReportedChains, version: str) -> str:
    """Return the votes for a version, with two changes; a pair is only there where there is a vote."""
    states = (line.states or {}).get(version, 0)
    pair = (line.pairs or {}).get(version)
    counted = f"for {visible(version)} links {line.links[version]:,}, states {states:,}"
    return f"{counted}{_changes(pair)}" if pair is not None else counted


def _changes(pair: ReportedPair) -> str:
    one, other = (f"{place.partition}:{place.offset}" for place in pair.changes)
    return f", such as changes {one} and {other} (partition:offset)"
