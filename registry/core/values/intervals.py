"""Intervals as literals of SQL and as the text of a column; canonical is ISO 8601 with the sign on each part."""

from __future__ import annotations

import re
from typing import Final

from cdc_contracts.registry.core.values.day_times import trim_fraction
from cdc_contracts.registry.core.values.form_values import BrokenValue, Context, Value

LAYOUTS: Final = {
    "DAY": re.compile("INTERVAL '(-?)([0-9]{1,9})' DAY"),
    "DAY TO SECOND": re.compile(
        r"INTERVAL '(-?)([0-9]{1,9}) ([0-9]{1,2}):([0-9]{1,2}):([0-9]{1,2})(\.[0-9]{1,9})?' DAY TO SECOND"
    ),
    "YEAR": re.compile("INTERVAL '(-?)([0-9]{1,9})' YEAR"),
    "YEAR TO MONTH": re.compile("INTERVAL '(-?)([0-9]{1,9})-([0-9]{1,2})' YEAR TO MONTH"),
}
DESIGNATORS: Final = {"DAY": "D", "DAY TO SECOND": "DHMS", "YEAR": "Y", "YEAR TO MONTH": "YM"}
MOST: Final = {"DAY": (), "DAY TO SECOND": ("23", "59", "59"), "YEAR": (), "YEAR TO MONTH": ("11",)}
LITERAL: Final = "|".join(layout.pattern for layout in LAYOUTS.values())
SIGNED_LAYOUTS: Final = {
    "DAY TO SECOND": re.compile(r"([+-]?)([0-9]{1,9}) ([0-9]{1,2}):([0-9]{1,2}):([0-9]{1,2})(\.[0-9]{1,9})?"),
    "YEAR TO MONTH": re.compile(r"([+-]?)([0-9]{1,9})-([0-9]{1,2})"),
}
SIGNED: Final = "|".join(layout.pattern for layout in SIGNED_LAYOUTS.values())
CANONICAL: Final = re.compile(
    r"P(?:(-?[0-9]+)Y)?(?:(-?[0-9]+)M)?(?:(-?[0-9]+)D)?(?:T(?:(-?[0-9]+)H)?(?:(-?[0-9]+)M)?(?:(-?[0-9]+(?:\.[0-9]+)?)S)?)?"
)


ISO: Final = re.compile(
    r"P(?=.)(?:(-?[0-9]{1,9})Y)?(?:(-?[0-9]{1,9})M)?(?:(-?[0-9]{1,9})D)?"
    r"(?:T(?=.)(?:(-?[0-9]{1,12})H)?(?:(-?[0-9]{1,12})M)?(?:(-?[0-9]{1,12})(\.[0-9]{1,9})?S)?)?"
)

ISO_LETTERS: Final = "P[-0-9.YMDTHS]+"


def read_iso_interval(text: str, _context: Context) -> Value:
    """Read ISO 8601 with a sign on each part; parts that are zero are not written, and nothing at all is `P0D`."""
    parts = ISO.fullmatch(text)
    if parts is None:
        raise BrokenValue
    *numbers, fraction = parts.groups()
    written = [str(int(number or "0")) for number in numbers]
    tail = trim_fraction(fraction)
    if tail and (numbers[-1] or "").startswith("-") and written[-1] == "0":
        written[-1] = "-0"
    written[-1] += tail
    shown = [number + letter if number != "0" else "" for number, letter in zip(written, "YMDHMS", strict=True)]
    date, clock = "".join(shown[:3]), "".join(shown[3:])
    return Value("P" + (f"{date}T{clock}" if clock else date or "0D"))


def read_interval(text: str, context: Context) -> Value:
    """Read a literal; parts that are zero are not written, and nothing at all is `P0D` or `P0Y`."""
    unit = text.rpartition("' ")[2]
    parts = LAYOUTS[unit].fullmatch(text) if unit in LAYOUTS else None
    return _read(unit, parts, text, context)


def read_signed_interval(text: str, context: Context) -> Value:
    """Read `+04-02` and `+03 04:05:06.7`; the plus may be missing."""
    unit = "DAY TO SECOND" if " " in text else "YEAR TO MONTH"
    return _read(unit, SIGNED_LAYOUTS[unit].fullmatch(text), text, context)


def _read(unit: str, parts: re.Match[str] | None, text: str, context: Context) -> Value:
    if parts is None:
        raise BrokenValue
    sign, first, *others = parts.groups()
    sign = sign.rstrip("+")
    fraction = trim_fraction(others.pop()) if unit == "DAY TO SECOND" else ""
    if any(number.zfill(2) > most for number, most in zip(others, MOST[unit], strict=True)):
        return context.keep(text)
    numbers = [str(int(number)) for number in (first, *others)]
    numbers[-1] += fraction
    written = [
        f"{sign}{number}{designator}" if number != "0" else ""
        for number, designator in zip(numbers, DESIGNATORS[unit], strict=True)
    ]
    if unit.startswith("DAY"):
        written[1:] = ["T", *written[1:]] if any(written[1:]) else []
    return Value("P" + ("".join(written) or f"0{unit[0]}"))


def write_interval(text: str, _context: Context) -> str:
    """Write canonical text as a literal."""
    parts = _parts_of(text)
    if parts is None:
        return text  # the kept text of an interval that does not exist
    sign = "-" if "-" in text else ""
    years, months, days, hours, minutes, seconds = parts
    if years != "0" or months != "0" or "Y" in text:
        return f"INTERVAL '{sign}{years}-{months}' YEAR TO MONTH" if months != "0" else f"INTERVAL '{sign}{years}' YEAR"
    if "T" not in text:
        return f"INTERVAL '{sign}{days}' DAY"
    return f"INTERVAL '{sign}{days} {_clock(hours, minutes, seconds)}' DAY TO SECOND"


def write_signed_interval(text: str, _context: Context) -> str:
    """Write canonical text with its sign and two digits for each part."""
    parts = _parts_of(text)
    if parts is None:
        return text
    sign = "-" if "-" in text else "+"
    years, months, days, hours, minutes, seconds = parts
    if years != "0" or months != "0" or "Y" in text:
        return f"{sign}{int(years):02d}-{int(months):02d}"
    return f"{sign}{int(days):02d} {_clock(hours, minutes, seconds)}"


def _parts_of(text: str) -> list[str] | None:
    """Return years, months, days, hours, minutes and seconds of canonical text without their signs."""
    parts = CANONICAL.fullmatch(text)
    return None if parts is None else [(part or "0").lstrip("-") for part in parts.groups()]


def _clock(hours: str, minutes: str, seconds: str) -> str:
    whole, point, fraction = seconds.partition(".")
    return f"{int(hours):02d}:{int(minutes):02d}:{int(whole):02d}{point}{fraction}"
