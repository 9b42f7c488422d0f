"""Version ranges: contract versions by partition and range, as a picklable value."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Final, NamedTuple

from cdc_contracts.registry.core.common.errors import UsageError

Place = tuple[str, int | None]
"""A topic and one of its partitions; None stands for every partition that is not named."""

_MOST_NAMES: Final = 8
OFFSETS: Final = "offset"
TIMES: Final = "time"


class Declaration(NamedTuple):
    """What a range declares: a version, by its reference, and options of the producer, by name and value, in order."""

    contract: str
    options: tuple[tuple[str, str], ...] = ()


class VersionRange(NamedTuple):
    """A part of a partition that one version holds in: from `start` up to, but not including, `end`.

    Both are offsets, or microseconds since 1970 UTC where `unit` is a time; None is the end of the partition. `options`
    are those that the producer wrote it with, as far as they are declared, in order of their names.
    """

    start: int | None
    end: int | None
    contract: str
    unit: str = OFFSETS
    options: tuple[tuple[str, str], ...] = ()

    @property
    def declaration(self) -> Declaration:
        """What it declares."""
        return Declaration(self.contract, self.options)

    def holds(self, offset: int, timestamp: int | None) -> bool:
        """Return whether it contains a record; a record without a timestamp is in no range of times."""
        at = offset if self.unit == OFFSETS else timestamp
        if at is None:
            return False
        return (self.start is None or self.start <= at) and (self.end is None or at < self.end)

    def meets(self, first: tuple[int, int | None], last: tuple[int, int | None]) -> bool:
        """Return whether it shares some part of what lies between two records, given by offset and timestamp."""
        start, end = (first[0], last[0]) if self.unit == OFFSETS else (first[1], last[1])
        if start is None or end is None:
            return False
        return (self.start is None or self.start <= end) and (self.end is None or start < self.end)

    def document(self) -> dict[str, Any]:
        """Return the range as a report and pinned contracts write it."""
        found = {"unit": self.unit, "from": self.start, "to": self.end, "contract": self.contract}
        return found | ({"options": dict(self.options)} if self.options else {})


@dataclass(frozen=True)
class VersionRanges:
    """The ranges of each place, ascending and disjoint; what none covers belongs to no version.

    Ranges that touch and declare the same are one. Two values are equal where they mean the same.
    """

    places: Mapping[Place, tuple[VersionRange, ...]]
    where: str = field(default="", compare=False)
    """The file that says so, for messages to a person."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "places", _normal(self.places))

    def of_topics(self, topics: Collection[str]) -> VersionRanges:
        """Return what is said of some topics."""
        return replace(self, places={place: result for place, result in self.places.items() if place[0] in topics})

    def of_named(self, topics: Collection[str]) -> VersionRanges:
        """Return the ranges of some topics. Raises UsageError if one of them is not mentioned."""
        for topic in topics:
            if topic not in self.topics:
                raise UsageError(
                    f"the versions file does not mention topic {topic}",
                    where=self.where,
                    hint=f"It names {', '.join(self.topics[:_MOST_NAMES]) or 'no topic'}.",
                )
        return self.of_topics(topics)

    def check_partitions(self, sources: Collection[tuple[str, int]]) -> None:
        """Raise UsageError if a partition is named that its topic does not have; `sources` are all there are."""
        for topic in self.topics:
            there = sorted(partition for name, partition in sources if name == topic)
            for partition in self.partitions(topic):
                if there and partition not in there:
                    raise UsageError(
                        f"the versions file names partition {partition}, and topic {topic} has no such partition",
                        where=self.where,
                        hint=f"It has {', '.join(map(str, there[:_MOST_NAMES]))}{' …' if there[_MOST_NAMES:] else ''}.",
                    )

    def without(self, places: Iterable[tuple[str, int, int]]) -> VersionRanges:
        """Return the ranges without some records, given by topic, partition and offset: they belong to no version."""
        found = dict(self.places)
        for topic, partition, offset in places:
            found[topic, partition] = tuple(
                part for one in self.ranges_of(topic, partition) for part in _cut_out(one, offset)
            )
            self = replace(self, places=found)  # noqa: PLW0642
        return self

    @cached_property
    def topics(self) -> tuple[str, ...]:
        """The topics that are named."""
        return tuple(dict.fromkeys(topic for topic, _ in self.places))

    def partitions(self, topic: str) -> tuple[int, ...]:
        """Return the partitions of a topic that are named."""
        return tuple(partition for named, partition in self.places if named == topic and partition is not None)

    @cached_property
    def contracts(self) -> tuple[str, ...]:
        """The references of all versions, each once, in order."""
        return tuple(sorted({one.contract for result in self.places.values() for one in result}))

    @cached_property
    def declarations(self) -> tuple[Declaration, ...]:
        """What the ranges declare, each once, in order."""
        return tuple(sorted({one.declaration for result in self.places.values() for one in result}))

    def ranges_of(self, topic: str, partition: int) -> tuple[VersionRange, ...]:
        """Return the ranges of a partition."""
        return self.places.get((topic, partition), self.places.get((topic, None), ()))

    def find(self, topic: str, partition: int, offset: int, timestamp: int | None) -> VersionRange | None:
        """Return the range that contains a record, None if there is none."""
        return next((one for one in self.ranges_of(topic, partition) if one.holds(offset, timestamp)), None)

    @cached_property
    def identity(self) -> str:
        """Everything here that decides outcomes, as canonical JSON (part of a run's fingerprint)."""
        return json.dumps(self.documents(), separators=(",", ":"))

    def documents(self) -> list[dict[str, Any]]:
        """Return the ranges as plain data, place by place."""
        return [
            {"topic": topic, "partition": partition, "ranges": [one.document() for one in result]}
            for (topic, partition), result in self.places.items()
        ]


def read_ranges(documents: Iterable[Mapping[str, Any]]) -> VersionRanges:
    """Return the ranges that `VersionRanges.documents` wrote. Raises KeyError or TypeError if it did not."""
    return VersionRanges({
        (place["topic"], place["partition"]): tuple(
            VersionRange(one["from"], one["to"], one["contract"], one["unit"], in_order(one.get("options", {})))
            for one in place["ranges"]
        )
        for place in documents
    })  # fmt: skip


def in_order(options: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """Return options as a range keeps them: in order of their names."""
    return tuple(sorted(options.items()))


def _cut_out(one: VersionRange, offset: int) -> Iterator[VersionRange]:
    """Yield what is left of a range of offsets without one of them."""
    if not one.holds(offset, None):
        yield one
        return
    if one.start is None or one.start < offset:
        yield one._replace(end=offset)
    if one.end is None or one.end > offset + 1:
        yield one._replace(start=offset + 1)


def order_of(one: VersionRange) -> tuple[bool, int]:
    """Return the sort key of the ranges of a place."""
    return one.start is not None, one.start or 0


def _normal(places: Mapping[Place, Iterable[VersionRange]]) -> dict[Place, tuple[VersionRange, ...]]:
    """Return the places in order, each with its ranges in order, without those that say what is so without them.

    A topic stays named even where all of it is left open.
    """
    result = {place: _joined(ranges) for place, ranges in places.items()}
    topics = {topic for topic, _ in result}
    speaking = {topic for (topic, partition), ranges in result.items() if ranges or partition is None}
    kept = {place: ranges for place, ranges in result.items() if ranges or (place[0], None) in result}
    kept |= {(topic, None): () for topic in topics - speaking}
    return {place: kept[place] for place in sorted(kept, key=lambda one: (one[0], one[1] is not None, one[1] or 0))}


def _joined(ranges: Iterable[VersionRange]) -> tuple[VersionRange, ...]:
    """Return ranges in order, those that touch and declare the same as one."""
    result: list[VersionRange] = []
    for one in sorted(ranges, key=order_of):
        before = result[-1] if result else None
        touches = before is not None and before.end is not None and before.end == one.start
        if before is not None and touches and before.declaration == one.declaration:
            result[-1] = before._replace(end=one.end, unit=_unit(before.start, one.end, before.unit))
        else:
            result.append(one)
    return tuple(result)


def _unit(start: int | None, end: int | None, unit: str) -> str:
    """Return the unit of a range: one of all records has none, which is given as offsets."""
    return OFFSETS if start is None and end is None else unit
