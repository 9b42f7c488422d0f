"""Output writers: the rows of a validated batch, as record batches of `changes/`, `control/` and `quarantine/`.

Everything is collected over the whole batch first and turned into Arrow once, so that a topic of many tables costs
no more than one of a single table. Rows are in the order of the records.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from cdc_contracts.registry.core.engine.columns.row_images import sent_columns
from cdc_contracts.registry.core.engine.group.batch_results import BatchResult, GroupResult
from cdc_contracts.registry.core.engine.group.observed_shapes import observed_shapes
from cdc_contracts.registry.core.engine.group.row_facts import (
    NAMES,
    are_complete,
    changed_columns,
    find_invalid,
    no_values,
    pair_ids,
    spread_over_rows,
    texts_sent,
    times_of,
)
from cdc_contracts.registry.core.engine.write.change_rows import ChangeRows
from cdc_contracts.registry.core.engine.write.decoded_rows import DecodedRows
from cdc_contracts.registry.core.message.canonical_changes import Control
from cdc_contracts.registry.core.records.output_schemas import (
    CONTROL_SCHEMA,
    FINDING_TYPE,
    HEADERS_TYPE,
    INSTANT,
    QUARANTINE_SCHEMA,
)
from cdc_contracts.registry.core.records.record_batches import Batch, read_headers
from cdc_contracts.registry.core.validate.decoded_changes import HALVES, control_of, update_part
from cdc_contracts.registry.core.validate.verdicts import CONFORMING, CONTROL, QUARANTINED, Verdict


def decode_rows(batch_result: BatchResult, batch: Batch) -> DecodedRows:
    """Return the row changes of a validated batch, in order of record and row."""
    rows = ChangeRows()
    for group_result in batch_result.group_results:
        if group_result.verdict.outcome == CONFORMING:
            _add_group_result(rows, group_result)
    for number, validated in batch_result.alone:
        for index, change in enumerate(validated.changes):
            rows.add_change(number, index, change, validated.verdict)
    return rows.as_rows(batch_result.texts, batch)


def write_control(batch_result: BatchResult, batch: Batch) -> pa.RecordBatch:
    """Return the messages of a validated batch without rows (`CONTROL_SCHEMA`), in order of record."""
    found: list[tuple[int, str, Control]] = []
    for group_result in batch_result.group_results:
        if group_result.verdict.outcome == CONTROL and group_result.verdict.version is not None:
            reference = group_result.verdict.version.reference
            index = group_result.place
            for number, reading in group_result.record_group.reread(index, batch.values):
                found.append((number, reference, control_of(reading)))
    for number, validated in batch_result.alone:
        if validated.control is not None and validated.verdict.version is not None:
            found.append((number, validated.verdict.version.reference, validated.control))
    found.sort(key=lambda entry: entry[0])
    numbers = pa.array([number for number, _, _ in found], pa.int64())
    columns: dict[str, Any] = {"contract": [reference for _, reference, _ in found]}
    for name in Control.__slots__:
        columns[name] = [getattr(control, name) for _, _, control in found]
    return batch.fill(CONTROL_SCHEMA, columns, numbers, {})


def write_quarantine(batch_result: BatchResult, batch: Batch) -> pa.RecordBatch:
    """Return the records of a batch that do not conform, whole (`QUARANTINE_SCHEMA`), in order of record."""
    found: list[tuple[int, Verdict, list[dict[str, str]]]] = []
    for group_result in batch_result.group_results:
        verdict = group_result.verdict
        if verdict.outcome in QUARANTINED:
            shapes = [observed_shapes(group_result.record_group, finding) for finding in verdict.findings]
            plain = [finding.as_document() for finding in verdict.findings]
            for at, number in enumerate(group_result.record_group.numbers.tolist()):
                documents = [
                    one if shape is None else {**one, "observed": shape[at]}
                    for one, shape in zip(plain, shapes, strict=True)
                ]
                found.append((number, verdict, documents))
    for number, validated in batch_result.alone:
        if validated.verdict.outcome in QUARANTINED:
            documents = [finding.as_document() for finding in validated.verdict.findings]
            found.append((number, validated.verdict, documents))
    found.sort(key=lambda entry: entry[0])
    numbers = pa.array([number for number, _, _ in found], pa.int64())
    columns: dict[str, Any] = {
        "outcome": [verdict.outcome for _, verdict, _ in found],
        "contract": [verdict.version.reference if verdict.version else None for _, verdict, _ in found],
        "findings": pa.array([documents for _, _, documents in found], pa.list_(FINDING_TYPE)),
    }
    held = "headers" in batch.records.schema.names
    if held:
        columns["headers"] = read_headers(batch.records.column("headers").take(numbers))
    whole = {
        **({} if held else {"headers": pa.nulls(len(batch), HEADERS_TYPE)}),
        "key": batch.column("key", pa.binary()),
        "value": batch.column("value", pa.binary()),
        "kafka_timestamp": batch.column("timestamp", INSTANT),
        "timestamp_type": batch.column("timestampType", pa.int32()),
    }
    return batch.fill(QUARANTINE_SCHEMA, columns, numbers, whole)


def _add_group_result(rows: ChangeRows, group_result: GroupResult) -> None:
    """Add the rows of records that are decoded in the same way."""
    record_group, version = group_result.record_group, group_result.verdict.version
    if version is None:
        return
    index = group_result.place
    reading = record_group.cached_verdict.readings[index]
    sides = record_group.texts(index).sides(reading, record_group.positions)
    before, after = sides
    shown = before or after
    if shown is None:
        return
    total = len(shown.records)
    op, part = update_part(reading.op or "", before is not None, after is not None)
    origin, types = record_group.types(index)
    result = {
        "contract": version.reference, "undecided": group_result.verdict.undecided, "op": op,
        "primary_key": reading.primary_key, "column_types": types, "types_from": origin, "update_part": part,
    }  # fmt: skip
    rows.tables.append(record_group.tables(index).select(shown.records))
    for name, value in result.items():
        rows.group_results[name].append(value)
    rows.sizes.append(total)
    rows.numbers.append(record_group.numbers[shown.records])
    rows.within.append(shown.within)
    rows.before.add(before)
    rows.after.add(after)
    sent, record, nothing = sent_columns(sides), shown.records, no_values(total, pa.string())
    rows.add_facts("before_complete", are_complete(before, types, total, reading.columns_of_key(reading.images.before)))
    rows.add_facts("after_complete", are_complete(after, types, total))
    for name, facts in zip(("invalid", "invalid_values"), find_invalid(before, after, total), strict=True):
        rows.add_facts(name, facts)
    changed = changed_columns(shown.names, sent[1], sent[2]) if sent is not None else no_values(total, NAMES)
    rows.add_facts("changed", changed)
    envelope, zone = reading.meaning.envelope, reading.reading_options.zone("time_zone")
    for name, place in (("event_time", envelope.event_time), ("process_time", envelope.process_time)):
        micros, texts = times_of(record_group, place, zone)
        rows.add_facts(name, spread_over_rows(micros, record))
        if name == "event_time":
            rows.add_facts("event_time_text", spread_over_rows(texts, record))
    for name, place in (("position", envelope.position), ("transaction", envelope.transaction)):
        sent_texts = spread_over_rows(texts_sent(record_group, place), record) if place is not None else nothing
        rows.add_facts(name, sent_texts)
    rows.add_facts("pair_id", spread_over_rows(pair_ids(record_group, index), record) if part in HALVES else nothing)
