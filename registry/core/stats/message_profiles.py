"""Message profiles: the profile of one message, read by the reference; batches must give the same result."""

from __future__ import annotations

from typing import Any, NamedTuple

from cdc_contracts.registry.core.contract.model import Meaning
from cdc_contracts.registry.core.contract.table_contracts import table_name
from cdc_contracts.registry.core.message.reading import Reading, Row
from cdc_contracts.registry.core.stats.topic_profiles import (
    KAFKA_TIMESTAMP,
    PROCESS_TIME,
    ColumnProfile,
    LagLine,
    LagProfile,
    ProfiledTable,
    TableProfile,
    TopicProfiles,
    bucket_of,
    column_name,
)
from cdc_contracts.registry.core.validate.validation_context import ValidatedMessage
from cdc_contracts.registry.core.validate.verdicts import CONFORMING


class ProfiledImage(NamedTuple):
    """The pointer to the rows that a profile counts, and to those that complete them, if there are any."""

    source: str
    completed_from: str | None


def profiled_image(reading: Reading) -> ProfiledImage | None:
    """Return the image of a message that a profile counts: the row after the change, and of a DELETE the one before."""
    sides = reading.meaning.images.of(reading.op or "")
    for side in (sides.after, sides.before) if sides else ():
        source = reading.source(side) if side is not None else None
        if side is not None and source is not None:
            return ProfiledImage(source, side.completed_from if source == side.at else None)
    return None


def lag_until(meaning: Meaning) -> str | None:
    """Return up to which moment the lag of messages is counted; None if they do not say when the change was made."""
    if meaning.envelope.event_time is None:
        return None
    return KAFKA_TIMESTAMP if meaning.envelope.process_time is None else PROCESS_TIME


def text_of(value: Any, meaning: Meaning) -> str | None:
    """Return what a value says that was sent as text, without the name of its record; None if it was not."""
    if not isinstance(value, str):
        return None
    return value if meaning.transport == "json" else value.partition(" ")[2]


def profile_message(profiles: TopicProfiles, validated: ValidatedMessage, topic: str, timestamp: int | None) -> None:
    """Add the rows and the lag of a conforming message; `timestamp` is the one of Kafka, in microseconds."""
    reading, version = validated.reading, validated.verdict.version
    if validated.verdict.outcome != CONFORMING or reading is None or version is None:
        return
    until = lag_until(reading.meaning)
    if until is not None:
        made = reading.process_time.micros if until == PROCESS_TIME else timestamp
        profiles.add_lag(LagLine(topic, until), _lag_of_one(reading.event_time.micros, made))
    image, names = profiled_image(reading), reading.names
    rows = [] if image is None else _rows(reading, image)
    if not rows:
        return
    table = TableProfile()
    table.add_ops(reading.op or "", len(rows))
    for row in rows:
        for name, value in row.items():
            column = ColumnProfile()
            column.add_value(value, text_of(value, reading.meaning))
            table.add_columns({column_name(name): column})
    key = ProfiledTable(topic, table_name(names.database, names.schema, names.table), version.reference)
    profiles.add(key, table)


def _rows(reading: Reading, image: ProfiledImage) -> list[Row]:
    rows = reading.rows(image.source) or []
    below = (reading.rows(image.completed_from) or []) if image.completed_from is not None else []
    return [{**(below[place] if place < len(below) else {}), **row} for place, row in enumerate(rows)]


def _lag_of_one(event: int | None, made: int | None) -> LagProfile:
    if event is None or made is None:
        return LagProfile(messages=1, unknown=1)
    lag = made - event
    return LagProfile(1, 0, lag, lag, {bucket_of(lag): 1})
