"""Typed values: canonical text converted to a typed column, exactly or not at all.

A text is read where the type holds exactly its value; every other one is reported, never rounded or cast. The
text has to be written as canonical text is (no leading zeros, no plus sign, no blanks), so that no text is converted
that only looks like a value of the type.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from cdc_contracts.registry.core.values import BrokenValue
from cdc_contracts.registry.core.values.byte_strings import decode_base64

Mask = NDArray[np.bool_]

_WHOLE: Final = "(?:0|-?[1-9][0-9]{0,18})"
_YEAR: Final = "[0-9]{4}"
_FLOAT: Final = r"-?(?:0|[1-9][0-9]{0,20})(?:\.[0-9]+)?(?:e[+-][1-9][0-9]{0,2})?"
_NO_FLOATS: Final = ("NaN", "Infinity", "-Infinity")
_DATE: Final = "(?:[1-9][0-9]{3}|0[1-9][0-9]{2}|00[1-9][0-9]|000[1-9])-[0-9]{2}-[0-9]{2}"
_CLOCK: Final = r"T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,6})?"
_MOST_FLOAT_DIGITS: Final = 17


class ReadColumn(NamedTuple):
    """A typed column, and which of its texts the type cannot hold: these are null in it. None if it holds all."""

    values: pa.Array
    unread: Mask | None


def read_column(texts: pa.Array, type_: pa.DataType) -> ReadColumn:
    """Read canonical texts (strings, null for NULL) into a column type (`column_types`)."""
    if type_ == pa.string():
        return ReadColumn(texts, None)
    if texts.null_count == len(texts):
        return ReadColumn(pa.nulls(len(texts), type_), None)
    if pa.types.is_binary(type_):
        values = pa.array(map(_bytes_of, texts.to_pylist()), pa.binary())
    else:
        written = pc.match_substring_regex(texts, _pattern_of(type_))
        values = _parse(texts if pc.all(written).as_py() else pc.if_else(written, texts, None), type_)
    if values.null_count == texts.null_count:
        return ReadColumn(values, None)
    return ReadColumn(values, pc.and_(pc.is_valid(texts), pc.is_null(values)).to_numpy(zero_copy_only=False))


@lru_cache(4096)
def _pattern_of(type_: pa.DataType) -> str:
    if pa.types.is_decimal(type_):
        return _whole(_decimal(type_.precision, type_.scale))
    if pa.types.is_timestamp(type_):
        return _whole(_DATE + _CLOCK + ("Z" if type_.tz else ""))
    if pa.types.is_date(type_):
        return _whole(_DATE)
    if pa.types.is_floating(type_):
        return _whole("|".join((_FLOAT, *_NO_FLOATS)))
    if pa.types.is_boolean(type_):
        return _whole("true|false")
    return _whole(_YEAR if type_ == pa.int32() else _WHOLE)


def _decimal(precision: int, scale: int) -> str:
    """Return how a decimal is written that a type holds: zeros after its last digit are not rounded away."""
    whole = precision - scale
    head = f"(?:0|[1-9][0-9]{{0,{whole - 1}}})" if whole else "0"
    return rf"-?{head}(?:\.[0-9]{{0,{scale}}}0*)?"


def _whole(pattern: str) -> str:
    return rf"\A(?:{pattern})\z"


def _parse(texts: pa.Array, type_: pa.DataType) -> pa.Array:
    if pa.types.is_boolean(type_):
        return pc.equal(texts, "true")
    if pa.types.is_floating(type_):
        return _parse_floats(texts)
    if pa.types.is_decimal(type_):
        texts = pc.replace_substring_regex(texts, rf"(\.[0-9]{{{type_.scale}}})0+\z", r"\1")
    return _cast(texts, type_)


def _cast(texts: pa.Array, type_: pa.DataType) -> pa.Array:
    """Cast texts; where one cannot be cast, find it by bisection: there are few that look right and are not."""
    try:
        return texts.cast(type_)
    except pa.ArrowInvalid:
        if len(texts) == 1:
            return pa.nulls(1, type_)
        middle = len(texts) // 2
        return pa.concat_arrays([_cast(texts.slice(0, middle), type_), _cast(texts.slice(middle), type_)])


def _parse_floats(texts: pa.Array) -> pa.Array:
    """Read floats; a number beyond the range of 64 bits, or of more digits than one has, is none."""
    named = pc.is_in(texts, pa.array(_NO_FLOATS))
    numbers = pc.if_else(named, None, texts) if pc.any(named).as_py() else texts
    values = numbers.cast(pa.float64())
    length, zero = pc.utf8_length(numbers), pc.equal(values, 0.0)
    doubtful = pc.or_(pc.greater(length, pc.if_else(zero, 1, _MOST_FLOAT_DIGITS)), pc.is_inf(values))
    if pc.any(doubtful).as_py():
        digits = pc.replace_substring_regex(numbers, r"\A-?(?:0\.)?0*|\.|e.*\z", "")
        digits = pc.utf8_length(pc.utf8_rtrim(digits, "0"))
        kept = pc.and_(pc.is_finite(values), pc.less_equal(digits, _MOST_FLOAT_DIGITS))
        vanished = pc.and_(zero, pc.greater(digits, 0))
        values = pc.if_else(pc.and_(kept, pc.invert(vanished)), values, None)
    return values if numbers is texts else pc.if_else(named, texts.cast(pa.float64()), values)


def _bytes_of(text: str | None) -> bytes | None:
    """Return the bytes of Base64; None for null, and for a text that is none."""
    try:
        return None if text is None else decode_base64(text)
    except BrokenValue:
        return None
