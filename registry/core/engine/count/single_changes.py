"""Single changes: the row changes of one validated message, found without numpy and pyarrow."""

from __future__ import annotations

from typing import Final

from cdc_contracts.registry.core.engine.count.two_image_orders import TwoImageOrders
from cdc_contracts.registry.core.message.envelope_times import read_time
from cdc_contracts.registry.core.message.reading import Reading
from cdc_contracts.registry.core.stats.digests_without_arrow import RowDigests, digest_name, digest_row
from cdc_contracts.registry.core.stats.record_facts import Track, whole_number
from cdc_contracts.registry.core.stats.row_changes import RowChange, changes_of_rows
from cdc_contracts.registry.core.validate.rule_view import complete_rows
from cdc_contracts.registry.core.validate.validation_context import ValidatedMessage

_LARGEST: Final = 2**63 - 1


def changes_of_message(
    validated: ValidatedMessage,
    orders: TwoImageOrders,
    topic: str,
    offset: int,
    time: int,
    tables: dict[int, str | None],
) -> list[RowChange]:
    """Return the row changes of a message by both image orders; the name of their table is added to `tables`."""
    readings = orders.readings_of(validated)
    if not readings:
        return []
    first = readings[0]
    table = digest_name(topic, first.names.tenant, first.names.database, first.names.schema, first.names.table)
    images = [side for reading in readings for side in _images(reading)]
    moment = (time, _event_time(first), _position(first))
    changes = changes_of_rows(images, orders.kind_of(first.op), table, offset, moment)
    if changes:
        tables[table] = first.names.text
    return changes


def _images(reading: Reading) -> list[list[RowDigests] | None]:
    """Return the rows before and after the change."""
    key = reading.primary_key or ()
    found = [None if side is None else complete_rows(reading, side) for side in reading.images.completed]
    return [None if rows is None else [digest_row(row, key) for row in rows] for rows in found]


def _event_time(reading: Reading) -> int:
    """Return the event time of a message in microseconds; 0 if it has none."""
    place = reading.meaning.envelope.event_time
    if place is None:
        return 0
    return read_time(reading.place(place), place, reading.reading_options.zone("time_zone")).micros or 0


def _position(reading: Reading) -> int:
    """Return the position of a message; 0 if it has none that can be compared."""
    place = reading.meaning.envelope.position
    if place is None or place.order != "integer":
        return 0
    track = Track("", place.at or "", "", place.null_text, place.absent_value)
    number = whole_number(reading.place(place), track)
    return number if number is not None and abs(number) <= _LARGEST else 0
