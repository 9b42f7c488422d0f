"""INTERVAL literals of Oracle; canonical is ISO 8601 with the sign on each part."""

from __future__ import annotations

import re
from typing import Final

from cdc_contracts.registry.forms.times import trim_fraction
from cdc_contracts.registry.forms.values import BrokenValue, Context, Value

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
CANONICAL: Final = re.compile(
    r"P(?:(-?[0-9]+)Y)?(?:(-?[0-9]+)M)?(?:(-?[0-9]+)D)?(?:T(?:(-?[0-9]+)H)?(?:(-?[0-9]+)M)?(?:(-?[0-9]+(?:\.[0-9]+)?)S)?)?"
)


def read_interval(text: str, context: Context) -> Value:
    """Read a literal; parts that are zero are not written, and nothing at all is `P0D` or `P0Y`."""
    unit = text.rpartition("' ")[2]
    parts = LAYOUTS[unit].fullmatch(text) if unit in LAYOUTS else None
    if parts is None:
        raise BrokenValue
    sign, first, *others = parts.groups()
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
    parts = CANONICAL.fullmatch(text)
    if parts is None:
        return text  # the kept text of an interval that does not exist
    sign = "-" if "-" in text else ""
    years, months, days, hours, minutes, seconds = ((part or "0").lstrip("-") for part in parts.groups())
    if years != "0" or months != "0" or "Y" in text:
        return f"INTERVAL '{sign}{years}-{months}' YEAR TO MONTH" if months != "0" else f"INTERVAL '{sign}{years}' YEAR"
    if "T" not in text:
        return f"INTERVAL '{sign}{days}' DAY"
    whole, point, fraction = seconds.partition(".")
    clock = f"{int(hours):02d}:{int(minutes):02d}:{int(whole):02d}{point}{fraction}"
    return f"INTERVAL '{sign}{days} {clock}' DAY TO SECOND"
