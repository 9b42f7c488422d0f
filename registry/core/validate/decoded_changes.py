"""Decoded changes: the changes or control message of a message under a version that fits, in canonical text."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from cdc_contracts.registry.core.common.json_structures import write_json
from cdc_contracts.registry.core.contract.image_model import Side
from cdc_contracts.registry.core.message.canonical_changes import Change, Control, Image
from cdc_contracts.registry.core.message.reading import Reading, Row, column_path
from cdc_contracts.registry.core.validate.form_selection import FormSelection, TypedColumns
from cdc_contracts.registry.core.validate.known_rows import completing_columns, is_completed, known_rows
from cdc_contracts.registry.core.values import KEPT_AS_SENT, BrokenValue, Flag


def control_of(reading: Reading) -> Control:
    """Return the control message of a message without rows."""
    names = reading.names
    return Control(
        kind=reading.op or "",
        tenant=names.tenant,
        database=names.database,
        schema=names.schema,
        table=names.table,
        ddl_text=reading.ddl_text,
        ddl_type=reading.ddl_type,
        event_time=reading.event_time.micros,
        process_time=reading.process_time.micros,
        position=reading.position,
        transaction=reading.transaction,
    )


def _complete(reading: Reading, side: Side | None, image: Image | None, types: dict[str, str] | None) -> bool | None:
    if image is None or side is None:
        return None
    if reading.is_of_key(side):
        return False
    if types is not None:
        return types.keys() <= image.keys()
    if is_completed(reading, side) and completing_columns(reading) is not None:
        return False
    return reading.source(side) not in reading.partly_sent


HALVES: Final = ("before", "after")
Kinds = dict[str, str]
"""The canonical kind of each column of an image."""


@dataclass(frozen=True, eq=False)
class ColumnKinds:
    """The canonical kind and the source type of each column of messages that are alike; one object for all of them."""

    kinds: Kinds
    types: dict[str, str]


ReadValue = Callable[[str, Any], tuple[str | None, int]]
"""Canonical text and flag of a value, by the name of its column; text of a kept value is as sent."""


def update_part(op: str, before: bool, after: bool) -> tuple[str, str | None]:  # noqa: FBT001
    """Return the canonical op of a row and which part of an update its message holds."""
    match op:
        case "update":
            return "update", "joined"
        case "update-before":
            return "update", "before"
        case "update-after":
            return "update", "joined" if before and after else "after"
        case _:
            return op, None


def placed_at(reading: Reading) -> str:
    """Return the pointer to the rows of a message: the after image, otherwise the before image."""
    for side in reversed(reading.sides):
        source = reading.source(side)
        if source is not None:
            return source
    return ""


def forms_of_values(reading: Reading, columns: TypedColumns, forms: FormSelection) -> dict[str, str]:
    """Return by path the names of the forms that the values of a message have to have."""
    names = {}
    for pointer in reading.row_places:
        for row in reading.rows(pointer) or ():
            for name, value in row.items():
                form = forms.form_of(columns, name, value)
                if form is not None:
                    names[column_path(reading, pointer, name)] = form.name
    return names


def decode_changes(reading: Reading, columns: TypedColumns, read_value: ReadValue) -> Iterator[Change]:
    """Yield the row changes of a message that fits."""
    before, after = _rows_of_sides(reading)
    op, part = update_part(reading.op or "", before is not None, after is not None)
    names, event, process = reading.names, reading.event_time, reading.process_time
    for index in range(len(before or after or ())):
        images_of_row = [_image(rows[index] if rows else None, read_value) for rows in (before, after)]
        (old, old_invalid), (new, new_invalid) = images_of_row
        yield Change(
            op=op,
            tenant=names.tenant,
            database=names.database,
            schema=names.schema,
            table=names.table,
            primary_key=reading.primary_key,
            before=old,
            after=new,
            before_complete=_complete(reading, reading.images.before, old, columns.types),
            after_complete=_complete(reading, reading.images.after, new, columns.types),
            changed=_changed(reading, index),
            column_types=columns.types,
            types_from=columns.origin,
            invalid=sorted(old_invalid | new_invalid),
            invalid_values=[
                *(f"before.{name}" for name in sorted(old_invalid)),
                *(f"after.{name}" for name in sorted(new_invalid)),
            ],
            event_time=event.micros,
            process_time=process.micros,
            event_time_text=event.text,
            position=reading.position,
            transaction=reading.transaction,
            update_part=part,
            pair_id=_pair_id(reading) if part in HALVES else None,
        )


def _rows_of_sides(reading: Reading) -> Iterator[list[Row] | None]:
    """Yield the rows before and after the change, as far as they are known; None for a side that the op has not."""
    for side in (reading.images.before, reading.images.after):
        yield known_rows(reading, side) if side else None


def value_kinds(reading: Reading, columns: TypedColumns, forms: FormSelection) -> list[tuple[Kinds, Kinds]]:
    """Return the canonical kinds of the values of each change that `decode_changes` yields, before and after."""
    before, after = _rows_of_sides(reading)
    pairs = [[rows[index] if rows else None for rows in (before, after)] for index in range(len(before or after or ()))]
    return [(_kinds(old, columns, forms), _kinds(new, columns, forms)) for old, new in pairs]


def _kinds(row: Row | None, columns: TypedColumns, forms: FormSelection) -> Kinds:
    found = {name: forms.form_of(columns, name, value) for name, value in (row or {}).items()}
    return {name: form.kind for name, form in found.items() if form is not None}


def value_reader(columns: TypedColumns, forms: FormSelection) -> ReadValue:
    """Return how the values of a message are read by the forms of its columns."""

    def read_value(name: str, value: Any) -> tuple[str | None, int]:
        form = forms.form_of(columns, name, value)
        if value is None or form is None:
            return None, Flag.OK
        try:
            read = form.read(value, forms.context_of_column(form, columns, name))
        except BrokenValue:
            return text_as_sent(value), Flag.INVALID
        return read.text, read.flag

    return read_value


def text_as_sent(value: Any) -> str:
    """Return the text of a value that its form does not take, which is kept as it was sent."""
    return value if isinstance(value, str) else write_json(value)


def _image(row: Row | None, read_value: ReadValue) -> tuple[Image | None, set[str]]:
    if row is None:
        return None, set()
    image: Image = {}
    invalid: set[str] = set()
    for name, value in row.items():
        image[name], flag = read_value(name, value)
        if flag in KEPT_AS_SENT:
            invalid.add(name)
    return image, invalid


def _changed(reading: Reading, index: int) -> list[str] | None:
    for side in reading.sides:
        if side.completed_from is None or not is_completed(reading, side):
            continue
        own, below = (reading.rows(side.at) or []), (reading.rows(side.completed_from) or [])
        if index < len(below) and not below[index].keys() <= own[index].keys():
            return sorted(own[index])
    return None


def _pair_id(reading: Reading) -> str | None:
    split_update = reading.meaning.split_update
    if split_update is None:
        return None
    facts = {"position": reading.position, "transaction": reading.transaction, "table": reading.names.table}
    parts = [facts[key] if key in facts else reading.at(key) for key in split_update.pair_by]
    return "\u0001".join(part for part in parts if isinstance(part, str)) or None
