"""Generated topics of DTS changes with known truth: what each message did to its rows, in whichever version."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cache
from random import Random

from record_batches import batch_of
from topics import SCENARIOS as CATALOGUE
from written_reports import build_report

from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.validate.validation_context import ValidationContext, open_validation

OLD, NEW = "dts/canal@1", "dts/canal@2"
FULL, CHANGED_IN_OLD, CHANGED_IN_DATA = "full", "changed columns in old", "changed columns in data"
_START = 1_760_000_000_000


@cache
def scope_of(reference: str) -> ValidationContext:
    return open_validation(CATALOGUE, reference, ReadingOptions())


@dataclass
class Topic:
    """Values by partition, and the rows that each message really changed: pairs of before and after by place."""

    partitions: list[list[bytes]]
    truth: dict[tuple[int, int], list[tuple[dict[str, str] | None, dict[str, str] | None]]] = field(
        default_factory=dict
    )


@dataclass(frozen=True)
class Habits:
    """How a topic behaves; shares are of messages. `words` are the states rows go through, None for ever new ones."""

    messages: int = 300
    keys: int = 12
    partitions: int = 1
    deletes: float = 0.0
    images: str = FULL
    resends: float = 0.0
    strays: float = 0.0
    late: float = 0.0
    several: float = 0.0
    key_changes: float = 0.0
    untouched: float = 0.0
    words: int | None = None


def make_topic(seed, habits, version_at):
    """Return a topic; `version_at` gives the version of a message by the share of the topic before it."""
    draw = Random(seed)
    topic = Topic([[] for _ in range(habits.partitions)])
    rows: dict[str, dict[str, str]] = {}
    said: list[list[tuple[bytes, list]]] = [[] for _ in topic.partitions]
    number = 0
    while number < habits.messages:
        version = version_at(number)
        place = draw.randrange(habits.partitions)
        keys = [f"{key}" for key in range(habits.keys) if key % habits.partitions == place]
        number += 1
        if said[place] and draw.random() < habits.resends:
            for value, changes in said[place][-draw.randint(1, 8) :]:
                _say(topic, place, value, changes)
            continue
        if said[place] and draw.random() < habits.strays:
            _say(topic, place, *draw.choice(said[place]))
            continue
        changes = [_change(draw, habits, rows, draw.choice(keys), number)]
        if changes[0][0] and changes[0][1] and draw.random() < habits.several:
            others = [key for key in keys if key in rows and key != changes[0][1]["id"]]
            if others:
                changes.append(_change(draw, habits, rows, draw.choice(others), number, only_update=True))
        value = render(number, changes, version, habits.images)
        said[place].append((value, changes))
        _say(topic, place, value, changes)
    for place, values in enumerate(topic.partitions):
        for at in range(len(values) - 1):
            if draw.random() < habits.late:  # two messages of a partition change places
                values[at], values[at + 1] = values[at + 1], values[at]
                reported = topic.truth
                reported[place, at], reported[place, at + 1] = reported[place, at + 1], reported[place, at]
    return topic


def _say(topic, place, value, changes):
    topic.truth[place, len(topic.partitions[place])] = changes
    topic.partitions[place].append(value)


def _change(draw, habits, rows, key, number, *, only_update=False):
    row = rows.get(key)
    if row is None:
        rows[key] = {"id": key, "name": _word(draw, habits, None, number), "size": str(draw.randint(0, 3))}
        return None, rows[key]
    if not only_update and draw.random() < habits.deletes:
        return rows.pop(key), None
    if draw.random() < habits.untouched:
        return row, row
    after = {**row, "name": _word(draw, habits, row["name"], number)}
    if not only_update and draw.random() < habits.key_changes:
        after["id"] = str(1000 + number)
        del rows[key]
        rows[after["id"]] = after
        return row, after
    rows[key] = after
    return row, after


def _word(draw, habits, before, number):
    if habits.words is None:
        return f"n{number}-{draw.randint(0, 9)}"
    if before is None:
        return "s0"
    return f"s{(int(before[1:]) + 1) % habits.words}"


def render(number, changes, version, images):
    """Return the one message of some changes of one kind, as a version writes them."""
    befores, afters = [before for before, _ in changes], [after for _, after in changes]
    if befores[0] is None:
        kind, data, old = "INSERT", afters, None
    elif afters[0] is None:
        kind, data, old = "DELETE", *((befores, None) if version == NEW else (None, befores))
    else:
        kind, data, old = "UPDATE", *((afters, befores) if version == NEW else (befores, afters))
        if images == CHANGED_IN_OLD:
            old = [_changed(row, other) for row, other in zip(old, data, strict=True)]
        elif images == CHANGED_IN_DATA and version == OLD:
            data = [_changed(row, other) for row, other in zip(data, old, strict=True)]
        elif images == CHANGED_IN_DATA:
            old = [_changed(row, other) for row, other in zip(old, data, strict=True)]
    return json.dumps({
        "database": "shop", "table": "orders", "type": kind, "isDdl": False, "id": number, "es": _START + 1000 * number,
        "ts": _START + 1000 * number + 9, "sql": "", "sqlType": {"id": -5, "name": 12, "size": 4},
        "mysqlType": {"id": "bigint", "name": "varchar", "size": "int"}, "pkNames": ["id"], "data": data, "old": old,
    }).encode()  # fmt: skip


def _changed(row, other):
    return {name: value for name, value in row.items() if other[name] != value} or dict(row)


def records(values, *, topic="orders", partition=0, start=0):
    """Records of one partition, as a source hands them over; None among the values leaves a gap."""
    reported = [(offset, value) for offset, value in enumerate(values, start) if value is not None]
    placed = [(partition, offset, value) for offset, value in reported]
    return batch_of(placed, topic=topic, time=lambda offset: 1_760_000_000_000_000 + offset)


def report_of(tally, contract, fail_on="warning"):
    source = {"kind": "file", "paths": [], "blank_lines": 0}
    return build_report(tally, catalogue=CATALOGUE, contract=contract, source=source, spans={}, fail_on=fail_on)
