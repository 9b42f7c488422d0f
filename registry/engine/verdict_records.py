"""Verdict records: the records of one verdict, with their table, op, changes and statements to be counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from cdc_contracts.registry.contract.known_codes import show_known
from cdc_contracts.registry.contract.table_contracts import table_name
from cdc_contracts.registry.engine.batch_results import GroupResult
from cdc_contracts.registry.engine.observed_shapes import observed_code, observed_kinds, observed_shapes
from cdc_contracts.registry.message.reading import Reading
from cdc_contracts.registry.records.record_batches import NO_TIMESTAMP, Batch
from cdc_contracts.registry.stats.ddl_statements import MOST_CHARACTERS, Statement
from cdc_contracts.registry.stats.finding_onsets import ANY_OP
from cdc_contracts.registry.stats.finding_tallies import FindingKey, key_of
from cdc_contracts.registry.stats.partition_tallies import Moment, Source
from cdc_contracts.registry.stats.record_facts import DDL
from cdc_contracts.registry.validate.validation_context import JudgedMessage
from cdc_contracts.registry.validate.verdicts import CONFORMING, CONTROL, OTHER_DIALECT, TOMBSTONE, UNREADABLE, Verdict

Numbers = NDArray[np.int64]

_FEW: Final = 8
"""Up to so many records of a table are counted together with those of others."""


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
    tables: Sequence[str | None] = ()
    """The table of each record, where they are of several; nothing is found in such records."""

    @cached_property
    def keys(self) -> tuple[FindingKey, ...]:
        return tuple(key_of(finding, self.table) for finding in self.verdict.findings)

    @cached_property
    def canonical_op(self) -> str:
        """The canonical op, or ANY_OP if the code is unknown."""
        version = self.verdict.version
        if version is None or self.op is None or not self.readable:
            return ANY_OP
        return version.meaning.ops.get(self.op, ANY_OP)

    @cached_property
    def code(self) -> str | None:
        """The op code, as far as it may be shown."""
        version = self.verdict.version
        return None if version is None or self.op is None else show_known(self.op, version)

    @property
    def readable(self) -> bool:
        return self.verdict.outcome not in (TOMBSTONE, UNREADABLE, OTHER_DIALECT)


@dataclass(eq=False)
class PartitionRecords:
    """The records of one verdict in one partition, by their numbers in the batch and their offsets."""

    verdict_records: VerdictRecords
    source: Source
    numbers: Numbers
    offsets: Numbers
    times: Numbers
    tables: Sequence[str | None] = ()

    @cached_property
    def lasts(self) -> dict[str | None, int]:
        """The last offset of each table, and under None of all tables."""
        if not self.verdict_records.readable:
            return {None: self.last}
        if not self.tables:
            return {self.verdict_records.table: self.last, None: self.last}
        found: dict[str | None, int] = {}
        for table, offset in zip(self.tables, self.offsets.tolist(), strict=True):
            if offset >= found.get(table, offset):
                found[table] = offset
        return found | {None: self.last}

    @cached_property
    def first(self) -> int:
        return int(self.offsets.min())

    @cached_property
    def last(self) -> int:
        return int(self.offsets.max())


def gather_tables(group_results: Sequence[GroupResult]) -> list[list[GroupResult]]:
    """Group results of few records without findings that differ only in the table."""
    found: dict[Any, list[GroupResult]] = {}
    for group_result in group_results:
        record_group, verdict = group_result.record_group, group_result.verdict
        joins = not verdict.findings and len(record_group.positions) <= _FEW
        key = (
            (
                id(record_group.decoded_batch),
                id(record_group.cached_verdict.like or record_group.cached_verdict),
                id(verdict),
            )
            if joins
            else id(group_result)
        )
        found.setdefault(key, []).append(group_result)
    return list(found.values())


def join_results(group_results: Sequence[GroupResult], batch: Batch, *, values: bool) -> VerdictRecords:
    """Return the records of one verdict for counting, whether they are of one table or of many."""
    first = group_results[0]
    if len(group_results) == 1:
        return _records_of_group(first, batch, values=values)
    positions = [group_result.record_group.positions for group_result in group_results]
    result = _records_of_group(
        GroupResult(first.verdict, replace(first.record_group, positions=np.concatenate(positions))),
        batch,
        values=values,
    )
    if is_ours(first.verdict):
        index = _place_of(first)
        result.tables = [
            table
            for group_result, mine in zip(group_results, positions, strict=True)
            for table in [_table_of(group_result.record_group.cached_verdict.readings[index])] * len(mine)
        ]
    return result


def _place_of(group_result: GroupResult) -> int:
    opinions = group_result.record_group.cached_verdict.opinions
    return next((at for at, opinion in enumerate(opinions) if opinion.version is group_result.verdict.version), -1)


def _table_of(reading: Reading) -> str | None:
    names = reading.names
    return table_name(names.database, names.schema, names.table)


def _records_of_group(group_result: GroupResult, batch: Batch, *, values: bool) -> VerdictRecords:
    record_group, verdict = group_result.record_group, group_result.verdict
    index = _place_of(group_result)
    reading = record_group.cached_verdict.readings[index]
    changes: int | Numbers = 0
    if verdict.outcome == CONFORMING:
        source = record_group.cached_verdict.opinions[index].placed_at
        changes = record_group.decoded_batch.rows[source].count[record_group.positions]
    table = _table_of(reading) if is_ours(verdict) else None
    shapes = [observed_shapes(record_group, finding, values=values) for finding in verdict.findings]
    kinds = [observed_kinds(record_group, finding, values=values) for finding in verdict.findings]
    statements: list[Statement] = []
    if reading.op == DDL and verdict.outcome == CONTROL:
        for number, one in record_group.reread(index, batch.values):
            statements += _statement(batch, number, _table_of(one), one.ddl_text)
    return VerdictRecords(verdict, record_group.numbers, table, reading.code, changes, shapes, kinds, statements)


def record_alone(number: int, judged: JudgedMessage, batch: Batch, *, values: bool) -> VerdictRecords:
    """Return a single record that was validated individually, for counting."""
    verdict, control = judged.verdict, judged.control
    table = judged.table if is_ours(verdict) else None
    nothing = [None] * len(verdict.findings)
    shapes: list[list[str] | None] = list(nothing)
    if values and judged.reading is not None:
        codes = (observed_code(judged.reading, one) if one.name == "unknown-enum" else None for one in verdict.findings)
        shapes = [None if code is None else [code] for code in codes]
    is_statement = control is not None and judged.reading is not None and judged.reading.op == DDL
    statements = _statement(batch, number, table, control.ddl_text) if control and is_statement else []
    return VerdictRecords(
        verdict, np.array([number]), table, judged.code, len(judged.changes), shapes, nothing, statements
    )  # fmt: skip


def is_ours(verdict: Verdict) -> bool:
    """Return whether the records were read as messages of the validated subject."""
    return verdict.outcome not in (UNREADABLE, OTHER_DIALECT)


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
