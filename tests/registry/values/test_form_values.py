"""Numbers keep their tokens, and shapes say what a value looked like."""

from __future__ import annotations

import copy
import json
import pickle
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cdc_contracts.registry.core.values import FORMS, BrokenValue, Context, Flag, Number, describe_shape


@pytest.mark.parametrize(
    ("token", "value"),
    [
        ("1.10", "1.10"),
        ("-0", "-0"),
        ("1E3", "1E+3"),
        ("99999999999999999999.99", "99999999999999999999.99"),
        ("1E999999999999999999999", "Infinity"),
        ("-1E999999999999999999999", "-Infinity"),
        ("0E999999999999999999999", "0"),
        ("-0.00E999999999999999999999", "-0"),
        ("1E-999999999999999999999", "0"),
        ("-1e-999999999999999999999", "-0"),
    ],
)
def test_a_number_keeps_its_token_and_holds_what_a_decimal_can(token: str, value: str) -> None:
    number = Number(token)
    assert number.token == token
    assert str(number) == value
    assert number == Decimal(value)
    assert hash(number) == hash(Decimal(value))


@pytest.mark.parametrize(
    "token", ["", "NaN", "Infinity", "+1", "01", "1.", ".5", " 1", "1\n", "1_0", "٣", "0x1", "1e", "--1"]
)
def test_what_is_no_json_number_is_no_number(token: str) -> None:
    with pytest.raises(ValueError, match="not a JSON number"):
        Number(token)


def test_a_number_survives_pickling_and_copying() -> None:
    for token in ("1.10", "1E999999999999999999999"):
        number = Number(token)
        for twin in (pickle.loads(pickle.dumps(number)), copy.copy(number), copy.deepcopy(number)):
            assert (type(twin), twin, twin.token) == (Number, number, token)


def test_json_is_parsed_into_numbers_with_their_tokens() -> None:
    parsed = json.loads("[1.0, -0, 1e2]", parse_int=Number, parse_float=Number)
    assert [number.token for number in parsed] == ["1.0", "-0", "1e2"]


@pytest.mark.parametrize(
    ("value", "shape"),
    [
        ("2020-11-25T00:01", "9999-99-99a99:99"),
        ("", ""),
        ("é😀\n\0", "xxxx"),
        ("xX9 ~!", "aa9 ~!"),
        ("٣", "x"),
        (Number("-1.50E+3"), "-9.99a+9"),
        (Number("1E999999999999999999999"), "9a999999999999999999999"),
        (True, "aaaa"),
        (False, "aaaaa"),
        ("a" * 40, "a" * 40),
        ("1" * 41, "9" * 40 + "…"),
        ("😀" * 50, "x" * 40 + "…"),
    ],
)
def test_a_shape_shows_what_kind_of_letters_stand_where(value: Any, shape: str) -> None:
    assert describe_shape(value) == shape


@given(st.text(max_size=60))
def test_a_shape_is_as_long_as_its_text_up_to_forty_characters(value: str) -> None:
    assert len(describe_shape(value)) == min(len(value), 41)


def test_the_flags_have_fixed_numbers() -> None:
    assert [(flag.name, flag.value) for flag in Flag] == [
        ("OK", 0),
        ("BROKEN", 1),
        ("INVALID", 2),
        ("NOTED", 3),
        ("TOO_LONG", 4),
        ("NO_INSTANT", 5),
        ("NOT_WHOLE", 6),
        ("NO_SCALE", 7),
        ("SUBSTITUTE", 8),
    ]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("micros-of-day", "00:00:00.1234567"),
        ("millis-wallclock", "2020-01-01T00:00:00.1234"),
        ("epoch-seconds-integer", "2020-01-01T00:00:00.5Z"),
        ("epoch-seconds.fraction", "1969-12-31T23:59:59Z"),
        ("bool-0-1", "TRUE"),
        ("bool-json", "yes"),
        ("sql-date", "2020-1-1"),
        ("sql-datetime", "2020-01-01T00:00:00[UTC]"),
        ("interval-literal", "P3DT-4H"),
        ("interval-literal", "P4Y3D"),
        ("interval-signed", "P3DT-4H"),
        ("interval-signed", "P4Y3D"),
        ("bit-number", "-1"),
        ("year-number", "1900"),
        ("integer-number", "٣"),
        ("float64-number", "1.0"),
        ("decimal-text", "1e3"),
        ("hex-upper", "aA"),
        ("sql-date", "9" * 5000),
        ("bit-hex", "9" * 5000),
    ],
)
def test_a_form_does_not_write_what_it_cannot_carry(name: str, text: str) -> None:
    with pytest.raises(BrokenValue):
        FORMS[name].write(text, Context())
