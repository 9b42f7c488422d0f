"""Database texts: what a database shows of a value, as the canonical text of its type."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable
from ctypes import c_float
from decimal import Decimal
from math import isfinite
from typing import Any, Final

Text = Callable[[str], str]


def canonical_text(database: str, type_: str, text: str | None) -> str | None:
    """Return the canonical text of what a database shows of a type; None is NULL.

    A type without a rule has the text of the database.
    """
    if text is None:
        return None
    name = re.sub(r"\(.*?\)", "", type_)
    return _READERS[database].get(name, str)(text)


def float32(text: str) -> str:
    """Return the shortest text that reads back to the same number of 32 bits; MariaDB's has the digits of a double."""
    exact = c_float(float(text)).value
    if not isfinite(exact):
        return text
    shorter = (f"{exact:.{digits}g}" for digits in range(1, 10))
    return float64(next((short for short in shorter if c_float(float(short)).value == exact), text))


def float64(text: str) -> str:
    """Return the shortest text of a double, laid out as ECMAScript does."""
    number = float(text)
    if number == 0:
        return "0"
    if not isfinite(number):
        return text
    sign, digits, exponent = Decimal(repr(number)).normalize().as_tuple()
    shown, point = "".join(map(str, digits)), len(digits) + int(exponent)
    if 0 < point <= 21:
        shown = shown.ljust(point, "0")
        shown = f"{shown[:point]}.{shown[point:]}" if point < len(digits) else shown
    elif -6 < point <= 0:
        shown = f"0.{'0' * -point}{shown}"
    else:
        rest = f".{shown[1:]}" if len(shown) > 1 else ""
        shown = f"{shown[0]}{rest}e{point - 1:+d}"
    return f"-{shown}" if sign else shown


def _bits(text: str) -> str:
    return str(int(text, 2)) if text else "0"


def _clock(text: str) -> str:
    """Return a time of day without the zeros at the end of its fraction."""
    return text.rstrip("0").rstrip(".") if "." in text else text


def _moment(text: str) -> str:
    """Return a date and time; MariaDB's with a zero for the month or day are none, and keep their text."""
    day, _, clock = text.partition(" ")
    if "-00" in day:
        return text
    return f"{day}T{_clock(clock)}"


def _zoned_clock(text: str) -> str:
    """Return a time of day with a zone in UTC; the zones of the SQL file are whole hours."""
    hour, rest, zone = int(text[:2]), text[2:-3], int(text[-3:])
    return f"{(hour - zone) % 24 if zone else hour:02}{_clock(rest)}Z"


def _instant(text: str) -> str:
    return f"{_moment(text.replace('+00', ''))}Z"


def _money(text: str) -> str:
    return text.replace("$", "").replace(",", "")


def _array(element: Callable[[str], Any]) -> Text:
    """Return a reader of one-dimensional arrays that writes JSON."""

    def read(text: str) -> str:
        parts = re.findall(r'"((?:[^"\\]|\\.)*)"|([^",{}]+)', text)
        values = [
            None if bare == "NULL" else element(bare or re.sub(r"\\(.)", r"\1", quoted)) for quoted, bare in parts
        ]
        return _json(values)

    return read


def _pairs(text: str) -> str:
    found = re.findall(r'"((?:[^"\\]|\\.)*)"=>(?:"((?:[^"\\]|\\.)*)"|(NULL))', text)
    bare = lambda part: re.sub(r"\\(.)", r"\1", part)  # noqa: E731
    return _json({bare(name): None if null else bare(value) for name, value, null in found})


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _base64(hexadecimal: str) -> str:
    return base64.b64encode(bytes.fromhex(hexadecimal)).decode()


_BLOBS: Final = ("binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob")
_READERS: Final[dict[str, dict[str, Text]]] = {
    "postgresql": {
        "boolean": {"t": "true", "f": "false"}.__getitem__,
        "integer[]": _array(int),
        "bigint[]": _array(int),
        "boolean[]": _array("t".__eq__),
        "text[]": _array(str),
        "uuid[]": _array(str),
        "timestamp with time zone[]": _array(_instant),
        "hstore": _pairs,
        "bit": _bits,
        "bit varying": _bits,
        "bytea": lambda text: _base64(text.removeprefix("\\x")),
        "money": _money,
        "real": float32,
        "double precision": float64,
        "time without time zone": _clock,
        "time with time zone": _zoned_clock,
        "timestamp without time zone": _moment,
        "timestamp with time zone": _instant,
    },
    "mariadb": {
        **dict.fromkeys(_BLOBS, _base64),
        "bit": _bits,
        "float": float32,
        "double": float64,
        "int unsigned zerofill": lambda text: str(int(text)),
        "time": _clock,
        "datetime": _moment,
        "timestamp": lambda text: text if "-00 " in text else f"{_moment(text)}Z",
    },
}
