"""Timestamps: instants and wall-clock times as counts of seconds or milliseconds since 1970."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from cdc_contracts.registry.values import byte_layouts
from cdc_contracts.registry.values.arrow_columns import ColumnResult, Texts, break_unless, to_integers
from cdc_contracts.registry.values.byte_layouts import FRACTION, ZERO
from cdc_contracts.registry.values.civil_time import DAY, FIRST_DAY, LAST_DAY
from cdc_contracts.registry.values.dates import read_count
from cdc_contracts.registry.values.datetimes import format_moment, parse_moment
from cdc_contracts.registry.values.day_times import trim_fraction
from cdc_contracts.registry.values.form_values import BrokenValue, Context, Flag, Number, Value
from cdc_contracts.registry.values.lazy_arrow import np, pc

if TYPE_CHECKING:
    import pyarrow as pa

    from cdc_contracts.registry.values.arrow_columns import Bytes, Ints, Mask

SECONDS: Final = re.compile("[0-9]{1,12}")
SECONDS_FRACTION: Final = re.compile(r"([0-9]{1,12})(\.[0-9]{1,9})?")
MILLIS_FRACTION: Final = re.compile(r"([1-9][0-9]{12})(\.[0-9]{1,9})?")
MOST_DIGITS: Final = 12
MILLIS_DIGITS: Final = 13
LAST_SECOND: Final = (LAST_DAY + 1) * DAY - 1
FIRST_MILLI: Final = FIRST_DAY * DAY * 1000
LAST_MILLI: Final = (LAST_DAY + 1) * DAY * 1000 - 1


def read_seconds(token: str, _context: Context) -> Value:
    """Read up to twelve digits of seconds, to the year 9999."""
    if not SECONDS.fullmatch(token) or int(token) > LAST_SECOND:
        raise BrokenValue
    return Value(format_moment(int(token), "Z"))


def read_seconds_fraction(text: str, _context: Context) -> Value:
    """Read up to twelve digits of seconds, to the year 9999, and up to nine of a fraction."""
    parts = SECONDS_FRACTION.fullmatch(text)
    if parts is None or int(parts[1]) > LAST_SECOND:
        raise BrokenValue
    return Value(format_moment(int(parts[1]), trim_fraction(parts[2]) + "Z"))


def read_millis_wallclock(token: str, _context: Context) -> Value:
    """Read milliseconds within the years 0000 to 9999 of a clock without zone."""
    return Value(_format_millis(read_count(token, FIRST_MILLI, LAST_MILLI), ""))


def read_millis_instant(token: str, _context: Context) -> Value:
    """Read milliseconds within the years 0000 to 9999 in UTC."""
    return Value(_format_millis(read_count(token, FIRST_MILLI, LAST_MILLI), "Z"))


def read_millis_fraction(token: str, _context: Context) -> Value:
    """Read the whole milliseconds. What the digits after the point count is not documented: always noted."""
    parts = MILLIS_FRACTION.fullmatch(token)
    if parts is None:
        raise BrokenValue
    return Value(_format_millis(int(parts[1]), "Z"), Flag.NOTED)


def _format_millis(millis: int, suffix: str) -> str:
    seconds, rest = divmod(millis, 1000)
    return format_moment(seconds, trim_fraction(f".{rest:03d}") + suffix)


def write_seconds(text: str, _context: Context) -> Number:
    """Write a time as whole seconds."""
    return Number(str(parse_moment(text)[0]))


def write_seconds_fraction(text: str, _context: Context) -> str:
    """Write a time as text of seconds with its fraction."""
    seconds, fraction = parse_moment(text)
    return f"{seconds}.{fraction}" if fraction else str(seconds)


def write_millis(text: str, _context: Context) -> Number:
    """Write a time as whole milliseconds."""
    seconds, fraction = parse_moment(text)
    return Number(str(seconds * 1000 + int(fraction.ljust(3, "0"))))


def validate_seconds(values: pa.Array, _context: Context) -> ColumnResult:
    """Validate digits of seconds up to the year 9999; later ones are broken."""
    texts = Texts(values)
    seconds, fits = _read_digits(texts, texts.lengths)
    return _validate_seconds(seconds, fits, None)


def validate_seconds_fraction(values: pa.Array, _context: Context) -> ColumnResult:
    """Validate seconds with a fraction up to the year 9999; later ones are broken."""
    texts = Texts(values)
    point = pc.find_substring(values, ".")
    found = (point.fill_null(-1) if point.null_count else point).to_numpy()
    whole = np.where(found < 0, texts.lengths, found)
    seconds, fits = _read_digits(texts, whole)
    columns = texts.window(FRACTION, texts.starts + whole)
    room = texts.lengths - whole
    fits &= byte_layouts.match_fraction(columns, room)
    return _validate_seconds(seconds, fits, (columns, room) if room.any() else None)


def _validate_seconds(seconds: Ints, fits: Mask, rest: tuple[Bytes, Ints] | None) -> ColumnResult:
    fits = fits & (seconds <= LAST_SECOND)

    def write() -> pa.Array:
        moments = np.where(fits, seconds, 0)
        return byte_layouts.write_moments(moments, byte_layouts.read_fraction(*rest) if rest else None, "Z")

    return ColumnResult(write, None, break_unless(fits))


def _read_digits(texts: Texts, whole: Ints) -> tuple[Ints, Mask]:
    """Read the first `whole` bytes of each row as digits, one to twelve of them; mark the rows where they are."""
    fits: Mask = (whole >= 1) & (whole <= MOST_DIGITS)
    whole = np.where(fits, whole, MOST_DIGITS)
    columns = texts.window(MOST_DIGITS, texts.starts + whole - MOST_DIGITS)
    for position in range(MOST_DIGITS - int(whole.min())):
        columns[position] = np.where(whole >= MOST_DIGITS - position, columns[position], ZERO)
    return byte_layouts.read_number(columns), fits & byte_layouts.match(columns, "9" * MOST_DIGITS)


def validate_millis_wallclock(values: pa.Array, _context: Context) -> ColumnResult:
    """Validate milliseconds of a clock without zone; those outside the years 0000 to 9999 are broken."""
    return _validate_millis(values, "")


def validate_millis_instant(values: pa.Array, _context: Context) -> ColumnResult:
    """Validate milliseconds in UTC; those outside the years 0000 to 9999 are broken."""
    return _validate_millis(values, "Z")


def _validate_millis(values: pa.Array, suffix: str) -> ColumnResult:
    millis, unfit = to_integers(values)
    fits = (millis >= FIRST_MILLI) & (millis <= LAST_MILLI)
    millis = np.where(fits, millis, 0)
    return ColumnResult(lambda: _write_millis(millis, suffix), unfit, break_unless(fits))


def validate_millis_fraction(values: pa.Array, _context: Context) -> ColumnResult:
    """Validate thirteen digits with a fraction; all are noted."""
    texts = Texts(values)
    columns = texts.window(MILLIS_DIGITS + FRACTION)
    room = texts.lengths - MILLIS_DIGITS
    fits = byte_layouts.match(columns, "9" * MILLIS_DIGITS) & (columns[0] != ZERO)
    fits &= byte_layouts.match_fraction(columns[MILLIS_DIGITS:], room)

    def write() -> pa.Array:
        millis = (columns[0] - ZERO) * np.int64(10**MOST_DIGITS) + byte_layouts.read_number(columns[1:MILLIS_DIGITS])
        return _write_millis(np.where(fits, millis, 0), "Z")

    return ColumnResult(write, flags=break_unless(fits, noted=fits))


def _write_millis(millis: Ints, suffix: str) -> pa.Array:
    seconds = millis // 1000
    return byte_layouts.write_moments(seconds, byte_layouts.split_digits(millis - seconds * 1000, 3), suffix)
