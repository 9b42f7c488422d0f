"""What a form reads by the type of its column: the scale of a decimal, the bits of a bit field, the members of an ENUM."""

from __future__ import annotations

import base64
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cdc_contracts.registry.core.values import FORMS, BrokenValue, Context, Flag, Value
from cdc_contracts.registry.core.values.source_types import parameters_of, parse_members

ALL = ("length", "members", "scale")
UNSCALED, BITS = FORMS["decimal-base64"], FORMS["bit-base64-le"]


@pytest.mark.parametrize(
    ("source_type", "parameters"),
    [
        ("decimal(9,3)", {"scale": 3}),
        ("DECIMAL(9)", {"scale": 0, "length": 9}),
        ("decimal", {}),
        ("number(5,-2)", {"scale": -2}),
        ("number(*)", {}),
        ("number(*,4)", {"scale": 4}),
        ("numeric(10, 2) unsigned", {"scale": 2}),
        ("bigint unsigned", {"scale": 0}),
        ("bigint(20)", {"scale": 0, "length": 20}),
        ("varchar(20)", {"length": 20}),
        ("bit(10)", {"length": 10}),
        ("bit varying(70)", {"length": 70}),
        ("bit(0)", {}),
        ("bit", {}),
        ("enum('a','b''c')", {"members": ("a", "b'c")}),
        ("money", {}),
    ],
)
def test_a_type_says_its_parameters_and_none_is_guessed(source_type, parameters):
    assert parameters_of((source_type,), ALL) == parameters


def test_each_parameter_comes_from_the_first_type_that_says_it():
    assert parameters_of(("decimal", "decimal(9,3)"), ALL) == {"scale": 3}
    assert parameters_of(("decimal(9,2)", "decimal(9,3)"), ALL) == {"scale": 2}
    assert parameters_of(("decimal(9)", "decimal(9,3)"), ("length",)) == {"length": 9}
    assert parameters_of((), ALL) == {}


@pytest.mark.parametrize(
    ("source_type", "members"),
    [
        ("ENUM('x')", ("x",)),
        ("enum ( 'a' , 'b' ) character set latin1 comment 'c'", ("a", "b")),
        ("set('a,b','(c)','''','\\\\','d\\'e','')", ("a,b", "(c)", "'", "\\", "d'e", "")),
        ("enum('line\\nbreak','\\x')", ("line\nbreak", "x")),
        ("enum('a','b'", ()),
        ("enum(a,b)", ()),
        ("enum", ()),
        ("varchar(3)", ()),
        ("my_enum('a')", ()),
    ],
)
def test_members_are_those_between_the_quotes(source_type, members):
    assert parse_members(source_type) == members


@pytest.mark.parametrize(
    ("text", "scale", "canonical"),
    [
        ("/w==", 3, "-0.001"),
        ("AxY=", 2, "7.90"),
        ("B1g=", 4, "0.1880"),
        ("B1g=", 0, "1880"),
        ("AA==", 0, "0"),
        ("AA==", 3, "0.000"),
        ("AA==", -3, "0"),
        ("AAAA", 3, "0.000"),
        ("AQ==", -2, "100"),
        ("/w==", -2, "-100"),
        ("AAE=", 1, "0.1"),
        ("//8=", 1, "-0.1"),
        ("gA==", 0, "-128"),
        ("AIA=", 0, "128"),
        ("fw==", 30, "0.000000000000000000000000000127"),
        ("gA==", 31, "-0.0000000000000000000000000000128"),
        ("AQAAAAAAAAAA", 0, "18446744073709551616"),
        ("AP////////////////////8=", 0, "340282366920938463463374607431768211455"),
    ],
)
def test_the_point_of_a_decimal_stands_where_its_type_says(text, scale, canonical):
    assert UNSCALED.read(text, Context(scale=scale)) == Value(canonical)


def test_a_decimal_without_a_scale_is_kept_as_sent_and_no_scale_is_guessed():
    assert UNSCALED.read("AxY=", Context()) == Value("AxY=", Flag.NO_SCALE)
    assert UNSCALED.write("AxY=", Context()) == "AxY="
    for text in ("", "AxY", "7.90"):
        with pytest.raises(BrokenValue):
            UNSCALED.read(text, Context())


@pytest.mark.parametrize(
    ("number", "scale", "fits"),
    [
        (10**4096 - 1, 0, True),
        (10**4096, 0, False),
        (-(10**4095) + 1, 0, True),
        (-(10**4095), 0, False),
        (1, 4094, True),
        (1, 4095, False),
        (1, -4095, True),
        (1, -4096, False),
        (0, -(10**8), True),
    ],
)
def test_a_decimal_of_more_than_4096_characters_is_too_long(number, scale, fits):
    data = number.to_bytes(number.bit_length() // 8 + 1, "big", signed=True)
    text, context = base64.b64encode(data).decode(), Context(scale=scale)
    if fits:
        assert UNSCALED.write(UNSCALED.read(text, context).text, context) == text
        return
    with pytest.raises(BrokenValue) as broken:
        UNSCALED.read(text, context)
    assert broken.value.flag == Flag.TOO_LONG


@given(st.integers(-(2**130), 2**130), st.integers(-5, 40), st.integers(0, 3))
def test_a_decimal_is_its_number_whatever_bytes_of_its_sign_stand_before_it(number, scale, more):
    size = (number + (number < 0)).bit_length() // 8 + 1
    data = number.to_bytes(size + more, "big", signed=True)
    context = Context(scale=scale)
    read = UNSCALED.read(base64.b64encode(data).decode(), context)
    assert Fraction(read.text) * Fraction(10) ** scale == number
    assert len(read.text.partition(".")[2]) == max(scale, 0)
    assert base64.b64decode(UNSCALED.write(read.text, context)) == data[more:]


@pytest.mark.parametrize(
    ("text", "length", "canonical"),
    [
        ("AQI=", 10, "513"),
        ("AQA=", 10, "1"),
        ("AQ==", 10, "1"),
        ("", 10, "0"),
        ("AA==", None, "0"),
        ("/wM=", 10, "1023"),
        ("//////////8=", None, str(2**64 - 1)),
        ("//////////8AAA==", None, str(2**64 - 1)),
        ("AAAAAAAAAAAB", 65, str(2**64)),
    ],
)
def test_the_least_byte_of_a_bit_field_is_the_first(text, length, canonical):
    context = Context(length=length)
    assert BITS.read(text, context) == Value(canonical)
    assert BITS.read(BITS.write(canonical, context), context) == Value(canonical)


@pytest.mark.parametrize(
    ("text", "length"),
    [("AAQ=", 10), ("Ag==", 1), ("AAAAAAAAAAAB", 64), ("AAAAAAAAAAAB", None), ("AQI", 10), ("1", 10)],
)
def test_a_number_of_more_bits_than_its_column_has_is_broken(text, length):
    with pytest.raises(BrokenValue):
        BITS.read(text, Context(length=length))


def test_a_bit_field_is_written_with_the_bytes_of_its_column():
    assert [BITS.write("1", Context(length=length)) for length in (1, 8, 9, 10, 17)] == [
        "AQ==", "AQ==", "AQA=", "AQA=", "AQAA",
    ]  # fmt: skip
    with pytest.raises(BrokenValue):
        BITS.write("1024", Context(length=10))
