"""Reported options: what the values of a topic say of the options of its producer that nobody states."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from msgspec import UNSET, Struct
from msgspec.structs import replace

from cdc_contracts.registry.core.common.written_models import Count, Sometimes
from cdc_contracts.registry.core.stats.option_evidence import OptionEvidence, TopicOption

_MOST_NAMED: Final = 100


class ReportedOptionRun(Struct, frozen=True, forbid_unknown_fields=True):
    """A part of a partition that was written with one value of an option."""

    partition: Count
    """Partition."""
    values: tuple[str, ...]
    """The values that every value of the columns allows there; none where several are used in turn."""
    first_offset: Count
    """Offset of the first value that tells it from what holds before."""
    last_offset: Count
    """Offset of the last value that tells it from what holds after."""


class ReportedOption(Struct, frozen=True, forbid_unknown_fields=True):
    """An option of the producer of a topic."""

    topic: str
    """Topic."""
    option: str
    """Option, as the producer calls it; a parameter of a run has the same name."""
    values: tuple[str, ...]
    """The values that every value of the columns allows: one if it is found out, none if they contradict each other."""
    columns: Count
    """Columns whose form the option decides."""
    held: Count
    """Values of these columns."""
    named: Sometimes[tuple[str, ...]] = UNSET
    """The columns, as TABLE.COLUMN, the first by name."""
    runs: Sometimes[tuple[ReportedOptionRun, ...]] = UNSET
    """Where it changes: the parts of each partition, in order."""
    of_null: Sometimes[bool] = UNSET
    """Whether it decides what NULL of a column with a default is sent as, and not how values are written."""
    taken: Sometimes[bool] = UNSET
    """Whether a sample decided it before a decode, which has read every message so; counts are those of the sample."""


def report_options(seen: OptionEvidence, taken: Iterable[TopicOption] = ()) -> Sometimes[tuple[ReportedOption, ...]]:
    """Return the options in order of topic and name, those `taken` from a sample too; UNSET if there are none."""
    runs: dict[tuple[str, str], list[ReportedOptionRun]] = {}
    for one in seen.runs():
        run = ReportedOptionRun(one.partition, one.values, one.first, one.last)
        runs.setdefault((one.topic, one.option), []).append(run)
    found = [
        *(_report(one, UNSET if one.values else tuple(runs[one.topic, one.option])) for one in seen.options()),
        *(replace(_report(one), taken=True) for one in taken),
    ]
    return tuple(sorted(found, key=lambda one: (one.topic, one.option))) or UNSET


def _report(one: TopicOption, runs: Sometimes[tuple[ReportedOptionRun, ...]] = UNSET) -> ReportedOption:
    named = one.names[:_MOST_NAMED]
    return ReportedOption(
        one.topic, one.option, one.values, one.columns, one.held, named, runs, of_null=one.of_null or UNSET
    )
