"""What a form reads by the type of its column: the scale of a decimal, the bits of a bit field, the members of an ENUM."""

from __future__ import annotations

import base64
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cdc_contracts.registry.core.values import FORMS, BrokenValue, Context, Flag, Number, Value
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


@pytest.mark.parametrize(
    ("form", "members", "cases"),
    [
        ("enum-index", ("a", "b,c", ""), {"1": ("a", 0), "2": ("b,c", 0), "3": ("", 0), "0": ("", 3), "4": None}),
        ("enum-index", (), {"1": ("1", 3), "0": ("0", 3), "65535": ("65535", 3), "65536": None, "100000": None}),
        ("enum-index", ("a",), {"1": ("a", 0), "2": None, "01": None, "-1": None, "": None, "1.0": None}),
        ("set-mask", ("a", "b", "c"), {"0": ("", 0), "1": ("a", 0), "6": ("b,c", 0), "7": ("a,b,c", 0), "8": None}),
        ("set-mask", (), {"0": ("0", 3), str(2**64 - 1): (str(2**64 - 1), 3), str(2**64): None, "-1": None}),
        ("set-mask", tuple(f"m{n}" for n in range(64)), {str(2**63): ("m63", 0), str(2**64): None}),
        ("set-mask", tuple(f"m{n}" for n in range(63)), {str(2**62): ("m62", 0), str(2**63): None}),
    ],
)
def test_members_are_told_by_number_as_far_as_their_type_lists_them(form, members, cases):
    context = Context(members=members)
    for token, expected in cases.items():
        if expected is None:
            with pytest.raises(BrokenValue):
                FORMS[form].read(token, context)
            continue
        assert FORMS[form].read(token, context) == Value(expected[0], Flag(expected[1]))
        assert FORMS[form].read(FORMS[form].write(expected[0], context), context).text == expected[0]


def test_what_is_no_member_cannot_be_written():
    for form, text in (("enum-index", "z"), ("set-mask", "a,z"), ("set-mask", "b,a"), ("set-mask", "a,a")):
        with pytest.raises(BrokenValue):
            FORMS[form].write(text, Context(members=("a", "b")))


@pytest.mark.parametrize(
    ("text", "scale", "expected"),
    [
        ("12.10", 2, ("12.10", 0)),
        ("12.100", 2, ("12.100", 0)),
        ("12.1", 2, None),
        ("12", 2, None),
        ("0.0", 2, ("0.00", 3)),
        ("-0.0", 2, ("0.00", 3)),
        ("0.00", 2, ("0.00", 0)),
        ("0", 0, ("0", 0)),
        ("12", 0, ("12", 0)),
        ("100", -2, ("100", 0)),
        ("12.1", None, ("12.1", 0)),
        ("0", None, ("0", 0)),
    ],
)
def test_a_decimal_has_the_digits_of_its_scale_and_only_a_zero_may_lack_some(text, scale, expected):
    form, context = FORMS["decimal-text-of-scale"], Context(scale=scale)
    if expected is None:
        with pytest.raises(BrokenValue):
            form.read(text, context)
    else:
        assert form.read(text, context) == Value(expected[0], Flag(expected[1]))


def test_a_zero_of_a_scale_that_is_too_long_is_too_long():
    form = FORMS["decimal-text-of-scale"]
    assert form.read("0", Context(scale=4094)).text == "0." + "0" * 4094
    with pytest.raises(BrokenValue) as broken:
        form.read("0", Context(scale=4095))
    assert broken.value.flag == Flag.TOO_LONG


def test_a_year_that_no_column_holds_stands_for_0000_and_is_noted():
    form = FORMS["year-number-or-1900"]
    assert form.read(Number("1900"), Context()) == Value("0000", Flag.NOTED)
    assert form.read(Number("0"), Context()) == Value("0000")
    assert form.read(Number("1901"), Context()) == Value("1901")


def test_a_negative_number_of_an_unsigned_column_lacks_2_to_the_64_and_is_noted():
    form = FORMS["uint64-as-int64"]
    assert form.read(Number("-1"), Context()) == Value("18446744073709551615", Flag.NOTED)
    assert form.read(Number("9223372036854775807"), Context()) == Value("9223372036854775807")
    assert form.write("18446744073709551615", Context()) == Number("-1")
    for text in ("-1", "18446744073709551616"):
        with pytest.raises(BrokenValue):
            form.write(text, Context())


@pytest.mark.parametrize("name", ["float64-number-or-literal", "float32-number-or-literal"])
def test_a_float_is_a_number_or_one_of_three_texts(name):
    form = FORMS[name]
    for text in ("NaN", "Infinity", "-Infinity"):
        assert form.read(text, Context()) == Value(text)
        assert form.write(text, Context()) == text
    assert form.read(Number("1.50"), Context()) == Value("1.5")
    for text in ("1.5", "0", "", "nan", "inf"):
        with pytest.raises(BrokenValue):
            form.read(text, Context())


@pytest.mark.parametrize(
    ("sent", "canonical"),
    [
        ("P1Y2M3DT4H5M6.789S", "P1Y2M3DT4H5M6.789S"),
        ("P0Y0M0DT0H0M0S", "P0D"),
        ("P0Y0M0DT0H0M0.000000S", "P0D"),
        ("P-1Y-2M-3DT-4H-5M-6.700S", "P-1Y-2M-3DT-4H-5M-6.7S"),
        ("P0Y0M0DT0H0M-0.5S", "PT-0.5S"),
        ("P0Y14M0DT25H61M61S", "P14MT25H61M61S"),
        ("P007D", "P7D"),
        ("PT0.000000001S", "PT0.000000001S"),
        ("P999999999Y", "P999999999Y"),
    ],
)
def test_an_iso_interval_has_only_the_parts_that_are_not_zero(sent, canonical):
    form = FORMS["iso-interval"]
    assert form.read(sent, Context()) == Value(canonical)
    assert form.read(form.write(canonical, Context()), Context()) == Value(canonical)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "P",
        "PT",
        "P1YT",
        "P1",
        "P+1D",
        "P1.5D",
        "PT.5S",
        "PT1.S",
        "PT1.1234567890S",
        "P1000000000Y",
        "P1S",
        "p1d",
        "P1D\n",
    ],
)
def test_what_is_no_iso_interval_is_broken(text):
    with pytest.raises(BrokenValue):
        FORMS["iso-interval"].read(text, Context())
