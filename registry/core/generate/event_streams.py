"""Event streams: logical events of one table as a source might produce them, the same for the same seed."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator, Mapping
from datetime import date, timedelta
from functools import lru_cache
from random import Random
from typing import Any, Final

from cdc_contracts.registry.core.contract.type_families import family_of
from cdc_contracts.registry.core.generate.source_events import Event, SourceTable
from cdc_contracts.registry.core.message.canonical_changes import Image
from cdc_contracts.registry.core.values.source_types import SourceType, parse_source_type
from cdc_contracts.registry.core.values.type_bounds import bound_of

ORDERS: Final = SourceTable(
    name="orders",
    types={
        "id": "bigint unsigned", "customer": "varchar(60)", "total": "decimal(20,2)", "rate": "double",
        "quantity": "int", "flags": "bit(8)", "note": "text", "day": "date", "at": "time(3)", "made": "datetime(3)",
        "seen": "timestamp(6)", "photo": "blob",
    },
    primary_key=("id",),
    database="shop",
)  # fmt: skip
"""Twelve columns, one of each family of types."""

_Pools = tuple[tuple[str, tuple[str | None, ...]], ...]

_FIRST_EVENT: Final = 1_718_000_000_000_000
_FIRST_ID: Final = 10_000
_EVENTS_A_SECOND: Final = 200
_MOST_LIVE: Final = 5000
_POOL: Final = 509
_NULL_SHARE: Final = 0.04
_INSERTS, _UPDATES = 0.40, 0.50
_KEY_CHANGES: Final = 0.01
_WORDS: Final = (
    "red", "round", "apple", "pear", "two for one", "urgent", "Grüße", "苹果", "\U0001f34e", 'said "yes"',
    "back\\slash", "line\nbreak", "tab\there", "spare", "fragile", "third floor", "call first", "paid in full",
)  # fmt: skip


def row_stream(
    seed: int, count: int, *, table: SourceTable = ORDERS, fractions: bool = True, snapshot: int = 0, controls: int = 0
) -> Iterator[Event]:
    """Yield `count` events: inserts, updates of a few columns (some of the key), deletes; 40, 50 and 10 in a hundred.

    Updates and deletes are of rows that exist, so images follow each other by key. `fractions`: whether times have
    fractions of a second; with it every TIMESTAMP has one. The first `snapshot` events are rows of a full load;
    every `controls`-th event is a DDL statement or a heartbeat in turn (0: none).
    """
    draw = Random()  # noqa: S311  not for secrets
    pools, drawn = _draw_pools(seed, tuple(table.types.items()), table.primary_key, fractions=fractions)
    draw.setstate(drawn)
    values = _Values(draw, table, pools)
    live: list[Image] = []
    next_id = _FIRST_ID
    chance, pick = draw.random, _picker(draw)
    for number in range(count):
        seconds, within = divmod(number, _EVENTS_A_SECOND)
        event_time = _FIRST_EVENT + seconds * 1_000_000
        process_time = event_time + 250_000 + within * 1000
        transaction = f"{{tid:{1042 + number // 3}, part:0}},311,{number % 3},0"
        before: Image | None = None
        after: Image | None = None
        if controls and number % controls == controls - 1:
            heartbeat = number // controls % 2 == 1
            name = f"{table.database}.{table.name}" if table.database else table.name
            yield Event(
                op="heartbeat" if heartbeat else "ddl",
                table=None if heartbeat else table,
                event_time=event_time,
                process_time=process_time,
                position=str(number + 1),
                ddl_text=None if heartbeat else f"ALTER TABLE {name} COMMENT = 'number {number}'",
                ddl_type=None if heartbeat else "ALTER",
            )
            continue
        kind = chance()
        if number < snapshot or not live or (kind < _INSERTS and len(live) < _MOST_LIVE):
            op = "snapshot" if number < snapshot else "insert"
            after = values.row(str(next_id))
            next_id += 1
            live.append(after)
        elif kind < _INSERTS + _UPDATES:
            op, place = "update", pick(len(live))
            before = live[place]
            after = values.changed(before)
            if chance() < _KEY_CHANGES:
                after |= dict.fromkeys(table.primary_key[:1], str(next_id))
                next_id += 1
            live[place] = after
        else:
            op, place = "delete", pick(len(live))
            before = live[place]
            live[place] = live[-1]
            live.pop()
        yield Event(op, table, before, after, event_time, process_time, str(number + 1), transaction)


@lru_cache(maxsize=16)
def _draw_pools(
    seed: int, types: tuple[tuple[str, str], ...], primary_key: tuple[str, ...], *, fractions: bool
) -> tuple[_Pools, Any]:
    """Return canonical texts for every column but the key, and the state of the random numbers after these were drawn.

    They take longer to draw than a short stream, and streams of the same seed and table have the same ones.
    """
    draw = Random(seed)  # noqa: S311  not for secrets
    pools = []
    for name, result in types:
        if name not in primary_key[:1]:
            pool: list[str | None] = _draw_texts(result, draw, _POOL, fractions=fractions)
            if name not in primary_key:
                pool[: int(_POOL * _NULL_SHARE)] = [None] * int(_POOL * _NULL_SHARE)
            pools.append((name, tuple(pool)))
    return tuple(pools), draw.getstate()


class _Values:
    """Rows of a table: their key counts up, each other column has one of the texts of its pool."""

    def __init__(self, draw: Random, table: SourceTable, pools: _Pools) -> None:
        self._chance = draw.random
        self._pick = _picker(draw)
        self._key = table.primary_key[:1]
        self._pools = pools

    def row(self, key: str) -> Image:
        chance = self._chance
        row: Image = dict.fromkeys(self._key, key)
        for name, pool in self._pools:
            row[name] = pool[int(chance() * _POOL)]
        return row

    def changed(self, row: Image) -> Image:
        """Return the row with one to three columns drawn again; a row of nothing but its key stays."""
        changed = dict(row)
        for _ in range(1 + self._pick(3)) if self._pools else ():
            name, pool = self._pools[self._pick(len(self._pools))]
            changed[name] = pool[self._pick(_POOL)]
        return changed


def _picker(draw: Random) -> Callable[[int], int]:
    """Return a function that draws a number below its argument; `Random.randrange` takes five times as long."""
    chance = draw.random
    return lambda below: int(chance() * below)


def _draw_texts(source_type: str, draw: Random, count: int, *, fractions: bool) -> list[str | None]:
    """Draw canonical texts that every column of the family can hold, or where that is too much some of the type."""
    family = family_of(source_type)
    draw_text, bound = _TEXTS.get(family, _words), bound_of(source_type, family)
    texts: list[str | None] = []
    for _ in range(count):
        text = draw_text(draw, fractions)
        too_much = bound is not None and bound.misfit_of(text)
        texts.append(_narrow_text(parse_source_type(source_type), draw) if too_much else text)
    return texts


def _narrow_text(narrow: SourceType, draw: Random) -> str:
    """Draw a number of the digits or bits that a type has."""
    if narrow.digits is None:
        return str(draw.randrange(1 << (narrow.bits or 1)))
    whole, fraction, zeros = narrow.digits
    step = 10 ** max(-zeros, 0)
    head = str(draw.randrange(10**whole // step) * step)
    return f"{head}.{draw.randrange(10 ** (fraction - max(zeros, 0))):0{fraction}d}" if fraction else head


def _words(draw: Random, _fractions: object) -> str:
    return " ".join(draw.choices(_WORDS, k=draw.randint(0, 5)))


def _day(draw: Random) -> str:
    return (date(2001, 9, 9) + timedelta(days=draw.randint(0, 8_000))).isoformat()


def _clock(draw: Random) -> str:
    return f":{draw.randint(0, 59):02d}:{draw.randint(0, 59):02d}"


def _fraction(draw: Random, digits: int) -> str:
    """Return a fraction that is not zero, as canonical text has it: without zeros at its end."""
    return f".{draw.randint(1, 10**digits - 1):0{digits}d}".rstrip("0")


_TEXTS: Final[Mapping[str, Callable[[Random, bool], str]]] = {
    "integer": lambda draw, _: str(draw.randint(0, 127)),
    "decimal": lambda draw, _: f"{draw.randint(-99_999, 9_999_999)}.{draw.randint(0, 99):02d}",
    "float": lambda draw, _: str(draw.randint(1, 999_999) / 8).removesuffix(".0"),
    "boolean": lambda draw, _: draw.choice(("true", "false")),
    "bit": lambda draw, _: str(draw.randint(0, 255)),
    "year": lambda draw, _: str(draw.randint(1901, 2155)),
    "bytes": lambda draw, _: base64.b64encode(draw.randbytes(draw.randint(0, 24))).decode(),
    "date": lambda draw, _: _day(draw),
    "time": lambda draw, fractions: f"{draw.randint(0, 40):02d}{_clock(draw)}{_fraction(draw, 3) if fractions else ''}",
    "datetime": lambda draw, fractions: _moment(draw, 3 if fractions else 0),
    "timestamp": lambda draw, fractions: _moment(draw, 6 if fractions else 0) + "Z",
}


def _moment(draw: Random, digits: int) -> str:
    return f"{_day(draw)}T{draw.randint(0, 23):02d}{_clock(draw)}{_fraction(draw, digits) if digits else ''}"
