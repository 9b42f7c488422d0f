# ruff: noqa: PLR2004 - the numbers are those of the clock
"""Datetime columns, the fast path of `datetimes`: whole columns of SQL and `T` text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from cdc_contracts.registry.values import byte_layouts
from cdc_contracts.registry.values.arrow_columns import ColumnResult, Texts, break_unless, to_mask
from cdc_contracts.registry.values.byte_layouts import FRACTION
from cdc_contracts.registry.values.civil_time import DAY, FIRST_DAY, LAST_DAY, count_days, find_offsets
from cdc_contracts.registry.values.dates import match_dates
from cdc_contracts.registry.values.datetimes import ISO_LAYOUT, MINUTES, SECONDS, SQL_LAYOUT, ZONE
from cdc_contracts.registry.values.form_values import Context, Flag
from cdc_contracts.registry.values.lazy_arrow import np, pa, pc

if TYPE_CHECKING:
    from cdc_contracts.registry.values.arrow_columns import Bytes, Ints, Mask
_ZONE: Final = re.compile(ZONE)


def validate_sql(values: pa.Array, _context: Context) -> ColumnResult:
    """Validate datetimes that exist; others of the layout stay open."""
    texts = Texts(values)
    _, shaped, exists, room = _match(texts, SQL_LAYOUT)
    result = shaped & exists
    return ColumnResult(
        lambda: byte_layouts.trim_fractions(_put(texts, 10, "T", result), texts, result & (room > 0)),
        shaped & ~exists,
        break_unless(shaped),
    )


def validate_iso_minutes(values: pa.Array, _context: Context) -> ColumnResult:
    """Validate `T` texts that exist, with seconds or without, and break SQL texts that do."""
    texts = Texts(values)
    columns, full, exists, room = _match(texts, ISO_LAYOUT)
    short = (room == MINUTES - SECONDS) & byte_layouts.match(columns, ISO_LAYOUT[:MINUTES])
    if short.any():
        in_day = (
            match_dates(columns) & (byte_layouts.read_two(columns, 11) < 24) & (byte_layouts.read_two(columns, 14) < 60)
        )
        exists = np.where(short, in_day, exists)
    shaped, noted = full | short, full & exists & (room > 0)
    undecided = shaped & ~exists
    if not shaped.all():
        undecided |= _match(texts, SQL_LAYOUT)[1] & ~exists

    def write() -> pa.Array:
        text = values
        if short.any():
            text = pc.if_else(pa.array(short), pc.binary_join_element_wise(values, ":00", ""), values)
        return byte_layouts.trim_fractions(text, texts, noted)

    return ColumnResult(write, undecided, break_unless(shaped, noted))


def validate_iso_instants(values: pa.Array, _context: Context) -> ColumnResult:
    """Validate instants that exist; others of the layout stay open."""
    texts = Texts(values)
    _, shaped, exists, room = _match(texts, ISO_LAYOUT, tail="Z")
    trimmed = shaped & (room > 0) & (texts.bytes_at(texts.ends - 2) == byte_layouts.ZERO)

    def write() -> pa.Array:
        if not trimmed.any():
            return values
        bare = pc.ascii_rtrim(pc.ascii_rtrim(pc.ascii_rtrim(values, "Z"), "0"), ".")
        return pc.if_else(pa.array(trimmed), pc.binary_join_element_wise(bare, "Z", ""), values)

    return ColumnResult(write, shaped & ~exists, break_unless(shaped))


def validate_sql_zones(values: pa.Array, context: Context) -> ColumnResult:
    """Validate datetimes, and those that a zone id follows."""
    plain = validate_sql(values, context)
    if plain.flags is None or plain.open is None:
        return plain
    zoned = to_mask(pc.greater(pc.binary_length(values), SECONDS + 1)) & (plain.flags != Flag.OK)
    if zoned.any():
        zoned &= to_mask(pc.match_substring_regex(values, "^.{19,29} [^ ]+$"))
    if not zoned.any():
        return plain
    halves = pc.split_pattern(values.filter(pa.array(zoned)), " ", max_splits=1, reverse=True).flatten()
    bases, zones = (halves.take(pa.array(np.arange(start, len(halves), 2))) for start in (0, 1))
    base = validate_sql(bases, context)
    zones = zones.dictionary_encode()
    plausible = np.array([_ZONE.fullmatch(zone) is not None for zone in zones.dictionary.to_pylist()])
    fits = plausible[zones.indices.to_numpy()]
    if base.flags is not None:
        fits = fits & (base.flags == Flag.OK)
    undecided, flags = plain.open.copy(), plain.flags.copy()
    undecided[zoned] = fits & base.open
    flags[zoned] = np.where(fits, np.uint8(Flag.OK), np.uint8(Flag.BROKEN))

    def write() -> pa.Array:
        text = pc.binary_join_element_wise(base.text(), "[", zones.cast(pa.string()), "]", "")
        return pc.replace_with_mask(plain.text(), pa.array(zoned), text)

    return ColumnResult(write, undecided, flags)


def validate_sql_instants(values: pa.Array, context: Context) -> ColumnResult:
    """Validate datetimes that exist, in the zone of the context; those of a day when the zone changes stay open."""
    if context.zone is None:
        return validate_sql(values, context)
    texts = Texts(values)
    columns, shaped, exists, room = _match(texts, SQL_LAYOUT)
    result = shaped & exists
    date = byte_layouts.read_four(columns, 0), byte_layouts.read_two(columns, 5), byte_layouts.read_two(columns, 8)
    days = count_days(*(np.where(result, part, 1).astype(np.int32) for part in date)).astype(np.int64)
    seconds = np.where(result, byte_layouts.read_seconds(columns, 11), 0)
    offsets, changing = find_offsets(context.zone, days)
    moments = days * DAY + seconds - offsets
    result &= ~changing & (moments >= FIRST_DAY * DAY) & (moments < (LAST_DAY + 1) * DAY)

    def write() -> pa.Array:
        fraction = byte_layouts.read_fraction(columns[SECONDS:], room) if (room > 0).any() else None
        return byte_layouts.write_moments(np.where(result, moments, 0), fraction, "Z")

    return ColumnResult(write, shaped & ~result, break_unless(shaped))


def _match(texts: Texts, layout: str, tail: str = "") -> tuple[Bytes, Mask, Mask, Ints]:
    """Give the bytes of all rows, the rows of a layout, those that exist, and the bytes from `ss` to the tail."""
    columns = texts.window(SECONDS + FRACTION)
    room = texts.lengths - SECONDS - len(tail)
    shaped = (room >= 0) & byte_layouts.match(columns, layout) & byte_layouts.match_fraction(columns[SECONDS:], room)
    if tail:
        shaped &= texts.bytes_at(texts.ends - 1) == ord(tail)
    return columns, shaped, match_dates(columns) & byte_layouts.match_clock(columns, 11), room


def _put(texts: Texts, position: int, letter: str, rows: Mask) -> pa.Array:
    """Give the texts with one other byte at a position of some rows."""
    data = texts.data.copy()
    data[texts.starts + position if rows.all() else texts.starts[rows] + position] = ord(letter)
    return texts.with_data(data)
