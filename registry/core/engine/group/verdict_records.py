"""Verdict records: the records of one verdict, with their table, op, changes and statements to be counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cdc_contracts.registry.core.engine.group.batch_results import GroupResult
from cdc_contracts.registry.core.engine.group.observed_shapes import observed_kinds, observed_shapes
from cdc_contracts.registry.core.engine.layouts.batch_tables import Tables
from cdc_contracts.registry.core.records.record_batches import NO_TIMESTAMP, Batch
from cdc_contracts.registry.core.stats.ddl_statements import MOST_CHARACTERS, Statement
from cdc_contracts.registry.core.stats.finding_tallies import FindingKey, key_of
from cdc_contracts.registry.core.stats.partition_tallies import Moment, Source
from cdc_contracts.registry.core.stats.record_facts import DDL, canonical_op, shown_code
from cdc_contracts.registry.core.stats.reference_tally import kinds_of_one, value_of_one
from cdc_contracts.registry.core.validate.validation_context import ValidatedMessage
from cdc_contracts.registry.core.validate.verdicts import (
    CONFORMING,
    CONTROL,
    Verdict,
)

Numbers = NDArray[np.int64]


@dataclass(eq=False)
class VerdictRecords:
    """Records of one verdict with what findings observed; `shapes` and `kinds` have an entry per finding."""

    verdict: Verdict
    numbers: Numbers
    table: str | None
    op: str | None
    changes: int | Numbers
    shapes: Sequence[list[str] | None]
    kinds: Sequence[Counter[str] | None]
    statements: Iterable[Statement] = ()
    tables: Tables | None = None
    """The table of each record, where they are of several; nothing is found in such records."""

    @cached_property
    def keys(self) -> tuple[FindingKey, ...]:
        return tuple(key_of(finding, self.table) for finding in self.verdict.findings)

    @cached_property
    def canonical_op(self) -> str:
        """The canonical op, or ANY_OP if the code is unknown."""
        return canonical_op(self.verdict, self.op)

    @cached_property
    def code(self) -> str | None:
        """The op code, as far as it may be shown."""
        return shown_code(self.verdict, self.op)


@dataclass(eq=False, slots=True)
class PartitionRecords:
    """The records of one verdict in one partition, by their numbers in the batch and their offsets.

    `first` and `last` are the ends of their offsets, `span` those of their times in microseconds, `lasts` the last
    offset of each table, and under None of all tables.
    """

    verdict_records: VerdictRecords
    source: Source
    numbers: Numbers
    offsets: Numbers
    times: Numbers
    first: int
    last: int
    span: tuple[int, int] | None
    lasts: Mapping[str | None, int]


def records_of_group(group_result: GroupResult, batch: Batch, *, values: bool) -> VerdictRecords:
    """Return the counted records of one verdict, whether they are of one table or of many."""
    record_group, verdict = group_result.record_group, group_result.verdict
    index = group_result.place
    reading = record_group.cached_verdict.readings[index]
    changes: int | Numbers = 0
    if verdict.outcome == CONFORMING:
        source = record_group.cached_verdict.opinions[index].placed_at
        rows = record_group.decoded_batch.rows.get(source)  # none where a contract lets the row be missing
        changes = 0 if rows is None else rows.count[record_group.positions]
    tables = record_group.tables(index) if verdict.is_ours else None
    several = tables is not None and bool((tables.codes != tables.codes[0]).any())
    table = tables.called[int(tables.codes[0])] if tables is not None else None
    shapes = [observed_shapes(record_group, finding, values=values) for finding in verdict.findings]
    kinds = [observed_kinds(record_group, finding, values=values) for finding in verdict.findings]
    statements: list[Statement] = []
    if reading.op == DDL and verdict.outcome == CONTROL:
        for number, one in record_group.reread(index, batch.values):
            statements += _statement(batch, number, one.names.text, one.ddl_text)
    return VerdictRecords(
        verdict, record_group.numbers, table, reading.code, changes, shapes, kinds, statements,
        tables if several else None,
    )  # fmt: skip


def record_alone(number: int, validated: ValidatedMessage, batch: Batch, *, values: bool) -> VerdictRecords:
    """Return a single record that was validated individually, for counting."""
    verdict, control = validated.verdict, validated.control
    table = validated.table if verdict.is_ours else None
    shapes = [[value_of_one(one, validated)] if values else None for one in verdict.findings]
    kinds = [kinds_of_one(one, validated, show_values=values) for one in verdict.findings]
    is_statement = control is not None and validated.reading is not None and validated.reading.op == DDL
    statements = _statement(batch, number, table, control.ddl_text) if control and is_statement else []
    return VerdictRecords(
        verdict, np.array([number]), table, validated.code, len(validated.changes), shapes, kinds, statements
    )  # fmt: skip


def join_groups(groups: Sequence[VerdictRecords]) -> list[VerdictRecords]:
    """Return the counted records of groups, those of one table with the same verdict together.

    Records fall into a group for each set of broken forms, or of columns that they have, and most of these get one of
    few verdicts.
    """
    joined: list[VerdictRecords] = []
    alike: dict[Any, list[VerdictRecords]] = {}
    for one in groups:
        if one.tables is None:
            alike.setdefault((one.verdict, one.table, one.op), []).append(one)
        else:
            joined.append(one)
    return joined + [_join(ones) for ones in alike.values()]


def _join(ones: Sequence[VerdictRecords]) -> VerdictRecords:
    first = ones[0]
    if len(ones) == 1:
        return first
    changes = [np.broadcast_to(np.asarray(one.changes, np.int64), len(one.numbers)) for one in ones]
    shapes: list[list[str] | None] = []
    kinds: list[Counter[str] | None] = []
    for place, finding in enumerate(first.verdict.findings):
        by_group = [one.shapes[place] for one in ones]
        shapes.append(
            None
            if all(shape is None for shape in by_group)
            else [
                text
                for one, shape in zip(ones, by_group, strict=True)
                for text in ([finding.observed] * len(one.numbers) if shape is None else shape)
            ]
        )
        counted = [kind for one in ones if (kind := one.kinds[place])]
        kinds.append(sum(counted, Counter()) if counted else None)
    return replace(
        first,
        numbers=np.concatenate([one.numbers for one in ones]),
        changes=np.concatenate(changes),
        shapes=shapes,
        kinds=kinds,
        statements=[statement for one in ones for statement in one.statements],
    )


def _statement(batch: Batch, number: int, table: str | None, text: str | None) -> list[Statement]:
    if not text:
        return []
    source = batch.source(number)
    return [Statement(*moment_of(batch, source, number), table, text[:MOST_CHARACTERS])]


def moment_of(batch: Batch, source: Source, number: Any) -> Moment:
    """Return the coordinates and time of a record of a batch."""
    return Moment(*source, int(batch.offsets[number]), time_of(batch.timestamps[number]))


def time_of(timestamp: Any) -> int | None:
    """Return a Kafka timestamp in microseconds, None if there is none."""
    return None if timestamp == NO_TIMESTAMP else int(timestamp)
