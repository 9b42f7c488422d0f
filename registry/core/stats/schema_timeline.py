"""Schema timeline: the writer schemas of each table in the order of their first records, and what each changed.

Every id is compared with the one before it. An id that comes and goes, as when two producers take turns, is no change
each time: it has one place in the order, that of its first record, and up to where the id before it is still written is
said.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any, Final, NamedTuple

from cdc_contracts.registry.core.common.errors import UnavailableError
from cdc_contracts.registry.core.common.json_messages import Unreadable
from cdc_contracts.registry.core.message.block_changes import MemberChange, compare_blocks
from cdc_contracts.registry.core.stats.partition_tallies import Moment
from cdc_contracts.registry.core.stats.schema_uses import KEY, VALUE, SchemaLine, SchemaUses, UsedRange, id_order
from cdc_contracts.registry.core.writer_schemas.writer_schemas import ReaderVerdict, SchemaId, WriterSchemas

_UNDECIDED: Final = ReaderVerdict(None, None)
_PARTS: Final = (VALUE, KEY)


class SchemaOverlap(NamedTuple):
    """The last offset of a partition at which records of the id before are still written."""

    number: SchemaId
    partition: int
    last: int


class SchemaStep(NamedTuple):
    """One id of a line: its records by partition, and what it changed against the id `before` it.

    `changes` is None where the members of both are not known.
    """

    number: SchemaId
    used: Mapping[int, UsedRange]
    before: SchemaId | None = None
    changes: tuple[MemberChange, ...] | None = None
    verdict: ReaderVerdict = _UNDECIDED
    overlap: SchemaOverlap | None = None

    @property
    def records(self) -> int:
        """How many records name the id."""
        return sum(one.records for one in self.used.values())

    @property
    def columns(self) -> frozenset[str]:
        """The names of the members that it changed."""
        return frozenset(one.path[-1] for one in self.changes or () if one.path)


class SchemaStart(NamedTuple):
    """The first record of an id in a partition."""

    number: SchemaId
    of: str
    moment: Moment


@dataclass(frozen=True)
class SchemaTimeline:
    """The ids of each line in the order of their first records; `cut` if some ids were not kept."""

    lines: Mapping[SchemaLine, Sequence[SchemaStep]] = field(default_factory=dict)
    cut: bool = False

    def start_of(
        self, table: str | None, column: str | None, begins: Sequence[Moment], *, first: bool = False
    ) -> SchemaStart | None:
        """Return the id with which a finding began, given its first record in each partition; None if with none.

        That is an id that changed the column, or whose own first record is the first with the finding. What begins with
        the first id of a table began with no change: it is meant only if `first`.
        """
        for moment in begins:
            for of in _PARTS:
                steps = self.lines.get(SchemaLine(moment.topic, table, of), ())[0 if first else 1 :]
                starts = [
                    (used.first, step.number)
                    for step in steps
                    if (used := step.used.get(moment.partition)) is not None
                    and (
                        used.first.offset == moment.offset
                        or (used.first.offset < moment.offset and column is not None and column in step.columns)
                    )
                ]
                if starts:
                    point, number = max(starts, key=lambda start: (start[0], id_order(start[1])))
                    return SchemaStart(number, of, Moment(moment.topic, moment.partition, *point))
        return None


NO_SCHEMAS: Final = SchemaTimeline()


def trace_schemas(uses: SchemaUses, schemas: WriterSchemas | None) -> SchemaTimeline:
    """Return the timeline of all lines, in order of topic and table; what ids changed is asked of `schemas`.

    A source that does not answer is asked no more, and leaves open what was changed.
    """
    if schemas is None:
        return SchemaTimeline()
    uses.bound()  # of others some records may not be counted any more
    tracer = _Tracer(schemas)
    lines = {line: tracer.trace(line, uses.held[line]) for line in sorted(uses.held, key=attrgetter("order"))}
    return SchemaTimeline(lines, uses.cut)


class _Tracer:
    """Puts ids in order and compares them, until the source of the schemas does not answer."""

    def __init__(self, schemas: WriterSchemas) -> None:
        self._schemas = schemas
        self._silent: str | None = None

    def trace(self, line: SchemaLine, numbers: Mapping[SchemaId, Mapping[int, UsedRange]]) -> tuple[SchemaStep, ...]:
        """Return the ids of a line. Where messages name no table, an id follows the last of records of its name."""
        timed = all(one.first.timestamp is not None for used in numbers.values() for one in used.values())

        def begins(number: SchemaId) -> tuple[Any, ...]:
            firsts = [one.first for one in numbers[number].values()]
            earliest = min(one.timestamp or 0 for one in firsts) if timed else 0
            return earliest, min(one.offset for one in firsts), id_order(number)

        steps: list[SchemaStep] = []
        lasts: dict[str | None, SchemaStep] = {}
        for number in sorted(numbers, key=begins):
            step = SchemaStep(number, dict(sorted(numbers[number].items())))
            name = self._name_of(number) if line.table is None and len(numbers) > 1 else None
            if name in lasts:
                step = self._compared(step, lasts[name])
            lasts[name] = step
            steps.append(step)
        return tuple(steps)

    def _compared(self, step: SchemaStep, before: SchemaStep) -> SchemaStep:
        step = step._replace(before=before.number, overlap=_overlap(before, step))
        if self._silent is not None:
            return step._replace(verdict=ReaderVerdict(None, None, (self._silent,)))
        try:
            pair = before.number, step.number
            changes, verdict = self._schemas.once(pair, lambda: _difference(self._schemas, *pair))
        except Unreadable as error:
            return step._replace(verdict=ReaderVerdict(None, None, (f"not compared: {error.observed}",)))
        except UnavailableError as error:
            self._silent = f"not compared: {error.what}"
            return step._replace(verdict=ReaderVerdict(None, None, (self._silent,)))
        return step._replace(changes=changes, verdict=verdict)

    def _name_of(self, number: SchemaId) -> str | None:
        """Return the name of the records of an id, None if it has none."""
        if self._silent is not None:
            return None
        try:
            schema = self._schemas.schema(number)
        except Unreadable:
            return None
        except UnavailableError as error:
            self._silent = f"not compared: {error.what}"
            return None
        document, name = (schema.avro, "name") if schema.json is None else (schema.json, "title")
        found = document.get(name) if isinstance(document, dict) else None
        return found if isinstance(found, str) else None


def _difference(
    schemas: WriterSchemas, before: SchemaId, number: SchemaId
) -> tuple[tuple[MemberChange, ...] | None, ReaderVerdict]:
    """Return what an id changed and whether readers read it."""
    verdict, changes = schemas.compare(before, number), None
    with suppress(Unreadable):  # a schema without a block is compared as a whole
        changes = compare_blocks(schemas.block(before), schemas.block(number))
    return changes, verdict


def _overlap(before: SchemaStep, step: SchemaStep) -> SchemaOverlap | None:
    """Return up to where the id before is still written, in the first partition in which it is."""
    for partition, mine in step.used.items():
        known = before.used.get(partition)
        if known is not None and known.last.offset > mine.first.offset:
            return SchemaOverlap(before.number, partition, known.last.offset)
    return None
