# ruff: noqa: PLR2004 - the numbers are those of digits and clocks
"""Byte layouts such as `9999-99-99 99:99:99`: matched, read and written on whole columns.

Columns of bytes are arrays (width, n): one contiguous row of n bytes for each position.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from cdc_contracts.registry.values.arrow_columns import Texts, are_digits, pack
from cdc_contracts.registry.values.civil_time import DAY, find_date
from cdc_contracts.registry.values.lazy_arrow import np, pa, pc

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cdc_contracts.registry.values.arrow_columns import Bytes, Ints, Mask

    Counts = NDArray[np.int32]

DATE: Final = "9999-99-99"
CLOCK: Final = "99:99:99"
ZERO: Final = ord("0")
FRACTION: Final = 10
"""Bytes of the longest fraction: a point and nine digits."""


def match(columns: Bytes, layout: str) -> Mask:
    """Mark the rows of a layout: 9 matches any ASCII digit, any other character only itself."""
    fits = np.ones(columns.shape[1], bool)
    for column, letter in zip(columns, layout, strict=False):
        fits &= are_digits(column) if letter == "9" else column == ord(letter)
    return fits


def match_fraction(columns: Bytes, room: Ints) -> Mask:
    """Mark the rows whose remaining `room` bytes are nothing, or a point and one to nine digits."""
    fits: Mask = room == 0
    if fits.all():
        return fits
    fits |= (room >= 2) & (room <= FRACTION) & (columns[0] == ord("."))
    left = _narrow(room)
    for position in range(1, FRACTION):
        fits &= are_digits(columns[position]) | (left <= position)
    return fits


def _narrow(room: Ints) -> NDArray[np.int8]:
    return np.clip(room, -1, FRACTION + 1).astype(np.int8)


def match_clock(columns: Bytes, position: int) -> Mask:
    """Mark the rows whose `HH:mm:ss` at a position, digits being right, is a time of day."""
    sixty = ZERO + np.uint8(6)
    fits: Mask = (read_two(columns, position) < 24) & (columns[position + 3] < sixty) & (columns[position + 6] < sixty)
    return fits


def read_two(columns: Bytes, position: int) -> Bytes:
    """Read two digits; what is no digit gives any number."""
    number: Bytes = (columns[position] - ZERO) * np.uint8(10) + (columns[position + 1] - ZERO)
    return number


def read_four(columns: Bytes, position: int) -> NDArray[np.uint16]:
    """Read four digits; what is no digit gives any number."""
    return read_two(columns, position).astype(np.uint16) * np.uint16(100) + read_two(columns, position + 2)


def read_number(columns: Bytes) -> Ints:
    """Read digits, as many as a multiple of four; what are no digits give any number."""
    numbers = read_four(columns, 0).astype(np.int64)
    for position in range(4, len(columns), 4):
        numbers = numbers * 10_000 + read_four(columns, position)
    return numbers


def read_seconds(columns: Bytes, position: int) -> NDArray[np.int32]:
    """Read `HH:mm:ss` as seconds; what are no digits give any number."""
    hours, minutes, seconds = (read_two(columns, position + step).astype(np.int32) for step in (0, 3, 6))
    return (hours * 60 + minutes) * 60 + seconds


def read_fraction(columns: Bytes, room: Ints) -> Bytes:
    """Read the digits (9, n) of a matched fraction, filled up with zeros."""
    given = np.arange(1, FRACTION, dtype=np.int8)[:, None] < _narrow(room)
    return np.where(given, columns[1:FRACTION], ZERO)


def trim_fractions(text: pa.Array, texts: Texts, has_fraction: Mask) -> pa.Array:
    """Remove the zeros at the end of fractions, and a bare point."""
    trimmed = has_fraction & (texts.bytes_at(texts.ends - 1) == ZERO)
    if not trimmed.any():
        return text
    return pc.if_else(pa.array(trimmed), pc.ascii_rtrim(pc.ascii_rtrim(text, "0"), "."), text)


def put_two(columns: Bytes, position: int, numbers: Counts) -> None:
    """Write numbers from 0 to 99 as two digits."""
    numbers = numbers.astype(np.uint8)
    tens = numbers // 10
    columns[position] = tens + ZERO
    columns[position + 1] = numbers - tens * 10 + ZERO


def put_date(columns: Bytes, days: Ints) -> None:
    """Write dates of the years 0000 to 9999 into the first ten positions."""
    year, month, day = find_date(days.astype(np.int32))
    century = year // 100
    put_two(columns, 0, century)
    put_two(columns, 2, year - century * 100)
    columns[4] = columns[7] = ord("-")
    put_two(columns, 5, month)
    put_two(columns, 8, day)


def put_clock(columns: Bytes, position: int, seconds: Ints) -> None:
    """Write seconds, up to 100 hours of them, as `HH:mm:ss`."""
    of_day = seconds.astype(np.int32)
    minutes = of_day // 60
    hours = minutes // 60
    put_two(columns, position, hours)
    put_two(columns, position + 3, minutes - hours * 60)
    put_two(columns, position + 6, of_day - minutes * 60)
    columns[position + 2] = columns[position + 5] = ord(":")


def split_digits(numbers: Ints, count: int) -> Bytes:
    """Give the `count` digits of numbers as nine bytes (9, n), filled up with zeros."""
    rest = numbers.astype(np.int32)
    digits = np.full((FRACTION - 1, len(rest)), ZERO, np.uint8)
    for position in reversed(range(count)):
        tens = rest // 10
        digits[position] = rest - tens * 10 + ZERO
        rest = tens
    return digits


def write_dates(days: Ints) -> pa.Array:
    """Write `YYYY-MM-DD` of days since 1970-01-01 within the years 0000 to 9999."""
    columns = np.empty((len(DATE), len(days)), np.uint8)
    put_date(columns, days)
    return finish(columns, len(DATE), None, "")


def write_moments(moments: Ints, fraction: Bytes | None, suffix: str) -> pa.Array:
    """Write seconds since 1970-01-01T00:00:00 of the years 0000 to 9999 as `YYYY-MM-DDTHH:mm:ss[.n]` and the suffix."""
    columns = np.empty((len(DATE) + 1 + len(CLOCK) + FRACTION + 1, len(moments)), np.uint8)
    days = moments // DAY
    put_date(columns, days)
    columns[len(DATE)] = ord("T")
    put_clock(columns, len(DATE) + 1, moments - days * DAY)
    return finish(columns, len(DATE) + 1 + len(CLOCK), fraction, suffix)


def finish(columns: Bytes, position: int, fraction: Bytes | None, suffix: str) -> pa.Array:
    """End texts that reach up to `position` with their fraction, without zeros at its end, and one letter or none."""
    lengths = np.full(columns.shape[1], position, np.uint8)
    if fraction is not None:
        columns[position] = ord(".")
        columns[position + 1 : position + FRACTION] = fraction
        for place, digit in enumerate(fraction, position + 2):
            np.maximum(lengths, (digit != ZERO) * np.uint8(place), out=lengths)
    if suffix:
        columns[lengths, np.arange(len(lengths))] = ord(suffix)
        lengths += np.uint8(1)
    return pack(columns, lengths)
