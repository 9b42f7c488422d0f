"""Record evidence: the evidence in records as the kernel validates them, read once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final

import pyarrow as pa

from cdc_contracts.registry.core.common.garbage_collection import put_off_collection
from cdc_contracts.registry.core.engine.count.table_exclusion import exclude
from cdc_contracts.registry.core.engine.group.batch_results import BatchResult, GroupResult, RecordGroup
from cdc_contracts.registry.core.engine.group.opened_batches import open_wrapped
from cdc_contracts.registry.core.engine.kernel import Kernel
from cdc_contracts.registry.core.engine.write.output_writers import decode_rows
from cdc_contracts.registry.core.engine.write.row_columns import observe_columns, table_of
from cdc_contracts.registry.core.message.reading import Reading
from cdc_contracts.registry.core.records.record_batches import Batch, cut
from cdc_contracts.registry.core.stats.observed_columns import TableName
from cdc_contracts.registry.core.tables.inference.column_evidence import InferenceEvidence
from cdc_contracts.registry.core.tables.inference.column_observation import observe
from cdc_contracts.registry.core.validate.validation_context import ValidatedMessage
from cdc_contracts.registry.core.validate.verdicts import CONFORMING, QUARANTINED
from cdc_contracts.registry.core.values import Number

_KINDS: Final = {str: "text", bool: "boolean", int: "number", float: "number", bytes: "number", Number: "number"}


def infer_batches(
    batches: Iterable[pa.RecordBatch], kernel: Kernel, is_ended: Callable[[], bool] = lambda: False
) -> InferenceEvidence:
    """Return the evidence of the rows in batches; before each batch, whether the run has ended is checked."""
    total = InferenceEvidence()
    for records in kernel.gather(batches):
        if is_ended():
            break
        total.merge(collect_evidence(kernel, records))
    return total


def collect_evidence(kernel: Kernel, records: pa.RecordBatch) -> InferenceEvidence:
    """Return the evidence in a batch of records."""
    reading_options = kernel.validation.reading_options
    evidence = InferenceEvidence(read=records.num_rows)
    with put_off_collection():
        for batch in cut(records):
            if reading_options.wrapping is not None:
                batch, *closed = open_wrapped(batch, reading_options.wrapping)  # noqa: PLW2901  what it holds
                evidence.left_out += sum(len(part) for part, _ in closed)
            for part, batch_result in kernel.batch_results(batch.records):
                chosen = (
                    exclude(batch_result, part, reading_options.selection)[0]
                    if reading_options.selection
                    else batch_result
                )
                _take(evidence, part, chosen)
    return evidence


def _take(evidence: InferenceEvidence, batch: Batch, batch_result: BatchResult) -> None:
    evidence.merge(observe(decode_rows(batch_result, batch).changes))
    evidence.observed.merge(observe_columns(batch_result))
    evidence.left_out += len(batch_result.having(QUARANTINED))
    for table, mapping in _mappings_in(batch_result):
        if table in evidence.tables:
            evidence.tables[table].mappings.add(mapping)
    for table, column, kind in _kinds_in(batch_result):
        if table in evidence.tables and column in evidence.tables[table].columns:
            evidence.tables[table].columns[column].kinds.add(kind)


def _mappings_in(batch_result: BatchResult) -> Iterator[tuple[TableName, str]]:
    """Yield the value mapping that the rows of each table are read by."""
    for group_result in batch_result.group_results:
        if group_result.verdict.outcome == CONFORMING:
            cached_verdict = group_result.record_group.cached_verdict
            for place, opinion in enumerate(cached_verdict.opinions):
                if opinion.version is group_result.verdict.version:
                    for table in _tables_of(group_result.record_group, place):
                        yield table, cached_verdict.readings[place].mapping_name
    for _, validated in batch_result.alone:
        if validated.changes and validated.reading is not None:
            yield table_of(validated.reading), validated.reading.mapping_name


def _kinds_in(batch_result: BatchResult) -> Iterator[tuple[TableName, str, str]]:
    """Yield the JSON kinds of the values of columns without a type in messages."""
    for group_result in batch_result.group_results:
        if group_result.verdict.outcome == CONFORMING:
            yield from _kinds_of_result(group_result)
    for _, validated in batch_result.alone:
        if validated.changes and validated.reading is not None and validated.reading.types is None:
            yield from _kinds_of_one(validated, validated.reading)


def _kinds_of_result(group_result: GroupResult) -> Iterator[tuple[TableName, str, str]]:
    record_group = group_result.record_group
    tables = _tables_of(record_group, 0)
    for (pointer, index), values in record_group.columns.items():
        column = record_group.decoded_batch.rows[pointer].image.columns[index]
        if column.by_kind:
            for kind in {_KINDS[one] for one in set(map(type, values.values)) if one in _KINDS}:
                for table in tables:
                    yield table, column.name, kind


def _kinds_of_one(validated: ValidatedMessage, reading: Reading) -> Iterator[tuple[TableName, str, str]]:
    for source in map(reading.source, reading.sides):
        for row in (reading.rows(source) or ()) if source is not None else ():
            for name, value in row.items():
                if type(value) in _KINDS:
                    yield table_of(reading), name, _KINDS[type(value)]


def _tables_of(record_group: RecordGroup, version: int) -> list[TableName]:
    tables = record_group.tables(version)
    names = [tables.names[code] for code in tables.held()]
    return [TableName.of(one.database, one.schema, one.table) for one in names]
