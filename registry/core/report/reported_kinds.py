"""Reported kinds: topics whose rows come from several kinds of source database."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

from msgspec import UNSET, Struct
from msgspec.structs import replace

from cdc_contracts.registry.core.common.safe_text import visible
from cdc_contracts.registry.core.common.written_models import Count, Sometimes
from cdc_contracts.registry.core.stats.source_kinds import SourceKinds


class ReportedKind(Struct, frozen=True, forbid_unknown_fields=True):
    """Messages with rows from one kind of source, in a topic that has several."""

    topic: str
    """Topic."""
    kind: str
    """Kind, as the messages name it."""
    messages: Count
    """Messages with rows that name it."""
    partition: Count
    """Partition of the first of them; of several partitions, the one with the lowest number."""
    first_offset: Count
    """Offset of the first."""


def report_kinds(seen: SourceKinds) -> Sometimes[tuple[ReportedKind, ...]]:
    """Return the kinds in topics with several, in order of topic and name; UNSET if there are none."""
    listed = [
        ReportedKind(one.topic, one.kind, stretch.count, one.partition, stretch.first.offset)
        for one, stretch in seen.mixed()
    ]
    found: dict[tuple[str, str], ReportedKind] = {}
    for one in sorted(listed, key=lambda one: (one.topic, one.kind, one.partition, one.first_offset)):
        known = found.get((one.topic, one.kind))
        found[one.topic, one.kind] = one if known is None else replace(known, messages=known.messages + one.messages)
    return tuple(found.values()) or UNSET


def kind_notes(kinds: Iterable[ReportedKind]) -> Iterator[str]:
    """Yield for each topic the kinds in it, with their messages and the first of these."""
    for topic, found in groupby(kinds, lambda one: one.topic):
        said = [f"{visible(one.kind)} ({one.messages:,}, from {_place_of(one)})" for one in found]
        yield f"Messages of {len(said)} kinds of source in {visible(topic)}: {', '.join(said)}."


def _place_of(kind: ReportedKind) -> str:
    return f"offset {kind.first_offset} of partition {kind.partition}"
