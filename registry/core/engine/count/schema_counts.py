"""Schema counts: the writer schemas that the records of a validated batch name, by table and partition."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cdc_contracts.registry.core.engine.group.verdict_records import Numbers, VerdictRecords
from cdc_contracts.registry.core.records.code_orders import order_by_code_and_offset
from cdc_contracts.registry.core.records.record_batches import NO_ID, Batch, SchemaIds
from cdc_contracts.registry.core.stats.schema_uses import KEY, VALUE, SchemaLine, SchemaUses, UsedRange


def count_schemas(uses: SchemaUses, found: Sequence[VerdictRecords], batch: Batch) -> None:
    """Count the ids in front of values and keys; records that were not read as messages name no table, and are not."""
    ids_of = {of: ids for of in (VALUE, KEY) if (ids := batch.schema_ids(of)) is not None}
    if not ids_of:
        return
    known: dict[str | None, int] = {}
    tables = np.full(len(batch), -1, np.int64)
    for one in found:
        if one.verdict.is_readable and one.tables is None:
            tables[one.numbers] = known.setdefault(one.table, len(known))
        elif one.verdict.is_readable and one.tables is not None:
            tables[one.numbers] = one.tables.numbered(known)
    for of, ids in ids_of.items():
        _count(uses, of, ids, tables, list(known), batch)


def _count(
    uses: SchemaUses, of: str, named: SchemaIds, tables: Numbers, called: Sequence[str | None], batch: Batch
) -> None:
    """Count the ids of values or of keys; the table of a record without one is -1."""
    numbers = np.flatnonzero((named.places != NO_ID) & (tables >= 0))
    if not len(numbers):
        return
    ids = named.ids
    codes = (batch.source_of[numbers] * len(called) + tables[numbers]) * len(ids) + named.places[numbers]
    order = order_by_code_and_offset(codes, batch.offsets[numbers])
    numbers, codes = numbers[order], codes[order]
    starts = np.flatnonzero(np.diff(codes, prepend=-1))
    ends = np.append(starts[1:], len(codes)) - 1
    firsts, lasts = batch.points(numbers[starts]), batch.points(numbers[ends])
    for code, count, first, last in zip(
        codes[starts].tolist(), (ends - starts + 1).tolist(), firsts, lasts, strict=True
    ):
        rest, place = divmod(code, len(ids))
        source, table = divmod(rest, len(called))
        topic, partition = batch.sources[source]
        uses.add(SchemaLine(topic, called[table], of), ids[place], partition, UsedRange(count, first, last))
