"""What a mapping says of values that are none of their form: literals, of texts and of numbers, and years beyond."""

from __future__ import annotations

import re

import pytest
from pydantic import ValidationError

from cdc_contracts.registry.core.contract.column_model import MappingDocument
from cdc_contracts.registry.core.contract.value_mappings import ValueMapping
from cdc_contracts.registry.core.values import FORMS, BrokenValue, Context, Flag, Number, Value

ENDLESS = ("9223372036825200000", "-9223372036832400000")
INFINITE = ("infinity", "-infinity")
KEEPS = Context(keep_invalid=True)


@pytest.mark.parametrize(
    ("form", "literals", "other"),
    [
        ("micros-wallclock", ENDLESS, ("1718028800500001", "2024-06-10T14:13:20.500001")),
        ("nanos-wallclock", ENDLESS, ("1", "1970-01-01T00:00:00.000000001")),
        ("days-since-epoch", ("-2147472692", "2147483647"), ("19884", "2024-06-10")),
        ("days-since-epoch", ("0",), ("1", "1970-01-02")),
    ],
)
def test_a_number_that_stands_for_no_time_is_kept_and_others_are_read(form, literals, other):
    known, context = FORMS[form], Context(invalid_literals=literals)
    for literal in literals:
        assert known.read(Number(literal), context) == Value(literal, Flag.INVALID)
        written = known.write(literal, context)
        assert (type(written), written.token) == (Number, literal)
    assert known.read(Number(other[0]), context) == Value(other[1])


def test_each_of_several_texts_stands_for_no_time():
    known, context = FORMS["iso-instant"], Context(invalid_literals=INFINITE)
    for literal in INFINITE:
        assert known.read(literal, context) == Value(literal, Flag.INVALID)
        assert known.write(literal, context) == literal
        with pytest.raises(BrokenValue):
            known.read(literal, Context())
    with pytest.raises(BrokenValue):
        known.read("Infinity", context)


def test_a_text_that_is_no_number_cannot_be_written_in_a_form_of_numbers():
    with pytest.raises(BrokenValue):
        FORMS["days-since-epoch"].write("infinity", Context(invalid_literals=INFINITE))


@pytest.mark.parametrize(
    ("form", "kept", "read", "broken"),
    [
        ("days-since-epoch", (-719529, -2440588, 2932897, 2145042905), (-719528, 2932896), (-2440589, 2145042906)),
        (
            "millis-wallclock",
            (-62167219200001, -210866803200000),
            (-62167219200000,),
            (-210866803200001, 253402300800000),
        ),
        (
            "epoch-millis-instant",
            (-62167219200001, -210866803200000),
            (-62167219200000,),
            (-210866803200001, 253402300800000),
        ),
        (
            "micros-wallclock",
            (-62167219200000001, -210866803200000000),
            (253402300799999999,),
            (-210866803200000001, 253402300800000000),
        ),
        (
            "epoch-micros-instant",
            (-62167219200000001, -210866803200000000),
            (-62167219200000000,),
            (-210866803200000001, 253402300800000000),
        ),
    ],
)
def test_years_beyond_are_kept_only_where_the_mapping_says_so_and_only_those_of_databases(form, kept, read, broken):
    known = FORMS[form]
    for number in kept:
        assert known.read(Number(str(number)), KEEPS) == Value(str(number), Flag.INVALID)
        assert known.write(str(number), KEEPS).token == str(number)
        with pytest.raises(BrokenValue):
            known.read(Number(str(number)), Context())
        with pytest.raises(BrokenValue):
            known.write(str(number), Context())
    for number in read:
        assert known.read(Number(str(number)), KEEPS).flag == Flag.OK
    for number in broken:
        with pytest.raises(BrokenValue):
            known.read(Number(str(number)), KEEPS)


def test_the_schema_takes_what_is_kept():
    known = FORMS["days-since-epoch"]
    assert known.schema_in(Context())["minimum"] == -719528
    assert known.schema_in(KEEPS)["minimum"] == -2440588
    assert known.schema_in(Context(invalid_literals=("-2147472692", "5", "x")))["minimum"] == -2147472692
    assert known.schema["minimum"] == -719528
    pattern = FORMS["iso-instant"].schema_in(Context(invalid_literals=INFINITE))["pattern"]
    assert pattern.endswith("|^infinity$|^-infinity$")


@pytest.mark.parametrize(
    ("entry", "literals", "keeps"),
    [
        ("keep-text", (), True),
        ({"literal": "a"}, ("a",), False),
        ({"literal": ["a", "b"]}, ("a", "b"), False),
        ({"literal": ["a"], "others": "keep-text"}, ("a",), True),
        (None, (), False),
    ],
)
def test_an_entry_of_a_mapping_has_literals_and_may_keep_the_others(entry, literals, keeps):
    document = {"mapping": "m", "invalid": {} if entry is None else {"sql-date": entry}}
    mapping = ValueMapping(MappingDocument.model_validate(document))
    assert (mapping.invalid_literals("sql-date"), mapping.keeps_invalid("sql-date")) == (literals, keeps)


@pytest.mark.parametrize(
    "entry",
    ["keep", {}, {"others": "keep-text"}, {"literal": "a", "others": "keep"}, {"literal": [1]}, {"literals": "a"}],
)
def test_any_other_entry_is_refused(entry):
    with pytest.raises(ValidationError):
        MappingDocument.model_validate({"mapping": "m", "invalid": {"sql-date": entry}})


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ("iso-instant", "-0043-03-15T12:00:00.500Z"),
        ("iso-instant", "+10000-01-01T00:00:00Z"),
        ("iso-instant", "+294276-12-31T23:59:59.999999Z"),
        ("iso-wallclock-z", "-4713-01-01T00:00:00Z"),
        ("iso-date-z", "-0043-03-15Z"),
        ("iso-date-z", "+5874897-12-31Z"),
    ],
)
def test_a_text_of_a_year_with_a_sign_is_kept_only_where_the_mapping_keeps_times(form, text):
    assert FORMS[form].read(text, KEEPS) == Value(text, Flag.INVALID)
    assert FORMS[form].write(text, KEEPS) == text
    with pytest.raises(BrokenValue):
        FORMS[form].read(text, Context())
    patterns = [re.compile(FORMS[form].schema_in(context)["pattern"]) for context in (KEEPS, Context())]
    assert [pattern.search(text) is not None for pattern in patterns] == [True, False]


@pytest.mark.parametrize(
    "text", ["-043-03-15T12:00:00Z", "+2024-01-01T00:00:00Z", "-0043-03-15T12:00:00", "-0043-03-15"]
)
def test_a_text_of_a_year_with_a_sign_has_all_the_parts_of_its_form(text):
    with pytest.raises(BrokenValue):
        FORMS["iso-instant"].read(text, KEEPS)
