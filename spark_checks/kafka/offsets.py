"""Offsets to read: the values of --from and --until, resolved once against the current offsets of a topic."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final, Literal, TypeVar

from cdc_contracts.registry.core.common.errors import UnavailableError, UsageError
from cdc_contracts.registry.core.report.audit_report import Span
from cdc_contracts.registry.core.report.report_model import TopicRange
from cdc_contracts.registry.core.stats.partition_tallies import Source

Limits = Mapping[int, tuple[int, int]]
"""Per partition the offset of the first record, and the one after the last."""
OffsetsAtTime = Callable[[datetime], Mapping[int, int]]
"""Per partition the first offset whose timestamp is not earlier; a partition without one is left out."""

_T = TypeVar("_T")

WORDS: Final = (
    'Write earliest, latest, offset:12, offset:0=12,1=90, {"0": 12}, last:1000 (--from only) or a time with its '
    "zone such as 2024-05-01T00:00:00Z."
)
EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class OffsetBound:
    """One end of a range, as an option gives it."""

    word: str
    kind: Literal["earliest", "latest", "offset", "offsets", "last", "time", "since"]
    number: int = 0
    offsets: tuple[tuple[int, int], ...] = ()
    time: datetime = EPOCH

    def names(self, partition: int) -> bool:
        """Return whether the partition is read at all."""
        return self.kind != "offsets" or partition in dict(self.offsets)


@dataclass(frozen=True, slots=True)
class Range:
    """What to read: `start` is included, `end` is not."""

    start: OffsetBound
    end: OffsetBound

    @property
    def names_partitions(self) -> bool:
        """Whether only the partitions that it names are read."""
        return "offsets" in (self.start.kind, self.end.kind)

    def since(self, offsets: Mapping[int, int]) -> Range:
        """Return the range that starts at these offsets; partitions without one are read from their beginning."""
        return Range(OffsetBound("the last run", "since", offsets=tuple(sorted(offsets.items()))), self.end)


def parse_range(start: str = "earliest", end: str = "latest") -> Range:
    """Parse the two ends of a range, independently of a topic.

    Raises:
        UsageError: a value is unknown, or start is after end.

    """
    wanted = Range(_parse(start, "--from"), _parse(end, "--until"))
    if wanted.end.kind == "last":
        raise UsageError("last:N is for --from only", where=f"--until {end}", hint=WORDS)
    first, last = wanted.start, wanted.end
    if first.kind == last.kind == "time" and first.time > last.time:
        raise _backwards(first, last)
    if first.kind in ("offset", "offsets") and last.kind in ("offset", "offsets"):
        named = dict(first.offsets) | dict(last.offsets) or {0: 0}
        for partition in (each for each in named if first.names(each) and last.names(each)):
            if _number(first, partition) > _number(last, partition):
                raise _backwards(first, last, partition)
    return wanted


def select(wanted: Range, limits: Limits, offsets_at_time: OffsetsAtTime) -> dict[int, tuple[int, int]]:
    """Return per partition that is read the first offset, and the one after the last.

    Raises:
        UnavailableError: a partition does not exist, or an offset is below the log start or above its end.
        UsageError: start is after end in a partition, or `offsets_at_time` refuses times.

    """
    for bound in (wanted.start, wanted.end):
        for partition, _ in bound.offsets:
            if partition not in limits and bound.kind != "since":
                there = f"It has {min(limits)} to {max(limits)}." if limits else "It has none."
                raise UnavailableError(f"there is no partition {partition}", where=bound.word, hint=there)
    starts, ends = _place(wanted.start, limits, offsets_at_time), _place(wanted.end, limits, offsets_at_time)
    selected = {each: (starts[each], ends[each]) for each in sorted(starts.keys() & ends.keys())}
    for partition, (first, last) in selected.items():
        if first > last:
            raise _backwards(wanted.start, wanted.end, partition)
    return selected


def words_of(selected: Limits) -> tuple[str, str]:
    """Return the range as JSON, in the form that --from and --until accept."""
    starts, ends = ({str(each): bounds[end] for each, bounds in sorted(selected.items())} for end in (0, 1))
    return json.dumps(starts), json.dumps(ends)


def range_words(selected: Mapping[str, Limits]) -> dict[str, dict[str, str]]:
    """Return the range of each topic as in reports, with `from` and `to` as `words_of` writes them."""
    return {topic: dict(zip(("from", "to"), words_of(found), strict=True)) for topic, found in selected.items()}


def report_ranges(selected: Mapping[str, Limits]) -> dict[str, TopicRange]:
    """Return the range of each topic as it is stored in reports."""
    return {topic: TopicRange(*words_of(found)) for topic, found in selected.items()}


def bounds_of(spans: Mapping[Source, Span]) -> dict[Source, tuple[int, int]]:
    """Return per partition of a span the first offset, and the one after the last."""
    return {source: (span.start, span.end) for source, span in spans.items()}


def describe_spans(spans: Mapping[Source, Span]) -> str:
    """Return spans as the options that read them, topic by topic."""
    ranges = range_words(by_topic(bounds_of(spans)))
    return ", ".join(
        f"{topic} --from '{words['from']}' --until '{words['to']}'" for topic, words in sorted(ranges.items())
    )


def by_topic(values: Mapping[Source, _T]) -> dict[str, dict[int, _T]]:
    """Return values per partition grouped by topic, in the given order."""
    found: dict[str, dict[int, _T]] = {}
    for source, one in values.items():
        found.setdefault(source.topic, {})[source.partition] = one
    return found


def _parse(word: str, option: str) -> OffsetBound:
    text = word.strip()
    if text in ("earliest", "latest"):
        return OffsetBound(text, "earliest" if text == "earliest" else "latest")
    if match := re.fullmatch(r"(offset|last):([0-9]{1,18})", text):
        return OffsetBound(text, "offset" if match[1] == "offset" else "last", number=int(match[2]))
    if re.fullmatch(r"offset:[0-9]{1,9}=[0-9]{1,18}(,[0-9]{1,9}=[0-9]{1,18})*", text):
        pairs = [pair.split("=") for pair in text.removeprefix("offset:").split(",")]
        return _named(text, option, [(int(partition), int(offset)) for partition, offset in pairs])
    if text.startswith("{"):
        return _named(text, option, _parse_json(text, option))
    return OffsetBound(text, "time", time=_parse_time(text, option))


def _named(text: str, option: str, pairs: Sequence[tuple[int, int]]) -> OffsetBound:
    if len(dict(pairs)) < len(pairs):
        raise UsageError("a partition is named twice", where=f"{option} {text}", hint=WORDS)
    return OffsetBound(text, "offsets", offsets=tuple(sorted(pairs)))


def _parse_json(text: str, option: str) -> list[tuple[int, int]]:
    try:
        members = json.loads(text, object_pairs_hook=list)
    except (ValueError, RecursionError):
        members = None
    if not members or not all(re.fullmatch("[0-9]{1,9}", key) and _is_offset(value) for key, value in members):
        raise UsageError("this is not a JSON object of partitions and offsets", where=f"{option} {text}", hint=WORDS)
    return [(int(key), value) for key, value in members]


def _is_offset(value: object) -> bool:
    return type(value) is int and 0 <= value < 10**18


def _parse_time(text: str, option: str) -> datetime:
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        raise UsageError("not a position in a topic", where=f"{option} {text}", hint=WORDS) from None
    if time.tzinfo is None:
        hint = "Add Z for UTC, or an offset such as +08:00."
        raise UsageError("the time has no zone", where=f"{option} {text}", hint=hint)
    return time


def _place(bound: OffsetBound, limits: Limits, offsets_at_time: OffsetsAtTime) -> dict[int, int]:
    """Return the offset of a bound, per partition that it names."""
    if bound.kind == "time":
        found = offsets_at_time(bound.time)
        # Records that arrived after the limits were read belong to the next run.
        return {each: min(max(found.get(each, end), start), end) for each, (start, end) in limits.items()}
    if bound.kind == "earliest":
        return {each: start for each, (start, _) in limits.items()}
    if bound.kind == "latest":
        return {each: end for each, (_, end) in limits.items()}
    if bound.kind == "last":
        return {each: max(start, end - bound.number) for each, (start, end) in limits.items()}
    if bound.kind == "since":
        _check_continuity(dict(bound.offsets), limits)
        return {each: dict(bound.offsets).get(each, start) for each, (start, _) in limits.items()}
    placed = {each: _number(bound, each) for each in limits if bound.names(each)}
    for partition, offset in placed.items():
        start, end = limits[partition]
        if not start <= offset <= end:
            side = f"the log starts at {start}" if offset < start else f"the log ends at {end}"
            what = f"partition {partition} has no offset {offset}: {side}"
            raise UnavailableError(what, where=bound.word, hint=f"It contains {start} to {end}, the end exclusive.")
    return placed


def _check_continuity(offsets: Mapping[int, int], limits: Limits) -> None:
    """Raise UnavailableError if records after the offsets can no longer be read."""
    hint = "Give --from earliest to start again; the records in between are not read."
    for partition, offset in offsets.items():
        start, end = limits.get(partition, (0, 0))
        where = f"partition {partition}"
        if offset > end:
            what = f"the topic was recreated: it ends at {end}, and the last run had read up to {offset}"
            raise UnavailableError(what, where=where, hint=hint)
        if offset < start:
            what = f"{start - offset} offsets since the last run are gone: the log starts at {start}, not at {offset}"
            raise UnavailableError(what, where=where, hint=hint)


def _number(bound: OffsetBound, partition: int) -> int:
    return dict(bound.offsets).get(partition, bound.number)


def milliseconds(time: datetime) -> int:
    """Return the earliest Kafka timestamp that is not before `time`."""
    return max(0, -((EPOCH - time) // timedelta(milliseconds=1)))


def _backwards(first: OffsetBound, last: OffsetBound, partition: int | None = None) -> UsageError:
    there = "" if partition is None else f" in partition {partition}"
    return UsageError(f"--from is after --until{there}", where=f"--from {first.word} --until {last.word}")
