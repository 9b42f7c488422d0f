"""The native part reads numbers out of bytes: what it is sure of, and what it leaves open, just within and just beyond."""

from __future__ import annotations

from base64 import b64encode
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scanned_messages import LIBRARY, column_of

from cdc_contracts.registry.core.engine.columns.form_parts import validate_parts
from cdc_contracts.registry.core.engine.layouts import decoder_kinds, single_values
from cdc_contracts.registry.core.engine.layouts.layout_parts import FormUse
from cdc_contracts.registry.core.engine.native.form_checks import check_values, write_values
from cdc_contracts.registry.core.engine.native.scanned_columns import DECIMAL, INTEGER, NUMBER, NUMBERS, TEXT, TEXTS
from cdc_contracts.registry.core.engine.native.scanned_values import ScannedPart
from cdc_contracts.registry.core.values import FORMS, Context, Number
from cdc_contracts.registry.core.values.likely_counts import likely_counts
from cdc_contracts.registry.core.values.type_bounds import bound_of

pytestmark = pytest.mark.skipif(LIBRARY is None, reason="no native part was compiled here, or it is switched off")

PLAIN = Context()
OK, BROKEN, NO_SCALE, OPEN = 0, 1, 7, 255


def texts_written(form, tokens, context=PLAIN, declared=None, kind=TEXT):
    """Return the text of each value that the native part reads, None of those that it refuses or leaves open."""
    bound = bound_of(declared, FORMS[form].kind) if declared else None
    use = FormUse(FORMS[form], context, lenient=False, bound=bound)
    column = column_of([(kind, token) for token in tokens], FORMS[form].decoder)
    checked = check_values([(column, use)])[0]
    assert checked is not None
    texts = write_values(column, use, checked[0])[0].to_pylist()
    refused = [] if checked[0] is None else np.flatnonzero(checked[0] == BROKEN).tolist()
    assert [place for place, text in enumerate(texts) if text is None] == sorted([*checked[1].tolist(), *refused])
    return texts


def two_complement(number, size):
    return b64encode(number.to_bytes(size, "big", signed=True)).decode()


EDGES = [0, 1, -1, 9, 10, 99, 100, 127, -128, 10**9 - 1, 10**9, 10**18, 2**63 - 1, -(2**63), 2**63, -(2**63) - 1, 2**64 - 1,
         2**64, -(2**64), 10**19, 10**27 - 1, 10**27, 2**96, 10**36, 10**38 - 1, 10**38, 2**127 - 1, -(2**127)]  # fmt: skip


@pytest.mark.parametrize("scale", [0, 1, 2, 10, 30])
def test_decimals_of_up_to_sixteen_bytes_are_written_with_their_point(scale):
    tokens = [two_complement(number, 16) for number in EDGES]
    small = [number for number in EDGES if -(2**63) <= number < 2**63]
    tokens += [two_complement(number, 8) for number in small]
    expected = []
    for number in EDGES + small:
        digits = str(abs(number)).rjust(scale + 1, "0")
        point = f"{digits[: len(digits) - scale]}.{digits[len(digits) - scale :]}" if scale else digits
        expected.append("-" + point if number < 0 else point)
    assert texts_written("decimal-base64", tokens, Context(scale=scale)) == expected


def flags_of(form, tokens, context=PLAIN, kind=TEXT):
    column = column_of([(kind, token) for token in tokens], FORMS[form].decoder)
    found = check_values([(column, FormUse(FORMS[form], context, lenient=False))])[0][0]
    return [OK] * len(tokens) if found is None else found.tolist()


def test_a_count_is_likely_or_is_not_and_what_is_no_plain_number_is_left_open():
    """The milliseconds of 3,652 days are 315,532,800,000, and those of 31,000 days 2,678,400,000,000."""
    tokens = {
        "315532799999": BROKEN, "315532800000": OK, "2678399999999": OK, "2678400000000": BROKEN, "0": BROKEN, "5": BROKEN,
        "-315532800000": BROKEN, "1718000000000250000": BROKEN, "9223372036854775807": BROKEN, "-9223372036854775809": BROKEN,
        "-0": OPEN, "-": OPEN, "1e12": OPEN, "315532800000.0": OPEN, "05": OPEN, "": OPEN,
    }  # fmt: skip
    column = column_of([(INTEGER, token) for token in tokens], "int")
    use = FormUse(likely_counts(FORMS["millis-wallclock"]), PLAIN, lenient=False)
    flags, left_open = check_values([(column, use)])[0]
    assert dict(zip(tokens, flags.tolist(), strict=True)) == tokens
    assert [[*tokens][place] for place in left_open] == ["-0", "-", "1e12", "315532800000.0", "05", ""]


def test_other_decimals_in_base64_are_left_open_and_what_is_no_base64_is_refused():
    tokens = ["", "AxY", "AxZ=", "A-Y=", two_complement(1, 17), two_complement(1, 16)]
    assert texts_written("decimal-base64", tokens, Context(scale=0)) == [None] * 5 + ["1"]
    assert flags_of("decimal-base64", tokens, Context(scale=0)) == [BROKEN] * 4 + [OPEN, OK]
    for context in (Context(scale=-1), Context(scale=31)):
        assert texts_written("decimal-base64", ["AQ=="], context) == [None]


def test_a_decimal_without_a_scale_is_kept_as_sent():
    tokens = ["AQ==", two_complement(1, 17), "", "1.5"]
    assert flags_of("decimal-base64", tokens) == [NO_SCALE, NO_SCALE, BROKEN, BROKEN]
    assert texts_written("decimal-base64", tokens) == [*tokens[:2], None, None]


def test_counts_of_smaller_parts_of_a_second_are_refused_and_years_before_0000_left_open():
    year_9999 = 253_402_300_799
    for form, part in (("millis-wallclock", 10**3), ("epoch-micros-instant", 10**6)):
        last = (year_9999 + 1) * part - 1
        assert flags_of(form, [str(last), str(last + 1)], kind=INTEGER) == [OK, OPEN]
        assert flags_of(form, [f"{last}0", f"-{last}0", f"-{last}"], kind=NUMBER) == [BROKEN, OPEN, OPEN]
        assert flags_of(form, ["1.5e300", f"{last}.5"], kind=NUMBER) == [OPEN, OPEN]


@pytest.mark.parametrize(
    ("declared", "numbers"),
    [
        ("decimal(4,2)", {9999: "99.99", -9999: "-99.99", 10000: None, -10000: None}),
        ("decimal(4,1)", {1: None}),
        ("decimal(5,3)", {9999: "99.99", 10000: None}),
        ("decimal(39,2)", {10**38: "1" + "0" * 36 + ".00"}),
    ],
)
def test_a_declared_type_bounds_the_digits_of_a_decimal(declared, numbers):
    tokens = [two_complement(number, 16) for number in numbers]
    use = FormUse(FORMS["decimal-base64"], Context(scale=2), lenient=False, bound=bound_of(declared, "decimal"))
    if list(numbers.values()) == [None]:
        assert check_values([(column_of([(TEXT, token) for token in tokens], "text"), use)])[0] is None
        return
    assert texts_written("decimal-base64", tokens, Context(scale=2), declared) == list(numbers.values())


def test_an_integer_in_base64_is_bounded_by_its_type():
    numbers = {0: "0", -1: None, 2**63 - 1: str(2**63 - 1), 2**63: None, 2**64 - 1: None, 2**64: None}
    tokens = [two_complement(number, 9) for number in numbers]
    assert texts_written("decimal-base64", tokens, Context(scale=0), "bigint unsigned") == list(numbers.values())
    numbers = {127: "127", 128: None, -128: "-128", -129: None}
    tokens = [two_complement(number, 2) for number in numbers]
    assert texts_written("decimal-base64", tokens, Context(scale=0), "tinyint") == list(numbers.values())


@pytest.mark.parametrize(
    ("length", "fields"),
    [
        (10, {b"": "0", b"\1\2": "513", b"\xff\3": "1023", b"\0\4": None, b"\1": "1", b"\1" + b"\0" * 7: "1"}),
        (63, {b"\xff" * 7 + b"\x7f": str(2**63 - 1), b"\0" * 7 + b"\x80": None}),
        (64, {b"\xff" * 7 + b"\x7f": str(2**63 - 1), b"\0" * 7 + b"\x80": None, b"\0" * 9: None}),
        (None, {b"\1\2\3\4\5\6\7\x08": str(0x0807060504030201), b"\0" * 9: None}),
    ],
)
def test_bit_fields_are_read_from_their_least_byte(length, fields):
    tokens = [b64encode(data).decode() for data in fields]
    assert texts_written("bit-base64-le", tokens, Context(length=length)) == list(fields.values())


@pytest.mark.parametrize("form", ["nanos-wallclock", "epoch-nanos-instant"])
def test_nanoseconds_are_those_of_64_bits(form):
    tokens = {
        "0": "1970-01-01T00:00:00", "-1": "1969-12-31T23:59:59.999999999", "1000000000": "1970-01-01T00:00:01",
        "1718028800500000000": "2024-06-10T14:13:20.5", "9223372036854775807": "2262-04-11T23:47:16.854775807",
        "-9223372036854775807": "1677-09-21T00:12:43.145224193", "9223372036854775808": None,
        "-9223372036854775808": None, "10000000000000000000": None, "-0": None, "00": None, "1e3": None, "1.5": None,
    }  # fmt: skip
    zone = "Z" if form == "epoch-nanos-instant" else ""
    expected = [None if text is None else text + zone for text in tokens.values()]
    assert texts_written(form, [*tokens], kind=NUMBER) == expected
    assert texts_written(form, [*tokens][:3], kind=INTEGER) == expected[:3]


def test_a_type_bounds_the_digits_of_a_second_in_nanoseconds():
    tokens = {"1718028800123456000": "2024-06-10T14:13:20.123456", "1718028800123456700": None, "0": "1970-01-01T00:00:00",
              "1718028800000000000": "2024-06-10T14:13:20"}  # fmt: skip
    found = texts_written("nanos-wallclock", [*tokens], declared="datetime(6)", kind=NUMBER)
    assert found == list(tokens.values())


@pytest.mark.parametrize("form", ["micros-wallclock", "epoch-micros-instant"])
def test_microseconds_are_those_of_ten_thousand_years(form):
    tokens = {
        "0": "1970-01-01T00:00:00", "-1": "1969-12-31T23:59:59.999999", "1000000": "1970-01-01T00:00:01",
        "-62167219200000000": "0000-01-01T00:00:00", "253402300799999999": "9999-12-31T23:59:59.999999",
        "-62167219200000001": None, "253402300800000000": None,
    }  # fmt: skip
    zone = "Z" if form == "epoch-micros-instant" else ""
    expected = [None if text is None else text + zone for text in tokens.values()]
    assert texts_written(form, [*tokens], kind=INTEGER) == expected


@pytest.mark.parametrize(("form", "digits"), [("millis-of-day", 3), ("micros-of-day", 6), ("nanos-of-day", 9)])
def test_a_duration_is_below_839_hours_in_every_unit(form, digits):
    most, nines = 839 * 3600 * 10**digits - 1, "9" * digits
    tokens = {0: "00:00:00", 1: "00:00:00." + "1".rjust(digits, "0"), -5 * 10**digits: "-00:00:05",
              most: f"838:59:59.{nines}", -most: f"-838:59:59.{nines}", most + 1: None, -most - 1: None}  # fmt: skip
    assert texts_written(form, [*map(str, tokens)], kind=INTEGER) == list(tokens.values())


def test_a_z_is_written_only_where_it_says_something():
    assert texts_written("iso-wallclock-z", ["2024-02-29T12:30:45.500Z"]) == ["2024-02-29T12:30:45.5"]
    assert texts_written("iso-date-z", ["2024-02-29Z", "2024-02-29", "2023-02-29Z"]) == ["2024-02-29", None, None]
    assert texts_written("iso-time-z", ["12:30:45.500Z", "24:00:00Z"]) == ["12:30:45.5", None]
    assert texts_written("iso-time-zoned", ["12:30:45.500Z", "12:30:45"]) == ["12:30:45.5Z", None]


def test_a_number_beyond_18_digits_is_left_open_by_all_other_forms():
    assert texts_written("integer-number", ["1718028800500000000"], kind=NUMBER) == [None]


LISTED = Context(members=("a", "b'c", "", "é" * 16))
MANY = tuple(f"m{n}" for n in range(60))


@pytest.mark.parametrize("kind", [TEXT, INTEGER])
def test_members_are_told_by_number_where_they_are_short(kind):
    tokens = ["1", "2", "3", "4", "0", "5", "01", "-1", ""] if kind == TEXT else ["1", "4", "0", "5", "-1"]
    texts = {"1": "a", "2": "b'c", "3": "", "4": "é" * 16}
    assert texts_written("enum-index", tokens, LISTED, kind=kind) == [texts.get(token) for token in tokens]
    short = Context(members=("a", "b", "c"))
    masks = {"0": "", "1": "a", "5": "a,c", "7": "a,b,c", "8": None}
    assert texts_written("set-mask", [*masks], short, kind=kind) == list(masks.values())


def test_members_for_which_there_is_no_room_are_left_open():
    cases = [
        (Context(), "enum-index", "1", None),
        (Context(), "set-mask", "0", None),
        (Context(members=MANY[:59]), "enum-index", "59", "m58"),
        (Context(members=MANY), "enum-index", "1", None),
        (Context(members=("x" * 32,)), "enum-index", "1", "x" * 32),
        (Context(members=("x" * 33,)), "enum-index", "1", None),
        (Context(members=("é" * 17,)), "enum-index", "1", None),
        (Context(members=("x" * 15, "y" * 16)), "set-mask", "3", "x" * 15 + "," + "y" * 16),
        (Context(members=("x" * 16, "y" * 16)), "set-mask", "3", None),
        (Context(members=("a\0b", "c")), "enum-index", "2", None),
        (Context(members=tuple("abcdefghijklmnop")), "set-mask", "65535", "a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p"),
    ]
    for context, form, token, expected in cases:
        assert texts_written(form, [token] * 9, context) == [expected] * 9, (form, context)


def test_a_decimal_with_less_digits_than_its_scale_is_left_open():
    tokens = ["12.10", "12.100", "12.1", "12", "0.00", "0.0", "0"]
    found = texts_written("decimal-text-of-scale", tokens, Context(scale=2))
    assert found == ["12.10", "12.100", None, None, "0.00", None, None]
    assert texts_written("decimal-text-of-scale", tokens[3:4], Context(scale=0)) == ["12"]
    assert texts_written("decimal-text-of-scale", tokens[2:4]) == ["12.1", "12"]


def test_a_float_as_text_is_left_open_where_only_its_literals_are_texts():
    assert texts_written("float64-number-or-literal", ["1.5", "NaN"], kind=TEXT) == [None, None]
    assert texts_written("float64-number-or-literal", ["1.5", "-2.25"], kind=DECIMAL) == ["1.5", "-2.25"]
    assert texts_written("float64-text", ["1.5"], kind=TEXT) == ["1.5"]


@pytest.mark.parametrize(
    ("cells", "in_c"),
    [
        ([(TEXT, "AxY="), (TEXT, "1234"), (TEXT, "A")], True),
        ([(DECIMAL, "7.90"), (INTEGER, "1234"), (DECIMAL, "123456789012345678.12345678901234567890")], True),
        ([(TEXT, "1234"), (INTEGER, "1234"), (DECIMAL, "7.905")], False),
    ],
)
def test_a_decimal_is_read_by_the_kind_of_its_value(cells, in_c):
    form = FORMS["decimal-base64-or-number"]
    bound = bound_of("org.apache.kafka.connect.data.Decimal(38,20)", "decimal")
    for use in (
        FormUse(form, Context(scale=2), lenient=False),
        FormUse(form, Context(scale=2), lenient=False, bound=bound),
    ):
        column = column_of(cells, form.decoder).widened()
        sent = [text if kind == TEXT else Number(text) for kind, text in cells]
        expected = [single_values.read_value(use, value) for value in sent]

        flags, texts = validate_parts([(ScannedPart([column], TEXTS | NUMBERS), use)], texts=True)[0]

        assert (check_values([(column, use)])[0] is not None) == in_c
        assert [text for text, _ in expected] == texts.to_pylist()
        assert [flag for _, flag in expected] == ([OK] * len(cells) if flags is None else flags.tolist())


plain_numbers = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(lambda one: f"{Decimal(repr(one)):f}"),
    st.floats(-1e11, 1e11).map(lambda one: f"{Decimal(repr(one)):f}"),
    st.decimals(-(10**11), 10**11, allow_nan=False, places=15).map(lambda one: f"{one:f}"),
    st.integers(-(10**20), 10**20).map(str),
)


@settings(max_examples=200)
@given(st.lists(plain_numbers, min_size=1, max_size=8))
@example(["0.1", "0.10", "100.0", "-0.0", "-0", "0.0000001", "0.000001", "234.33096104669636", "234.330961046696360"])
@example(
    ["12345678901.234567", "9007199254740993", "9007199254740993.0", "0.30000000000000004", "2.675", "1e5", "1e309"]
)
def test_a_double_is_written_with_the_digits_it_needs_whoever_writes_it(tokens):
    use = FormUse(FORMS["float64-number"], PLAIN, lenient=False)
    kinds = [NUMBER if "e" in token else DECIMAL if "." in token else INTEGER for token in tokens]
    column = column_of(list(zip(kinds, tokens, strict=True)), FORMS["float64-number"].decoder)
    flags, texts = validate_parts([(ScannedPart([column], NUMBERS), use)], texts=True)[0]
    each = [single_values.read_value(use, Number(token)) for token in tokens]
    assert texts.to_pylist() == [text for text, _ in each]
    assert ([0] * len(tokens) if flags is None else flags.tolist()) == [flag for _, flag in each]


TYPES = ["tinyint", "int unsigned", "bigint", "bigint unsigned", "decimal(18,0)", "decimal(19,0)", "decimal(5,2)"]
NEAR_BOUNDS = [
    sign * 10**digits + more for digits in (0, 2, 3, 5, 17, 18, 19, 20) for sign in (1, -1) for more in (-1, 0, 1)
] + [power + more for power in (-128, 127, 2**32, -(2**63), 2**63, 2**64) for more in (-2, -1, 0, 1)]
"""Whole numbers just within and just beyond the types."""


@pytest.mark.parametrize("declared", TYPES)
@pytest.mark.parametrize("kind", ["number", "text"])
def test_a_number_within_its_declared_type_or_beyond_it_is_that_to_both_parts(declared, kind):
    tokens = list(map(str, NEAR_BOUNDS))
    values = [Number(token) if kind == "number" else token for token in tokens]
    kinds = [TEXT if kind == "text" else INTEGER if -(2**63) <= number < 2**63 else NUMBER for number in NEAR_BOUNDS]
    read = 0
    for form in FORMS.values():
        bound = bound_of(declared, form.kind)
        if form.kind not in ("integer", "number", "decimal", "opaque") or kind not in form.wire or bound is None:
            continue
        use = FormUse(form, PLAIN, lenient=False, bound=bound)
        column = column_of(list(zip(kinds, tokens, strict=True)), decoder_kinds.WIDE)
        flags, texts = validate_parts([(ScannedPart([column], NUMBERS | TEXTS), use)], texts=True)[0]
        found = zip(texts.to_pylist(), [OK] * len(tokens) if flags is None else flags.tolist(), strict=True)
        assert list(found) == [single_values.read_value(use, value) for value in values], form.name
        read += 1
    assert read >= 5


def test_a_value_that_is_left_open_stays_open_where_those_of_another_record_are_sure():
    use = FormUse(FORMS["avro-text-or-bytes"], Context(invalid_literals=("odd",)), lenient=False)
    column = column_of([(TEXT, text) for text in ("Character odd", "BinaryObject aGk=", "Character even")])
    flags, left_open = check_values([(column, use)])[0]
    assert (flags.tolist(), left_open.tolist()) == ([OPEN, OK, OK], [0])
