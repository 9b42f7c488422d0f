"""Reported schemas: the writer schemas of each table in the order of their first records, as a report has them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, Literal, cast

from msgspec import UNSET, Struct, field
from msgspec.structs import replace

from cdc_contracts.registry.core.common.written_models import Count, Sometimes
from cdc_contracts.registry.core.message.block_changes import ChangeKind
from cdc_contracts.registry.core.message.envelope_times import instant
from cdc_contracts.registry.core.stats.schema_timeline import SchemaStep, SchemaTimeline
from cdc_contracts.registry.core.stats.schema_uses import KEY, VALUE, SchemaLine, UsedRange

MOST_LINES: Final = 1_000
"""If there are more tables, those with several ids come before those with one."""
_MOST_STEPS: Final = 20
_MOST_PARTITIONS: Final = 32
_MOST_CHANGES: Final = 50

SchemaPart = Literal["value", "key"]


class ReportedSchemaRange(Struct, frozen=True, forbid_unknown_fields=True):
    """The records of a partition that name the id."""

    partition: Count
    """Partition."""
    records: Count
    """How many records."""
    first_offset: Count
    """Offset of the first."""
    first_timestamp: str | None
    """Time of the first."""
    last_offset: Count
    """Offset of the last."""
    last_timestamp: str | None
    """Time of the last."""


class ReportedSchemaOverlap(Struct, frozen=True, forbid_unknown_fields=True):
    """Up to where records of the schema before are still written, in the first partition in which they are."""

    partition: Count
    """Partition."""
    last_offset: Count
    """Offset of the last record of the schema before."""


class ReportedMemberChange(Struct, frozen=True, forbid_unknown_fields=True):
    """One member that changed; a column of a row in several images stands there once."""

    path: tuple[str, ...]
    """Its name, behind the names of the members that it is in."""
    change: ChangeKind
    """What changed."""
    old: str | None
    """Type, whether NULL is allowed, or shape of the default before; null if there was none."""
    new: str | None
    """The same now."""


class ReportedSchema(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One writer schema."""

    number: Count | str = field(name="id")
    """Id in the registry; a text for a GUID or a global id."""
    records: Count
    """Records that name it."""
    partitions: tuple[ReportedSchemaRange, ...]
    """The same by partition, the first 32."""
    partitions_left_out: Sometimes[Count] = UNSET
    """Partitions that are not listed."""
    before: Sometimes[Count | str] = UNSET
    """Id of the schema before it, with which it is compared; absent for the first."""
    overlap: Sometimes[ReportedSchemaOverlap] = UNSET
    changes: Sometimes[tuple[ReportedMemberChange, ...]] = UNSET
    """What it changed, the first 50; absent if that is not known."""
    changes_left_out: Sometimes[Count] = UNSET
    """Changes that are not listed."""
    reads_before: Sometimes[bool | None] = UNSET
    """Whether readers of this schema read records of the one before; null if that was not decided."""
    read_by_before: Sometimes[bool | None] = UNSET
    """Whether readers of the schema before read records of this one; null if that was not decided."""
    reasons: Sometimes[tuple[str, ...]] = UNSET
    """What is not read, by the rules of `cdc-contracts compat`, or why that was not decided."""

    @property
    def breaks(self) -> bool:
        """Whether records of one of the two are not read by readers of the other."""
        return self.reads_before is False or self.read_by_before is False


class ReportedSchemaLine(Struct, frozen=True, forbid_unknown_fields=True):
    """The writer schemas of the values, or keys, of a table."""

    topic: str
    """Topic."""
    table: str | None
    """Table, null if messages name none."""
    of: SchemaPart
    """Whether they are those of values or of keys."""
    ids: Count
    """How many ids."""
    schemas: tuple[ReportedSchema, ...]
    """The schemas in the order of their first records; of many the first, those that broke readers, and the last."""

    @property
    def left_out(self) -> int:
        """How many ids are not listed."""
        return self.ids - len(self.schemas)


class ReportedSchemas(Struct, frozen=True, forbid_unknown_fields=True):
    """The writer schemas that records name, where they are framed for a schema registry."""

    tables: Count
    """Tables whose values name ids."""
    tables_changed: Count
    """Those with several ids."""
    key_tables: Count
    """Tables whose keys name ids."""
    key_tables_changed: Count
    """Those with several ids."""
    lines: tuple[ReportedSchemaLine, ...]
    """The values and keys of each table in order; of more than 1,000 those with several ids are kept first."""
    cut: Sometimes[bool] = UNSET
    """Whether some ids were not kept: there were too many."""


def report_schemas(timeline: SchemaTimeline) -> Sometimes[ReportedSchemas]:
    """Return the schemas of all tables; UNSET if no record is framed."""
    if not timeline.lines:
        return UNSET
    lines = [_line(line, steps) for line, steps in timeline.lines.items()]
    values, keys = ([one.ids > 1 for one in lines if one.of == of] for of in (VALUE, KEY))
    found = ReportedSchemas(len(values), sum(values), len(keys), sum(keys), tuple(lines), timeline.cut or UNSET)
    return _bounded(found)


def join_schemas(parts: Iterable[ReportedSchemas]) -> Sometimes[ReportedSchemas]:
    """Return the schemas of all parts of a run, each of other topics."""
    found = list(parts)
    if not found:
        return UNSET
    joined = ReportedSchemas(
        sum(one.tables for one in found),
        sum(one.tables_changed for one in found),
        sum(one.key_tables for one in found),
        sum(one.key_tables_changed for one in found),
        tuple(sorted((line for one in found for line in one.lines), key=_order)),
        any(one.cut is True for one in found) or UNSET,
    )
    return _bounded(joined)


def _bounded(schemas: ReportedSchemas) -> ReportedSchemas:
    if len(schemas.lines) <= MOST_LINES:
        return schemas
    kept = sorted(schemas.lines, key=lambda one: one.ids == 1)[:MOST_LINES]
    return replace(schemas, lines=tuple(sorted(kept, key=_order)))


def _order(line: ReportedSchemaLine) -> tuple[str, bool, str, bool]:
    return SchemaLine(line.topic, line.table, line.of).order


def _line(line: SchemaLine, steps: Sequence[SchemaStep]) -> ReportedSchemaLine:
    shown = tuple(map(_schema, _shown(steps)))
    return ReportedSchemaLine(line.topic, line.table, cast("SchemaPart", line.of), len(steps), shown)


def _shown(steps: Sequence[SchemaStep]) -> list[SchemaStep]:
    """Return the ids that are listed of many, in order."""
    if len(steps) <= _MOST_STEPS:
        return [*steps]
    places = [*range(1, len(steps))]
    broken = [place for place in places if steps[place].verdict.breaks][-(_MOST_STEPS // 2) :]
    rest = [place for place in places if place not in {*broken}][-(_MOST_STEPS - 1 - len(broken)) :]
    return [steps[place] for place in (0, *sorted([*broken, *rest]))]


def _schema(step: SchemaStep) -> ReportedSchema:
    ranges = tuple(_range(*one) for one in [*step.used.items()][:_MOST_PARTITIONS])
    left_out = len(step.used) - len(ranges) or UNSET
    shown = ReportedSchema(number=step.number, records=step.records, partitions=ranges, partitions_left_out=left_out)
    if step.before is None:
        return shown
    changes, overlap = step.changes, step.overlap
    return replace(
        shown,
        before=step.before,
        overlap=UNSET if overlap is None else ReportedSchemaOverlap(overlap.partition, overlap.last),
        changes=UNSET if changes is None else tuple(ReportedMemberChange(*one) for one in changes[:_MOST_CHANGES]),
        changes_left_out=UNSET if changes is None else max(0, len(changes) - _MOST_CHANGES) or UNSET,
        reads_before=step.verdict.later_reads,
        read_by_before=step.verdict.earlier_reads,
        reasons=step.verdict.reasons or UNSET,
    )


def _range(partition: int, used: UsedRange) -> ReportedSchemaRange:
    first, last = used.first, used.last
    return ReportedSchemaRange(
        partition, used.records, first.offset, instant(first.timestamp), last.offset, instant(last.timestamp)
    )
