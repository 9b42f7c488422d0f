"""Outputs by both paths, rows and numbers: as the kernel writes them, and as the reference tells them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Any

import pyarrow as pa
from counts import unlike_counts
from topics import Same

from cdc_contracts.registry.core.common.json_messages import Unreadable, parse_message
from cdc_contracts.registry.core.common.json_structures import write_json
from cdc_contracts.registry.core.engine.kernel import Kernel, Written
from cdc_contracts.registry.core.message.canonical_changes import Change, Control
from cdc_contracts.registry.core.records.output_schemas import CHANGES_SCHEMA, CONTROL_SCHEMA, QUARANTINE_SCHEMA
from cdc_contracts.registry.core.stats.observed_columns import ObservedColumns
from cdc_contracts.registry.core.stats.tally import Tally
from cdc_contracts.registry.core.validate.reference_validator import ReferenceValidator
from cdc_contracts.registry.core.validate.validation_context import ValidatedMessage, ValidationContext
from cdc_contracts.registry.core.validate.verdicts import QUARANTINED

OUTPUTS = {"changes": CHANGES_SCHEMA, "control": CONTROL_SCHEMA, "quarantine": QUARANTINE_SCHEMA}
INSTANT = pa.timestamp("us", tz="UTC")
HEADERS = pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))


@dataclass(frozen=True)
class ReferenceRow:
    """One row that the reference validator writes: its record, and the result of the record."""

    record: Mapping[str, Any]
    validated: ValidatedMessage
    row: Change | Control | None = None
    index: int = 0

    @property
    def contract(self) -> str | None:
        version = self.validated.verdict.version
        return None if version is None else version.reference


def findings_of(told: ReferenceRow) -> list[dict[str, str]]:
    return [
        {"rule": one.rule, "class": one.name, "severity": one.severity, "path": one.path,
         "expected": one.expected, "observed": one.observed}
        for one in told.validated.verdict.findings
    ]  # fmt: skip


def of_record(name: str) -> Callable[[ReferenceRow], Any]:
    return lambda told: told.record[name]


def of_row(name: str) -> Callable[[ReferenceRow], Any]:
    return lambda told: getattr(told.row, name)


COORDINATES = {name: of_record(name) for name in ("topic", "partition", "offset")}
COLUMNS: dict[str, dict[str, Callable[[ReferenceRow], Any]]] = {
    "changes": {
        **{one.name: of_row(one.name) for one in fields(Change)},
        **COORDINATES,
        "contract": lambda told: told.contract,
        "undecided": lambda told: told.validated.verdict.undecided,
        "row_index": lambda told: told.index,
        "kafka_timestamp": of_record("timestamp"),
        "kafka_key": of_record("key"),
    },
    "control": {
        **{one.name: of_row(one.name) for one in fields(Control)},
        **COORDINATES,
        "contract": lambda told: told.contract,
    },
    "quarantine": {
        **COORDINATES,
        "outcome": lambda told: told.validated.verdict.outcome,
        "contract": lambda told: told.contract,
        "findings": findings_of,
        "key": of_record("key"),
        "value": of_record("value"),
        "headers": of_record("headers"),
        "kafka_timestamp": of_record("timestamp"),
        "timestamp_type": of_record("timestampType"),
    },
}
"""What each column of each output holds, said once more; a column that is not here fails the test of all columns."""


def records_of(values: Sequence[bytes | None], keys: Sequence[bytes | None] | None = None) -> pa.RecordBatch:
    """Return values as a source hands them over, each with coordinates, a time, a key and headers of its own."""
    count = range(len(values))
    keys = [key_of(value, number) for number, value in enumerate(values)] if keys is None else keys
    headers = [[{"key": f"h{number}", "value": bytes([number % 256])}] for number in count]
    return pa.record_batch({
        "key": pa.array(keys, pa.binary()),
        "value": pa.array(values, pa.binary()),
        "topic": pa.array(["t" if number % 3 else "u" for number in count]),
        "partition": pa.array([number % 2 for number in count], pa.int32()),
        "offset": pa.array([7 * number for number in count], pa.int64()),
        "timestamp": pa.array([None if number % 7 == 0 else 1_700_000_000_000_000 + number for number in count], INSTANT),
        "timestampType": pa.array([number % 2 for number in count], pa.int32()),
        "headers": pa.array([None if number % 4 == 0 else headers[number] for number in count], HEADERS),
    })  # fmt: skip


def key_of(value: bytes | None, number: int) -> bytes | None:
    """Return a key for a value: in turn none, no JSON, the first column of its row, that with another value, and both.

    It is no JSON for a value without a row, too.
    """
    if number % 5 == 0:
        return None
    try:
        message = parse_message(value or b"")
    except Unreadable:
        message = {}
    whole, behind_a_block = message, "payload" in message
    message = message["payload"] if isinstance(message.get("payload"), dict) else message
    row = message if "record" in whole else message.get("after") or message.get("before")
    if message.keys() & {"__op", "__deleted"}:  # the message is the row
        row = {name: value for name, value in message.items() if not name.startswith("__")}
    if number % 5 == 1 or not isinstance(row, dict) or not row:
        return f"k{number}".encode()
    (name, first), *_ = row.items()
    key = [{name: first}, {name: str(number)}, {name: first, "renamed": None}][number % 5 - 2]
    return write_json({"payload": key} if behind_a_block else key).encode()


def within_a_batch(values: Sequence[bytes | None], keys: Sequence[bytes | None] | None = None) -> pa.RecordBatch:
    """Return values as a part of a batch, as sources and cuts hand them over."""
    return records_of((b"not of it", *values), None if keys is None else (b"nor this", *keys)).slice(1)


def by_kernel(kernel: Kernel, records: pa.RecordBatch) -> dict[str, pa.Table]:
    """Return the outputs of a batch as the kernel writes them."""
    return tables_of(list(kernel.decode(records)))


def tables_of(parts: Sequence[Written]) -> dict[str, pa.Table]:
    """Return the outputs of the parts of a batch."""
    return {name: pa.Table.from_batches([getattr(one, name) for one in parts], OUTPUTS[name]) for name in OUTPUTS}


def judged_by_reference(
    validation: ValidationContext, records: pa.RecordBatch
) -> list[tuple[dict[str, Any], ValidatedMessage]]:
    """Return each record, times as microseconds, with the result of the reference validator."""
    place = records.schema.get_field_index("timestamp")
    plain = records.set_column(place, "timestamp", records.column("timestamp").cast(pa.int64()))
    return [(record, ask_reference(validation, record["value"], record["key"])) for record in plain.to_pylist()]


def ask_reference(validation: ValidationContext, value: bytes | None, key: bytes | None) -> ValidatedMessage:
    """Return the result of the reference validator for one record, which is asked once of equal ones."""
    known = _results(Same(validation))
    if (value, key) not in known:
        known[value, key] = validation.validate(value, key)
    return known[value, key]


def looks_of_the_reference(monkeypatch) -> list[object]:
    """Return a list to which each message is added that a reference validator validates from now on."""
    looks, begin = list[object](), ReferenceValidator._begin

    def counted(self, message, key):
        looks.append(message)
        return begin(self, message, key)

    monkeypatch.setattr(ReferenceValidator, "_begin", counted)
    return looks


@lru_cache(4)
def _results(validation: Same) -> dict[tuple[bytes | None, bytes | None], ValidatedMessage]:
    """Return what the reference has said under a validation context, by value and key."""
    return {}


def reference_rows(validated: Iterable[tuple[dict[str, Any], ValidatedMessage]]) -> dict[str, list[ReferenceRow]]:
    """Return the rows of each output that the reference validator writes, in order of record and row."""
    told: dict[str, list[ReferenceRow]] = {name: [] for name in OUTPUTS}
    for record, one in validated:
        told["changes"] += (ReferenceRow(record, one, change, place) for place, change in enumerate(one.changes))
        if one.control is not None:
            told["control"].append(ReferenceRow(record, one, one.control))
        if one.verdict.outcome in QUARANTINED:
            told["quarantine"].append(ReferenceRow(record, one))
    return told


def by_reference(validation: ValidationContext, records: pa.RecordBatch) -> dict[str, list[ReferenceRow]]:
    """Return the rows of each output that the reference validator writes, in order of record and row."""
    return reference_rows(judged_by_reference(validation, records))


def expected_columns(name: str, told: Sequence[ReferenceRow]) -> Iterator[tuple[str, list[Any]]]:
    """Yield every column of an output's schema with the values it should hold, as `to_pylist` gives them."""
    for field in OUTPUTS[name]:
        yield field.name, pa.array([COLUMNS[name][field.name](one) for one in told], field.type).to_pylist()


def same(mine: list[tuple[str, Any]] | None, other: list[tuple[str, Any]] | None) -> bool:
    """Say whether maps have the same members: their order in an object says nothing."""
    return mine is not None and other is not None and sorted(mine, key=str) == sorted(other, key=str)


def unlike_columns(
    validation: ValidationContext, values: Sequence[bytes | None], kernel: Kernel | None = None,
    keys: Sequence[bytes | None] | None = None,
) -> list[str]:  # fmt: skip
    """Return what the kernel says otherwise than the reference.

    That is the columns of all outputs, each with the first row that is not the reference's; the columns that were
    sighted; and the counts. How columns are written is compared with a kernel of its own alone: one that has met a
    value without a layout does not look for layouts in that column again.
    """
    records = within_a_batch(values, keys)
    parts, validated = list((kernel or Kernel(validation)).decode(records)), judged_by_reference(validation, records)
    tally, observed = Tally(), ObservedColumns()
    for one in parts:
        tally.merge(one.tally)
        observed.merge(one.observed)
    return [
        *unlike_rows(validation, tables_of(parts), reference_rows(validated)),
        *unlike_counts(validation, tally, observed, validated, but=() if kernel is None else ("writing",)),
    ]


def coordinates_of(record: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(record[name] for name in COORDINATES)


def places_in_order(rows: pa.Table) -> list[int]:
    """Return the places of rows in order of their coordinates; those of one record stay in theirs."""
    columns = [rows.column(name).to_pylist() for name in COORDINATES]
    return sorted(range(len(rows)), key=lambda place: [column[place] for column in columns])


def unlike_rows(
    validation: ValidationContext, written: Mapping[str, pa.Table], told: Mapping[str, list[ReferenceRow]]
) -> list[str]:
    """Return the columns of outputs in which the rows written are not the rows told, each with the first row.

    Both are put in order of their coordinates, as a kernel does with a batch that several subjects have records in.
    """
    found = []
    told = {name: sorted(rows, key=lambda row: coordinates_of(row.record)) for name, rows in told.items()}
    for name, schema in OUTPUTS.items():
        if written[name].num_rows != len(told[name]):
            found.append(f"{validation.declared}: {name} has {written[name].num_rows} rows, not {len(told[name])}")
            continue
        places = places_in_order(written[name])
        for column, expected in expected_columns(name, told[name]):
            sent = written[name].column(column).to_pylist()
            mine = [sent[place] for place in places]
            is_map = pa.types.is_map(schema.field(column).type)
            pairs = zip(mine, expected, strict=True)
            unlike = [place for place, pair in enumerate(pairs) if pair[0] != pair[1] and not (is_map and same(*pair))]
            if unlike:
                place = unlike[0]
                found.append(
                    f"{validation.declared}: {name}.{column} in {len(unlike)} rows: {mine[place]!r:.500}, "
                    f"not {expected[place]!r:.500}, of {told[name][place].record['value']!r:.1500}"
                )
    return found
