"""Draft checks: whether a contract gives every row of the messages that it was drafted from, on every path."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from cdc_contracts.registry.authoring.drafting.message_members import SampleMessage
from cdc_contracts.registry.core.common.extras import has_extra
from cdc_contracts.registry.core.message.reading import Reading, non_column_members
from cdc_contracts.registry.core.records.input_files import RecordsWithoutArrow
from cdc_contracts.registry.core.validate.validation_context import ValidatedMessage, ValidationContext

_TOPIC: Final = "messages"
_Row = dict[str, str | None] | None


def find_lost_rows(
    validation: ValidationContext, validated: Sequence[tuple[SampleMessage, ValidatedMessage]]
) -> Iterator[tuple[str, str]]:
    """Yield the place of each message whose rows do not come out, and what is wrong with them."""
    by_batch = _decode(validation, [message for message, _ in validated])
    for number, (message, one) in enumerate(validated):
        reading, rows = one.reading, [(change.before, change.after) for change in one.changes]
        if reading is None or not reading.holds_rows:
            continue
        wrong = _is_wrong(reading, rows)
        if wrong is None and by_batch is not None and by_batch[number] != rows:
            wrong = "a batch that it is read in gives other rows than the message alone"
        if wrong is not None:
            yield message.place, wrong


def _is_wrong(reading: Reading, rows: Sequence[tuple[_Row, _Row]]) -> str | None:
    """Return what is wrong with the rows of a message, by what stands in its images."""
    sides = reading.images.before, reading.images.after
    for number, (name, side) in enumerate(zip(("before", "after"), sides, strict=True)):
        at = reading.source(side) if side is not None else None
        sent = _sent(reading, at) if at is not None else []
        decoded = [one for pair in rows if (one := pair[number]) is not None]
        if len(sent) != len(decoded):
            return f"{len(sent)} rows are at {at or 'the message'}, and {len(decoded)} come out {name} the change"
        for row, values in zip(sent, decoded, strict=True):
            lost = [
                name
                for name, value in row.items()
                if name not in values or (values[name] is None) is not (value is None)
            ]
            if lost:
                return f"the column {lost[0]} of {at or 'the message'} does not come out {name} the change"
    return None


def _sent(reading: Reading, at: str) -> list[dict[str, Any]]:
    """Return the rows of an image as they stand in the message, without values that the contract says were not sent."""
    value, hidden, absent = reading.at(at), non_column_members(reading.meaning, at), reading.stand_ins(at)
    rows = value if isinstance(value, list) else [value]
    return [
        {name: one for name, one in row.items() if name not in hidden and not (absent and absent.holds(one))}
        for row in rows
    ]


def _decode(validation: ValidationContext, messages: Sequence[SampleMessage]) -> list[list[tuple[_Row, _Row]]] | None:
    """Return the rows of messages as batches give them; None where what decodes batches is not installed."""
    if not has_extra("arrow"):
        return None
    import pyarrow as pa

    from cdc_contracts.registry.core.engine.kernel import Kernel
    from cdc_contracts.registry.core.records.file_batches import as_batch

    found: list[list[tuple[_Row, _Row]]] = [[] for _ in messages]
    batch = as_batch(RecordsWithoutArrow(_TOPIC, 0, list(range(len(messages))), [one.value for one in messages]))
    keys = pa.array([message.key for message in messages], pa.binary())
    batch = batch.set_column(batch.schema.get_field_index("key"), "key", keys)
    for written in Kernel(validation).decode(batch):
        columns = (written.changes.column(name).to_pylist() for name in ("offset", "before", "after"))
        for offset, before, after in zip(*columns, strict=True):
            found[offset].append((_as_row(before), _as_row(after)))
    return found


def _as_row(image: list[tuple[str, str | None]] | None) -> _Row:
    return None if image is None else dict(image)
