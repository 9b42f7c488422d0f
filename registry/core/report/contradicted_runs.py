"""Contradicted runs: what a stream published before evidence turned against the version that it was read by."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct, field

from cdc_contracts.registry.core.common.safe_text import list_first
from cdc_contracts.registry.core.common.written_models import Count
from cdc_contracts.registry.core.report.reported_findings import ReportedPartition

_MOST_NAMED = 10


class ContradictedRange(ReportedPartition, frozen=True, forbid_unknown_fields=True):
    """Records of a partition."""

    start: Count = field(name="from")
    """First offset."""
    end: Count = field(name="to")
    """The offset after the last."""


class ContradictedRun(Struct, frozen=True, forbid_unknown_fields=True):
    """A published batch with records that the evidence is about."""

    run: str
    """The id of the run in the output."""
    batch: Count
    """The number of the batch."""
    ranges: tuple[ContradictedRange, ...]
    """What it read."""


class ContradictedRuns(Struct, frozen=True, forbid_unknown_fields=True):
    """Published batches of a stream with records that later evidence is about, and how to read them again."""

    withheld: Count | None
    """The batch that was not published because of the evidence; null if all were."""
    runs: tuple[ContradictedRun, ...]
    """The published batches, in order."""
    read_again: tuple[str, ...]
    """The commands that read them again, to be run one after the other."""


def describe_contradicted(found: ContradictedRuns) -> Iterator[str]:
    """Yield the lines that name the runs and the commands."""
    if not found.runs:
        return
    named = list_first([f"{one.run} (batch {one.batch})" for one in found.runs], _MOST_NAMED)
    yield f"Published before evidence against their version was there: {named}. Read them again with"
    yield from found.read_again
