"""Values of MongoDB Extended JSON: the notations of one value have one text, and what breaks a notation is refused."""

from __future__ import annotations

import base64
import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cdc_contracts.registry.core.values import FORMS, BrokenValue, Context, Flag, Number, Value

FORM = FORMS["extended-json"]
PLAIN = Context()
OID = "5cebdf84c9e3f8b35a8b4567"


def parsed(sent: str) -> Any:
    return json.loads(sent, parse_int=Number, parse_float=Number)


def text_of(sent: str) -> str:
    """Return what a JSON value reads as."""
    read = FORM.read(parsed(sent), PLAIN)
    assert read.flag == Flag.OK
    return read.text


NOTATIONS = {
    "5": ('{"$numberInt": "5"}', '{"$numberLong": "5"}', "5"),
    "-9223372036854775808": ('{"$numberLong": "-9223372036854775808"}', "-9223372036854775808"),
    "0": ('{"$numberInt": "0"}', "0", "-0"),
    "1.5": ('{"$numberDouble": "1.5"}', "1.5"),
    "1.0": ('{"$numberDouble": "1.0"}', "1.0"),
    "10000000000": ('{"$numberDouble": "1.0E10"}', '{"$numberDouble": "1.0E+10"}', "1.0E10"),
    "0.00001": ('{"$numberDouble": "1E-5"}', "1E-5"),
    "NaN": ('{"$numberDouble": "NaN"}', '{"$numberDecimal": "NaN"}'),
    "Infinity": ('{"$numberDouble": "Infinity"}', '{"$numberDecimal": "Infinity"}'),
    "-Infinity": ('{"$numberDouble": "-Infinity"}', '{"$numberDecimal": "-Infinity"}'),
    "1.50": ('{"$numberDecimal": "1.50"}',),
    "1500": ('{"$numberDecimal": "1.5E+3"}', '{"$numberDecimal": "1500"}'),
    OID: (f'{{"$oid": "{OID}"}}', f'{{"$oid": "{OID.upper()}"}}'),
    "2019-05-27T13:58:28.123Z": (
        '{"$date": 1558965508123}', '{"$date": {"$numberLong": "1558965508123"}}', '{"$date": "2019-05-27T13:58:28.123Z"}',
        '{"$date": "2019-05-27T15:58:28.123+02:00"}', '{"$date": "2019-05-27T13:58:28.123000Z"}',
    ),
    "2019-05-27T13:58:28.12Z": (
        '{"$date": 1558965508120}', '{"$date": "2019-05-27T13:58:28.12Z"}', '{"$date": "2019-05-27T13:58:28.120Z"}',
    ),
    "1970-01-01T00:00:00Z": ('{"$date": 0}', '{"$date": {"$numberLong": "0"}}', '{"$date": "1970-01-01T00:00:00Z"}'),
    "1969-12-31T23:59:59.999Z": (
        '{"$date": -1}', '{"$date": {"$numberLong": "-1"}}', '{"$date": "1969-12-31T23:59:59.999Z"}',
    ),
    "0000-01-01T00:00:00Z": ('{"$date": -62167219200000}', '{"$date": "0000-01-01T00:00:00Z"}'),
    '{"$date":{"$numberLong":"-62167219200001"}}': ('{"$date": -62167219200001}',),
    "9999-12-31T23:59:59.999Z": ('{"$date": 253402300799999}', '{"$date": "9999-12-31T23:59:59.999Z"}'),
    '{"$date":{"$numberLong":"253402300800000"}}': (
        '{"$date": 253402300800000}', '{"$date": {"$numberLong": "253402300800000"}}',
        '{"$date": "9999-12-31T23:00:00-01:00"}',
    ),
    "AxY=": (
        '{"$binary": "AxY=", "$type": "00"}', '{"$type": "0", "$binary": "AxY="}', '{"$binary": "AxY=", "$type": "80"}',
        '{"$binary": {"base64": "AxY=", "subType": "00"}}', '{"$binary": {"subType": "5", "base64": "AxY="}}',
    ),
    "": ('{"$binary": {"base64": "", "subType": "00"}}', '{"$binary": "", "$type": "00"}', '{"$symbol": ""}', '""'),
    "c//SZESzTGmQ6OfR38A11A==": (
        '{"$uuid": "73ffd264-44b3-4c69-90e8-e7d1dfc035d4"}', '{"$uuid": "73FFD264-44B3-4C69-90E8-E7D1DFC035D4"}',
        '{"$binary": {"base64": "c//SZESzTGmQ6OfR38A11A==", "subType": "04"}}',
    ),
    "up": ('{"$symbol": "up"}', '"up"'),
    "true": ("true", '"true"'),
    "false": ("false",),
    '{"$undefined":true}': ('{"$undefined": true}',),
    '{"$minKey":1}': ('{"$minKey": 1}',),
    '{"$maxKey":1}': ('{"$maxKey": 1}',),
    '{"$timestamp":{"t":1558965508,"i":1}}': ('{"$timestamp": {"t": 1558965508, "i": 1}}',),
    '{"$timestamp":{"t":4294967295,"i":2147483648}}': (
        '{"$timestamp": {"t": 4294967295, "i": 2147483648}}', '{"$timestamp": {"i": -2147483648, "t": -1}}',
    ),
    '{"$regularExpression":{"pattern":"^a","options":"i"}}': (
        '{"$regex": "^a", "$options": "i"}', '{"$options": "i", "$regex": "^a"}',
        '{"$regularExpression": {"options": "i", "pattern": "^a"}}',
    ),
    '{"$code":"f()"}': ('{"$code": "f()"}',),
    '{"$code":"f()","$scope":{"n":5}}': (
        '{"$code": "f()", "$scope": {"n": {"$numberInt": "5"}}}', '{"$scope": {"n": 5}, "$code": "f()"}',
    ),
    f'{{"$ref":"db.c","$id":{{"$oid":"{OID}"}}}}': (
        f'{{"$dbPointer": {{"$ref": "db.c", "$id": {{"$oid": "{OID}"}}}}}}',
        f'{{"$ref": "db.c", "$id": {{"$oid": "{OID.upper()}"}}}}',
    ),
    '{"$ref":"c","$id":5,"$db":"d","more":[7]}': (
        '{"$ref": "c", "$id": {"$numberLong": "5"}, "$db": "d", "more": [{"$numberInt": "7"}]}',
    ),
    "[1,2.0,3]": ('[1, 2.0, {"$numberLong": "3"}]', '[{"$numberInt": "1"}, {"$numberDouble": "2.0"}, 3]'),
    "[]": ("[]",),
    "{}": ("{}",),
    '{"a":[{"b":5}],"c":null,"d":true}': ('{"a": [{"b": {"$numberLong": "5"}}], "c": null, "d": true}',),
    '{"x":{"$numberDouble":"NaN"},"y":{"$numberDecimal":"1.5E+3"},"z":{"$symbol":"s"}}': (
        '{"x": {"$numberDouble": "NaN"}, "y": {"$numberDecimal": "1.5E+3"}, "z": {"$symbol": "s"}}',
    ),
    '[{"$date":"2019-05-27T13:58:28.120Z"},{"$date":"2019-05-27T13:58:28Z"}]': (
        '[{"$date": 1558965508120}, {"$date": 1558965508000}]',
        '[{"$date": "2019-05-27T13:58:28.12Z"}, {"$date": "2019-05-27T13:58:28.000Z"}]',
    ),
    '[{"$date":{"$numberLong":"-1"}}]': ('[{"$date": -1}]', '[{"$date": "1969-12-31T23:59:59.999Z"}]'),
    '[{"$binary":{"base64":"AxY=","subType":"0B"}}]': (
        '[{"$binary": "AxY=", "$type": "0b"}]', '[{"$binary": {"base64": "AxY=", "subType": "B"}}]',
    ),
    '[{"$binary":{"base64":"c//SZESzTGmQ6OfR38A11A==","subType":"04"}}]': (
        '[{"$uuid": "73ffd264-44b3-4c69-90e8-e7d1dfc035d4"}]',
    ),
}  # fmt: skip
"""Values in their notations, by the text that they have."""


@pytest.mark.parametrize(("text", "sent"), [(text, sent) for text, every in NOTATIONS.items() for sent in every])
def test_the_notations_of_a_value_have_one_text(text: str, sent: str) -> None:
    assert text_of(sent) == text


@pytest.mark.parametrize("text", NOTATIONS)
def test_a_text_is_written_as_a_value_that_has_it(text: str) -> None:
    assert FORM.read(FORM.write(text, PLAIN), PLAIN) == Value(text)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("5", {"$numberLong": "5"}),
        ("9223372036854775807", {"$numberLong": "9223372036854775807"}),
        ("9223372036854775808", {"$numberDecimal": "9223372036854775808"}),
        ("1.50", {"$numberDecimal": "1.50"}),
        ("1e3", "1e3"),
        ("-0", "-0"),
        ("007", "007"),
        ("9" * 4097, "9" * 4097),
        ('{"a":[true]}', {"a": [True]}),
        ('{"a": 1}', '{"a": 1}'),
        ('{"$oid":"5cebdf84c9e3f8b35a8b4567"}', '{"$oid":"5cebdf84c9e3f8b35a8b4567"}'),
        ('{"$oid":"?"}', '{"$oid":"?"}'),
        ("{a", "{a"),
        ("true", "true"),
        ("NaN", "NaN"),
    ],
)
def test_numbers_and_structures_are_written_as_such_and_other_texts_as_text(text: str, written: Any) -> None:
    assert FORM.write(text, PLAIN) == written


@pytest.mark.parametrize(
    "text", ["007", "-0", "1e3", "1.50", "NaN", "null", "", " ", f'{{"$oid":"{OID}"}}', '[{"$numberInt":"1"}]', "{"]
)
def test_a_string_is_its_own_text_whatever_it_looks_like(text: str) -> None:
    assert FORM.read(text, PLAIN) == Value(text)


@pytest.mark.parametrize(
    "sent",
    [
        '{"$type": "string"}',
        '{"$regex": {"$regularExpression": {"pattern": "a", "options": ""}}, "$options": "i"}',
        '{"$regex": "a"}',
        '{"$oid": "5cebdf84c9e3f8b35a8b4567", "more": 1}',
        '{"$numberLong": "05", "more": "x"}',
        '{"$gt": 5, "$lt": 7}',
        '{"$binary": "AxY=", "subType": "00"}',
        '{"numberLong": "5"}',
    ],
)
def test_an_object_that_is_no_notation_of_a_value_stays_json(sent: str) -> None:
    assert text_of(sent) == sent.replace(": ", ":").replace(", ", ",")


@pytest.mark.parametrize(
    "sent",
    [
        *(f'{{"{name}": {inner}}}' for name in ("$numberInt", "$numberLong") for inner in (
            '"-0"', '"05"', '"+5"', '"5.0"', '"5e1"', '" 5"', '""', '"x"', "5", "null", '{"$numberLong": "5"}')),
        *(f'{{"$numberDouble": {inner}}}' for inner in ('"inf"', '"+1"', '".5"', '"1."', '""', "1.5", '"-NaN"', "null")),
        *(f'{{"$numberDecimal": {inner}}}' for inner in ('"inf"', '"+1"', '".5"', '"1,5"', '""', "1.5", '"sNaN"')),
        *(f'{{"$oid": {inner}}}' for inner in ('"5cebdf84"', f'"{OID}0"', f'"{OID[:-1]}g"', "5", '{"$oid": "x"}')),
        *(f'{{"$date": {inner}}}' for inner in (
            '"2019-05-27"', '"2019-05-27T13:58:28"', '"2019-05-27 13:58:28Z"', '"2019-02-30T00:00:00Z"', '"2019-05-27T24:00:00Z"',
            '"2019-05-27T13:58:28.1234Z"', '"+10000-01-01T00:00:00Z"', "1.5", "1e3", "9223372036854775808", "true", "null",
            "[]", "{}", '{"$numberLong": 5}', '{"$numberLong": "5", "x": 1}', '{"$numberLong": "9223372036854775808"}',
            '{"$numberInt": "5"}')),
        *(f'{{"$binary": {inner}}}' for inner in (
            '"AxY="', '{"base64": "AxY="}', '{"base64": "AxY", "subType": "00"}', '{"base64": "AxY=", "subType": "000"}',
            '{"base64": "AxY=", "subType": 0}', '{"base64": 5, "subType": "00"}', '{"base64": "AxZ=", "subType": "00"}',
            '{"base64": "é", "subType": "00"}', '{"base64": "AxY=", "subType": "00", "x": 1}', "null")),
        '{"$binary": {"base64": "AxY=", "subType": "00"}, "$type": "00"}',
        '{"$binary": "AxY=", "$type": ""}',
        '{"$binary": "AxY=", "$type": 0}',
        *(f'{{"$uuid": {inner}}}' for inner in ('"73ffd26444b34c6990e8e7d1dfc035d4"', '"x"', "5",
                                               '"73ff-d26444b-34c6-990e8e-7d1dfc035d4"')),
        *(f'{{"$symbol": {inner}}}' for inner in ("5", "null", '{"$symbol": "x"}')),
        *(f'{{"$undefined": {inner}}}' for inner in ("false", "1", '"true"', "null")),
        *(f'{{"{name}": {inner}}}' for name in ("$minKey", "$maxKey") for inner in ("0", '"1"', "true", "1.0", "null")),
        *(f'{{"$timestamp": {inner}}}' for inner in (
            '{"t": 1}', '{"t": 1, "i": "1"}', '{"t": 1.0, "i": 1}', '{"t": 4294967296, "i": 1}', '{"t": -2147483649, "i": 1}',
            '{"t": 1, "i": 1, "x": 1}', "1", "null")),
        '{"$regex": "a", "$options": null}',
        *(f'{{"$regularExpression": {inner}}}' for inner in ('"a"', '{"pattern": "a"}', '{"pattern": "a", "options": 1}')),
        '{"$code": 1}',
        '{"$code": "f()", "$scope": null}',
        '{"$code": "f()", "$scope": []}',
        '{"$dbPointer": "c"}',
        '{"$dbPointer": {"$ref": "c", "$id": 5}}',
        '{"$dbPointer": {"$ref": "c", "$id": {"$oid": "x"}}}',
    ],
)  # fmt: skip
def test_a_notation_with_something_else_inside_is_broken_wherever_it_stands(sent: str) -> None:
    for whole in (sent, f"[{sent}]", f'{{"a": {{"b": {sent}}}}}', f'{{"$code": "f()", "$scope": {{"a": {sent}}}}}'):
        with pytest.raises(BrokenValue) as broken:
            FORM.read(parsed(whole), PLAIN)
        assert broken.value.flag == Flag.BROKEN


@pytest.mark.parametrize("sent", ['{"$numberDecimal": "1E+5000"}', '{"$numberLong": "1%s"}' % ("0" * 4096), "1e5000"])
def test_a_number_of_too_many_digits_is_too_long(sent: str) -> None:
    with pytest.raises(BrokenValue) as broken:
        FORM.read(parsed(sent), PLAIN)
    assert broken.value.flag == Flag.TOO_LONG


class Written:
    """One value of BSON as the driver writes it: v1 strict, v2 canonical, v2 relaxed."""

    def __init__(self, strict: Any, canonical: Any, relaxed: Any) -> None:
        self.each = (strict, canonical, relaxed)


def of_number(wrapper: str, token: str, *, strict_is_plain: bool) -> Written:
    wrapped = {wrapper: token}
    return Written(Number(token) if strict_is_plain else wrapped, wrapped, Number(token))


def of_date(millis: int) -> Written:
    canonical = {"$date": {"$numberLong": str(millis)}}
    relaxed: Any = canonical
    if 0 <= millis < 253_402_300_800_000:
        moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=millis)
        part = f".{moment.microsecond // 1000:03d}".rstrip("0").rstrip(".")  # java.time drops zeros at the end
        relaxed = {"$date": f"{moment:%Y-%m-%dT%H:%M:%S}{part}Z"}
    return Written({"$date": Number(str(millis))}, canonical, relaxed)


def of_bytes(data: bytes, subtype: int) -> Written:
    text, kind = base64.b64encode(data).decode(), f"{subtype:02X}"
    wrapped = {"$binary": {"base64": text, "subType": kind}}
    return Written({"$binary": text, "$type": kind}, wrapped, wrapped)


def of_regex(pattern: str, options: str) -> Written:
    wrapped = {"$regularExpression": {"pattern": pattern, "options": options}}
    return Written({"$regex": pattern, "$options": options}, wrapped, wrapped)


def of_pointer(namespace: str, oid: str) -> Written:
    plain = {"$ref": namespace, "$id": {"$oid": oid}}
    return Written(plain, {"$dbPointer": plain}, plain)


def alike(value: Any) -> Written:
    return Written(value, value, value)


def token_of_double(number: float) -> str:
    """Write a double with a fraction, as Java does."""
    mantissa, _, exponent = repr(number).partition("e")
    return (mantissa if "." in mantissa else f"{mantissa}.0") + (f"E{int(exponent)}" if exponent else "")


OIDS = st.binary(min_size=12, max_size=12).map(bytes.hex)
NAMES = st.text(st.characters(exclude_characters="$", exclude_categories=["Cs"]), max_size=4)
SCALARS = st.one_of(
    st.none() | st.booleans() | st.text(st.characters(exclude_categories=["Cs"]), max_size=6),
    st.integers(-(2**31), 2**31 - 1).map(lambda one: of_number("$numberInt", str(one), strict_is_plain=True)),
    st.integers(-(2**63), 2**63 - 1).map(lambda one: of_number("$numberLong", str(one), strict_is_plain=False)),
    st.floats(allow_nan=False, allow_infinity=False).map(
        lambda one: of_number("$numberDouble", token_of_double(one), strict_is_plain=True)
    ),
    st.sampled_from(["1.50", "-0", "1E+3", "0E-10", "NaN", "-Infinity"]).map(lambda one: alike({"$numberDecimal": one})),
    st.integers(-(2**63), 2**63 - 1).map(of_date) | st.integers(-1, 253_402_300_800_000).map(of_date),
    st.builds(of_bytes, st.binary(max_size=20), st.integers(0, 255)),
    st.builds(of_regex, st.text(st.characters(exclude_categories=["Cs"]), max_size=5), st.sampled_from(["", "i", "imx"])),
    st.builds(of_pointer, st.sampled_from(["c", "db.c"]), OIDS),
    OIDS.map(lambda one: alike({"$oid": one})),
    st.sampled_from([{"$minKey": Number("1")}, {"$maxKey": Number("1")}, {"$undefined": True}, {"$symbol": "s"},
                     {"$code": "f()"}, {"$timestamp": {"t": Number("7"), "i": Number("1")}}]).map(alike),
)  # fmt: skip
DOCUMENTS = st.recursive(
    SCALARS,
    lambda below: (
        st.lists(below, max_size=4)
        | st.dictionaries(NAMES, below, max_size=4)
        | st.builds(lambda scope: {"$code": "f()", "$scope": scope}, st.dictionaries(NAMES, below, max_size=2))
        | st.builds(lambda found: {"$ref": "c", "$id": found}, below)
    ),
    max_leaves=10,
)


def notation(value: Any, place: int) -> Any:
    """Return a document in one of the notations."""
    if isinstance(value, Written):
        return value.each[place]
    if isinstance(value, list):
        return [notation(one, place) for one in value]
    if isinstance(value, dict):
        return {name: notation(one, place) for name, one in value.items()}
    return value


@settings(max_examples=300)
@given(document=DOCUMENTS.filter(lambda value: value is not None))
@example(document=of_date(-1))
@example(document=[of_date(253_402_300_799_999), of_date(253_402_300_800_000)])
@example(document=of_number("$numberDouble", "-0.0", strict_is_plain=True))
def test_a_document_has_one_text_in_strict_canonical_and_relaxed_notation(document: Any) -> None:
    strict, canonical, relaxed = (FORM.read(notation(document, place), PLAIN) for place in range(3))
    assert strict == canonical == relaxed
    assert FORM.read(FORM.write(strict.text, PLAIN), PLAIN) == strict


@settings(max_examples=100)
@given(document=DOCUMENTS.filter(lambda value: isinstance(value, list) or (isinstance(value, dict) and value)))
def test_the_text_of_a_structure_is_json_whose_own_text_it_is(document: Any) -> None:
    read = FORM.read(notation(document, 0), PLAIN)
    assert FORM.read(parsed(read.text), PLAIN) == read
