"""Emission: what a judged batch writes, as record batches of `changes/`, `control/` and `quarantine/`.

Everything is collected over the whole batch first and turned into Arrow once, so that a topic of many tables costs
no more than one of a single table. Rows come out in the order of the records.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cdc_contracts.registry.common.time_zones import Zone
from cdc_contracts.registry.contract.envelope_model import Place
from cdc_contracts.registry.engine.decoder_kinds import open_tokens
from cdc_contracts.registry.engine.fast_validator import BatchResult, GroupResult, RecordGroup
from cdc_contracts.registry.engine.observed_shapes import observed_shapes
from cdc_contracts.registry.engine.row_images import SideTexts, sent_columns
from cdc_contracts.registry.message.canonical_changes import Change, Control
from cdc_contracts.registry.message.envelope_times import EventTime, read_integer_times, read_time
from cdc_contracts.registry.message.reading import Reading, as_sent
from cdc_contracts.registry.records.output_schemas import (
    CHANGES_SCHEMA,
    CONTROL_SCHEMA,
    FINDING_TYPE,
    HEADERS_TYPE,
    QUARANTINE_SCHEMA,
)
from cdc_contracts.registry.records.record_batches import Batch, read_headers
from cdc_contracts.registry.validate.reference_validator import HALVES, control_of, update_part
from cdc_contracts.registry.validate.verdicts import CONFORMING, CONTROL, QUARANTINED, Verdict
from cdc_contracts.registry.values import Number

Places = NDArray[np.int64]

_INSTANT: Final = pa.timestamp("us", tz="UTC")
_PER_RULING: Final = (
    "contract", "undecided", "op", "tenant", "database", "schema", "table", "primary_key", "column_types",
    "types_from", "update_part",
)  # fmt: skip
_PER_ROW: Final = (
    "before_complete", "after_complete", "changed", "invalid", "invalid_values", "event_time", "event_time_text",
    "process_time", "position", "transaction", "pair_id",
)  # fmt: skip


def write_changes(batch_result: BatchResult, batch: Batch) -> pa.RecordBatch:
    """Return the row changes of a judged batch (`CHANGES_SCHEMA`), in order of record and row."""
    rows = _ChangeRows()
    for group_result in batch_result.group_results:
        if group_result.verdict.outcome == CONFORMING:
            _add_group_result(rows, group_result)
    for number, judged in batch_result.alone:
        for index, change in enumerate(judged.changes):
            rows.add_change(number, index, change, judged.verdict)
    return rows.as_batch(batch_result.texts, batch)


def write_control(batch_result: BatchResult, batch: Batch) -> pa.RecordBatch:
    """Return the messages of a judged batch that hold no row (`CONTROL_SCHEMA`), in order of record."""
    found: list[tuple[int, str, Control]] = []
    for group_result in batch_result.group_results:
        if group_result.verdict.outcome == CONTROL and group_result.verdict.version is not None:
            reference = group_result.verdict.version.reference
            index = group_result.place
            for number, reading in group_result.record_group.reread(index, batch.values):
                found.append((number, reference, control_of(reading)))
    for number, judged in batch_result.alone:
        if judged.control is not None and judged.verdict.version is not None:
            found.append((number, judged.verdict.version.reference, judged.control))
    found.sort(key=lambda entry: entry[0])
    numbers = pa.array([number for number, _, _ in found], pa.int64())
    columns: dict[str, Any] = {"contract": [reference for _, reference, _ in found]}
    for name in Control.__slots__:
        columns[name] = [getattr(control, name) for _, _, control in found]
    return _finish(columns, CONTROL_SCHEMA, batch, numbers, {})


def write_quarantine(batch_result: BatchResult, batch: Batch) -> pa.RecordBatch:
    """Return the records of a judged batch that do not conform, whole (`QUARANTINE_SCHEMA`), in order of record."""
    found: list[tuple[int, Verdict, list[dict[str, str]]]] = []
    for group_result in batch_result.group_results:
        verdict = group_result.verdict
        if verdict.outcome in QUARANTINED:
            shapes = [observed_shapes(group_result.record_group, finding) for finding in verdict.findings]
            plain = [_finding_document(finding) for finding in verdict.findings]
            for at, number in enumerate(group_result.record_group.numbers.tolist()):
                documents = [
                    one if shape is None else {**one, "observed": shape[at]}
                    for one, shape in zip(plain, shapes, strict=True)
                ]
                found.append((number, verdict, documents))
    for number, judged in batch_result.alone:
        if judged.verdict.outcome in QUARANTINED:
            documents = [_finding_document(finding) for finding in judged.verdict.findings]
            found.append((number, judged.verdict, documents))
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
        "kafka_timestamp": batch.column("timestamp", _INSTANT),
        "timestamp_type": batch.column("timestampType", pa.int32()),
    }
    return _finish(columns, QUARANTINE_SCHEMA, batch, numbers, whole)


@dataclass
class _Images:
    """The images of one side over all rows so far: where each text is, under which name, how many to a row."""

    places: list[Places] = field(default_factory=list)
    names: list[Places] = field(default_factory=list)
    counts: list[Places] = field(default_factory=list)
    known: dict[str, int] = field(default_factory=dict)
    spelled: list[tuple[str, str | None]] = field(default_factory=list)

    def add(self, side: SideTexts | None, rows: int) -> None:
        if side is None:
            self.counts.append(np.full(rows, -1, np.int64))
            return
        ids = np.array([self._name(name) for name in side.names], np.int64)
        if side.present.all():
            self.places.append(side.places.ravel())
            self.names.append(np.tile(ids, rows))
            self.counts.append(np.full(rows, len(ids), np.int64))
        else:
            self.places.append(side.places[side.present])
            self.names.append(np.broadcast_to(ids, side.present.shape)[side.present])
            self.counts.append(side.present.sum(axis=1))

    def add_one(self, image: dict[str, str | None] | None, texts: list[str | None], base: int) -> None:
        if image is None:
            self.counts.append(np.array([-1]))
            return
        self.places.append(np.arange(len(image)) + base + len(texts))
        self.names.append(np.array([self._name(name) for name in image], np.int64))
        self.counts.append(np.array([len(image)]))
        texts.extend(image.values())

    def as_array(self, texts: pa.Array, order: Places) -> pa.Array:
        """Return the images in the order of the rows."""
        counts = _joined(self.counts)
        held = np.maximum(counts, 0)
        starts = (np.cumsum(held) - held)[order]
        counts, held = counts[order], held[order]
        offsets = np.concatenate([[0], np.cumsum(held)])
        chosen = np.arange(offsets[-1]) + np.repeat(starts - offsets[:-1], held)
        names = pa.array(list(self.known), pa.string()).take(pa.array(_joined(self.names)[chosen]))
        items = texts.take(pa.array(_joined(self.places)[chosen]))
        missing = np.append(counts < 0, False)
        return pa.MapArray.from_arrays(pa.array(offsets.astype(np.int32), mask=missing), names, items)

    def _name(self, name: str) -> int:
        return self.known.setdefault(name, len(self.known))


@dataclass
class _ChangeRows:
    """Row changes of a batch, collected column by column."""

    numbers: list[Places] = field(default_factory=list)
    within: list[Places] = field(default_factory=list)
    group_results: dict[str, list[Any]] = field(default_factory=lambda: {name: [] for name in _PER_RULING})
    sizes: list[int] = field(default_factory=list)
    rows: dict[str, list[Any]] = field(default_factory=lambda: {name: [] for name in _PER_ROW})
    before: _Images = field(default_factory=_Images)
    after: _Images = field(default_factory=_Images)
    own_texts: list[str | None] = field(default_factory=list)
    own: list[tuple[_Images, dict[str, str | None] | None]] = field(default_factory=list)

    def add_change(self, number: int, index: int, change: Change, verdict: Verdict) -> None:
        """Add one row that the reference decoded."""
        self.numbers.append(np.array([number]))
        self.within.append(np.array([index]))
        self.sizes.append(1)
        reference = verdict.version.reference if verdict.version else ""
        for name in _PER_RULING:
            value = {"contract": reference, "undecided": verdict.undecided}.get(name, getattr(change, name, None))
            self.group_results[name].append(value)
        for name in _PER_ROW:
            self.rows[name].append(getattr(change, name))
        self.own += [(self.before, change.before), (self.after, change.after)]

    def as_batch(self, texts: pa.Array, batch: Batch) -> pa.RecordBatch:
        """Return the rows as Arrow, in order of record and row."""
        for images, image in self.own:
            images.add_one(image, self.own_texts, len(texts))
        if self.own_texts:
            texts = pa.concat_arrays([texts, pa.array(self.own_texts, pa.string())])
        numbers, within = _joined(self.numbers), _joined(self.within)
        order = np.lexsort((within, numbers))
        ordered = pa.array(order)
        spread = pa.array(np.repeat(np.arange(len(self.sizes)), self.sizes)[order])
        columns: dict[str, Any] = {
            name: pa.array(values, CHANGES_SCHEMA.field(name).type).take(spread)
            for name, values in self.group_results.items()
        }
        for name, values in self.rows.items():
            columns[name] = pa.array(values, CHANGES_SCHEMA.field(name).type).take(ordered)
        columns["before"] = self.before.as_array(texts, order)
        columns["after"] = self.after.as_array(texts, order)
        columns["row_index"] = pa.array(within[order], pa.int32())
        taken = {
            "kafka_timestamp": batch.column("timestamp", _INSTANT),
            "kafka_key": batch.column("key", pa.binary()),
        }
        return _finish(columns, CHANGES_SCHEMA, batch, pa.array(numbers[order]), taken)


def _add_group_result(rows: _ChangeRows, group_result: GroupResult) -> None:
    """Add the rows of records that are decoded alike."""
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
    names = reading.names
    result = {
        "contract": version.reference, "undecided": group_result.verdict.undecided, "op": op, "tenant": names.tenant,
        "database": names.database, "schema": names.schema, "table": names.table, "primary_key": reading.primary_key,
        "column_types": types, "types_from": origin, "update_part": part,
    }  # fmt: skip
    for name, value in result.items():
        rows.group_results[name].append(value)
    rows.sizes.append(total)
    rows.numbers.append(record_group.numbers[shown.records])
    rows.within.append(shown.within)
    rows.before.add(before, total)
    rows.after.add(after, total)
    rows.rows["before_complete"] += _complete(before, types, total)
    rows.rows["after_complete"] += _complete(after, types, total)
    columns, values = _invalid(before, after, total)
    rows.rows["invalid"] += columns
    rows.rows["invalid_values"] += values
    sent = sent_columns(sides)
    rows.rows["changed"] += [None] * total if sent is None else _changed(shown.names, sent[1], sent[2])
    record = shown.records
    envelope, zone = reading.meaning.envelope, reading.reading_options.zone("time_zone")
    for name, place in (("event_time", envelope.event_time), ("process_time", envelope.process_time)):
        micros, texts = _times(record_group, place, zone)
        rows.rows[name] += _spread(micros, record)
        if name == "event_time":
            rows.rows["event_time_text"] += _spread(texts, record)
    for name, place in (("position", envelope.position), ("transaction", envelope.transaction)):
        rows.rows[name] += _spread(_sent(record_group, place), record)
    rows.rows["pair_id"] += _spread(_pair_ids(record_group, reading), record) if part in HALVES else [None] * total


def _complete(side: SideTexts | None, types: dict[str, str] | None, rows: int) -> list[bool | None]:
    if side is None:
        return [None] * rows
    if types is None:
        return [True] * rows
    if not types.keys() <= set(side.names):
        return [False] * rows
    typed = [index for index, name in enumerate(side.names) if name in types]
    complete: list[bool | None] = np.all(side.present[:, typed], axis=1).tolist()
    return complete


def _invalid(before: SideTexts | None, after: SideTexts | None, rows: int) -> tuple[list[list[str]], list[list[str]]]:
    """Return per row the columns kept as text, and the values of each image that are."""
    columns: list[list[str]] = [[] for _ in range(rows)]
    values: list[list[str]] = [[] for _ in range(rows)]
    for name, side in (("before", before), ("after", after)):
        if side is not None and side.invalid.any():
            order = sorted(range(len(side.names)), key=side.names.__getitem__)
            for row, column in zip(*np.nonzero(side.invalid[:, order]), strict=True):
                result = side.names[order[column]]
                values[row].append(f"{name}.{result}")
                if result not in columns[row]:
                    columns[row].append(result)
    return [sorted(names) if names else names for names in columns], values


def _changed(names: Sequence[str], sent: NDArray[np.bool_], partial: NDArray[np.bool_]) -> list[list[str] | None]:
    order = sorted(range(len(names)), key=names.__getitem__)
    named = [names[index] for index in order]
    known: dict[bytes, list[str]] = {}
    bits = np.packbits(sent[:, order], axis=1)
    changed: list[list[str] | None] = []
    for row, is_partial in enumerate(partial.tolist()):
        if not is_partial:
            changed.append(None)
            continue
        key = bits[row].tobytes()
        if key not in known:
            known[key] = [name for name, held in zip(named, sent[row, order].tolist(), strict=True) if held]
        changed.append(known[key])
    return changed


def _times(
    record_group: RecordGroup, place: Place | None, zone: Zone | None
) -> tuple[Sequence[int | None], Sequence[str | None]]:
    """Return the moments of the records, and the texts of those that a moment does not say in full."""
    nothing = [None] * len(record_group.positions)
    values = record_group.member(place.at) if place is not None else None
    if place is None or values is None:
        return nothing, nothing
    whole = read_integer_times(values, place) if set(map(type, values)) == {int} else None
    if whole is not None:
        return whole, nothing
    known: dict[Any, EventTime] = {}
    for value, parsed in zip(values, _as_parsed(values), strict=True):
        if value not in known:
            known[value] = read_time(parsed, place, zone)
    times = [known[value] for value in values]
    return [time.micros for time in times], [time.text for time in times]


def _sent(record_group: RecordGroup, place: Place | None) -> list[str | None]:
    if place is None:
        return [None] * len(record_group.positions)
    return [as_sent(value, place) for value in _as_parsed(record_group.member(place.at) or ())]


def _pair_ids(record_group: RecordGroup, reading: Reading) -> list[str | None]:
    halves = reading.meaning.halves
    if halves is None:
        return [None] * len(record_group.positions)
    envelope = reading.meaning.envelope
    parts: list[Iterable[str | None]] = []
    for key in halves.pair_by:
        if key == "table":
            parts.append([reading.names.table] * len(record_group.positions))
        else:
            place = {"position": envelope.position, "transaction": envelope.transaction}.get(key) or Place(at=key)
            parts.append(_sent(record_group, place))
    joined = ["\u0001".join(text for text in texts if text is not None) for texts in zip(*parts, strict=True)]
    return [text or None for text in joined]


def _as_parsed(values: Sequence[Any]) -> Iterator[Any]:
    """Yield members as the strict parser makes them, whatever lane they came by."""
    raw = iter(open_tokens([value for value in values if type(value) is bytes]))
    for value in values:
        yield next(raw) if type(value) is bytes else Number(str(value)) if type(value) is int else value


def _spread(values: Sequence[Any], records: Places) -> list[Any]:
    """From one value per record to one per row."""
    if len(values) == len(records) and (not len(records) or records[-1] == len(values) - 1):
        return list(values)
    return [values[record] for record in records]


def _finding_document(finding: Any) -> dict[str, str]:
    return {
        "rule": finding.rule,
        "class": finding.name,
        "severity": finding.severity,
        "path": finding.path,
        "expected": finding.expected,
        "observed": finding.observed,
    }


def _joined(parts: list[Places]) -> Places:
    return np.concatenate(parts) if parts else np.zeros(0, np.int64)


def _finish(
    columns: dict[str, Any], schema: pa.Schema, batch: Batch, numbers: pa.Array, taken: dict[str, pa.Array]
) -> pa.RecordBatch:
    """Add the coordinates of the records, and what is taken from them as it is; order the columns by the schema."""
    coordinates: dict[str, Callable[[], pa.Array]] = {
        "topic": lambda: batch.column("topic", pa.string()),
        "partition": lambda: batch.column("partition", pa.int32()),
        "offset": lambda: batch.column("offset", pa.int64()),
    }
    arrays = []
    for wanted in schema:
        if wanted.name in columns:
            column = columns[wanted.name]
            arrays.append(column if isinstance(column, pa.Array) else pa.array(column, wanted.type))
        elif wanted.name in taken:
            arrays.append(taken[wanted.name].take(numbers))
        else:
            arrays.append(coordinates[wanted.name]().take(numbers))
    return pa.RecordBatch.from_arrays(arrays, schema=schema)
