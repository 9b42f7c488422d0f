"""Canonical text is read into typed columns exactly or not at all: cases by hand, and random ones against Python."""

from __future__ import annotations

import base64
import datetime as dt
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from cdc_contracts.registry.core.tables.canonical.column_types import (
    INSTANT,
    WALL_CLOCK,
    column_type,
    read_type,
    write_type,
)
from cdc_contracts.registry.core.tables.canonical.typed_values import read_column

CASES = yaml.safe_load((Path(__file__).parent / "cases" / "readings.yaml").read_text())
NAMES = [f"{case['type']}-{case['kind']}" for case in CASES]


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_a_type_and_a_kind_lead_to_a_column_type(case):
    reported = column_type(case["type"], case["kind"])
    assert write_type(reported) == case["column"]
    assert read_type(case["column"]) == reported


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_a_text_is_read_exactly_or_stays_text(case):
    wanted = {**case["read"], **dict.fromkeys(case.get("raw", ()))}
    # Behind a null and as part of a longer array, as texts come from the rows of a table.
    texts = pa.array([None, "before", None, *wanted])[2:]
    values, unread = read_column(texts, column_type(case["type"], case["kind"]))
    values.validate(full=True)
    found = dict(zip(wanted, map(shown, values[1:]), strict=True))
    assert found == wanted
    left = [text for text, mark in zip(wanted, unread[1:], strict=True) if mark] if unread is not None else []
    assert left == list(case.get("raw", ()))
    assert values[0].as_py() is None


def shown(value: pa.Scalar) -> str | None:
    held = value.as_py()
    if isinstance(held, dt.datetime | dt.date):
        return held.isoformat()
    return None if held is None else str(held)


@settings(max_examples=60)
@given(st.lists(st.decimals(allow_nan=False, allow_infinity=False, places=6), max_size=30), st.integers(0, 8))
def test_a_decimal_column_holds_the_very_decimals_or_none(numbers, scale):
    texts = [f"{number:f}" for number in numbers]
    values, unread = read_column(pa.array(texts, pa.string()), pa.decimal128(12, scale))
    for place, (number, value) in enumerate(zip(numbers, values.to_pylist(), strict=True)):
        fits = abs(number) < 10 ** (12 - scale) and number == number.quantize(Decimal(1).scaleb(-scale))
        assert (value is not None) == fits
        assert value is None or value == number
        assert (unread is not None and bool(unread[place])) == (not fits)


@settings(max_examples=60)
@given(st.lists(st.datetimes(), max_size=30), st.booleans())
def test_a_time_column_holds_the_very_times(moments, instants):
    texts = [canonical_time(moment) + "Z" * instants for moment in moments]
    values, unread = read_column(pa.array(texts, pa.string()), INSTANT if instants else WALL_CLOCK)
    assert unread is None
    assert [value and value.replace(tzinfo=None) for value in values.to_pylist()] == moments


def canonical_time(moment: dt.datetime) -> str:
    return moment.isoformat() if moment.microsecond == 0 else moment.isoformat(timespec="microseconds").rstrip("0")


@settings(max_examples=60)
@given(st.lists(st.binary(max_size=9) | st.none(), max_size=30))
def test_a_binary_column_holds_the_very_bytes(values):
    texts = [None if value is None else base64.b64encode(value).decode() for value in values]
    read, unread = read_column(pa.array(texts, pa.string()), pa.binary())
    assert unread is None
    assert read.to_pylist() == values


@settings(max_examples=100)
@given(st.lists(st.text("AB+/=g\n -_ä", max_size=9), max_size=12))
def test_only_base64_that_bytes_would_write_again_is_read(texts):
    read, _ = read_column(pa.array(texts, pa.string()), pa.binary())
    assert read.to_pylist() == [python_bytes(text) for text in texts]


def python_bytes(text: str) -> bytes | None:
    try:
        value = base64.b64decode(text, validate=True)
    except ValueError:
        return None
    return value if base64.b64encode(value).decode() == text else None


@settings(max_examples=60)
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=30))
def test_a_float_column_holds_the_very_floats(numbers):
    texts = [canonical_float(number) for number in numbers]
    values, unread = read_column(pa.array(texts, pa.string()), pa.float64())
    assert unread is None
    assert values.to_pylist() == numbers


def canonical_float(number: float) -> str:
    """Return the shortest digits, with the exponent as ECMAScript writes it."""
    digits, _, exponent = repr(number).partition("e")
    power = int(exponent or 0)
    if power >= 21 or power < -6:
        return f"{digits}e{power:+d}"
    text = f"{Decimal(repr(number)):f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text in ("-0", "") else text


def test_an_empty_column_and_one_of_nulls_have_their_type():
    for texts in ([], [None, None]):
        for type_ in (pa.binary(), pa.decimal128(4, 2), INSTANT, pa.bool_()):
            values, unread = read_column(pa.array(texts, pa.string()), type_)
            assert (values.type, values.to_pylist(), unread) == (type_, texts, None)
