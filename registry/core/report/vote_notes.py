"""Vote notes: how many links and states speak for and against a version, each with two changes to look at."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from cdc_contracts.registry.core.common.safe_text import visible
from cdc_contracts.registry.core.report.report_model import Report, ReportedChains, ReportedPair

_MOST_LINES: Final = 4


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
