"""Python values: canonical text as values of Python, exactly or not at all.

They are those of the typed columns of canonical tables (`column_types`). Where only Arrow has a limit, Python has the
number: a decimal of any number of digits, and one of a type that does not say them. This needs no Arrow.
"""

from __future__ import annotations

import base64
import math
import re
from collections.abc import Callable, Mapping
from datetime import date, datetime
from decimal import Decimal
from functools import lru_cache
from typing import Final

from cdc_contracts.registry.core.values.source_types import INTEGERS, parse_source_type

PythonValue = int | float | Decimal | bool | bytes | date | datetime | str

_MOST_SECOND_DIGITS: Final = 6
_WHOLE: Final = re.compile(r"0|-?[1-9][0-9]*")
_DECIMAL: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?")
_FLOAT: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:e[+-][1-9][0-9]*)?")
_NO_NUMBERS: Final = ("NaN", "Infinity", "-Infinity")
_BOOLEANS: Final = {"true": True, "false": False}
_YEAR: Final = re.compile(r"[0-9]{4}")
_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_MOMENT: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,6})?Z?")

PythonReader = Callable[[str], PythonValue]


@lru_cache(8192)
def python_reader(source_type: str | None, kind: str | None) -> PythonReader:
    """Return what reads the canonical texts of some kind in a column of a source type (None: not known).

    Integers and BIT are int, decimals and numbers Decimal with their digits as sent, floats float, bytes bytes, dates
    date, points in time datetime: aware if the text ends in Z, otherwise naive. TIME, intervals, points in time of a
    named zone or of more than six digits of a second, and all else are text. It raises ValueError if no value of the
    type is exactly that text.
    """
    column = parse_source_type(source_type or "")
    match kind:
        case "integer":
            return _read_decimal if column.digits is not None else _read_whole
        case "decimal" | "number":
            return _read_whole if column.digits is None and column.name in INTEGERS else _read_decimal
        case "timestamp" | "datetime" if (column.second_digits or 0) > _MOST_SECOND_DIGITS:
            return str
        case "datetime" if column.zoned:
            return str
        case _:
            return _READERS.get(kind or "", str)


def _read_whole(text: str) -> int:
    return int(_checked(_WHOLE, text))


def _read_decimal(text: str) -> Decimal:
    return Decimal(_checked(_DECIMAL, text))


def _read_float(text: str) -> float:
    if text in _NO_NUMBERS:
        return float(text)
    value = float(_checked(_FLOAT, text))
    if not math.isfinite(value) or Decimal(repr(value)) != Decimal(text):
        raise ValueError(f"no float is exactly {text}")
    return value


def _read_boolean(text: str) -> bool:
    if text not in _BOOLEANS:
        raise ValueError(f"not a boolean: {text}")
    return _BOOLEANS[text]


def _read_bytes(text: str) -> bytes:
    value = base64.b64decode(text, validate=True)
    if base64.b64encode(value) != text.encode():
        raise ValueError(f"not Base64: {text}")
    return value


def _read_moment(text: str) -> datetime:
    return datetime.fromisoformat(_checked(_MOMENT, text))


def _read_date(text: str) -> date:
    return date.fromisoformat(_checked(_DATE, text))


def _read_year(text: str) -> int:
    return int(_checked(_YEAR, text))


def _checked(pattern: re.Pattern[str], text: str) -> str:
    if pattern.fullmatch(text) is None:
        raise ValueError(f"not as canonical text is written: {text}")
    return text


_READERS: Final[Mapping[str, PythonReader]] = {
    "bit": _read_whole,
    "float": _read_float,
    "boolean": _read_boolean,
    "bytes": _read_bytes,
    "date": _read_date,
    "year": _read_year,
    "datetime": _read_moment,
    "timestamp": _read_moment,
}
_TYPES: Final[Mapping[PythonReader, type[PythonValue]]] = {
    _read_whole: int, _read_decimal: Decimal, _read_float: float, _read_boolean: bool, _read_bytes: bytes,
    _read_date: date, _read_year: int, _read_moment: datetime,
}  # fmt: skip


def python_type(source_type: str | None, kind: str | None) -> type[PythonValue]:
    """Return the type of the values that `python_reader` reads in a column."""
    return _TYPES.get(python_reader(source_type, kind), str)
