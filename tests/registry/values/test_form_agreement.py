"""What a form reads it writes, and what its schema refuses it does not read."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from datetime import UTC, timedelta, timezone
from functools import cache
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator, TypeChecker
from jsonschema.validators import extend

from cdc_contracts.registry.core.values import FORMS, BrokenValue, Context, Flag, Number, ValueForm

LONG = os.environ.get("CDC_CONTRACTS_MUTATIONS", "some") != "some"
TIMES_MORE = 10 if LONG else 1
ODD = " \n\t\0٣\uff1905-+.:TZeExaAfF,[]'=/é😀"
NUMBER = r"-?(?:0|[1-9][0-9]{0,14})(?:\.[0-9]{1,12})?(?:[eE][+-]?[0-9]{1,3})?"
EDGES = (
    0,
    1,
    1900,
    1901,
    2155,
    2156,
    -719528,
    -719529,
    2932896,
    2932897,
    838 * 3_600_000_000,
    839 * 3_600_000_000,
    10**12,
    253402300800,
    2**53,
    2**63,
    2**64,
)
ZONES = (
    None,
    UTC,
    timezone(timedelta(hours=5, minutes=45)),
    ZoneInfo("Asia/Shanghai"),
    ZoneInfo("America/New_York"),
    ZoneInfo("Australia/Lord_Howe"),
    ZoneInfo("Africa/Monrovia"),
)
FRACTIONS = st.from_regex(r"(?:\.[0-9]{0,10})?", fullmatch=True)
TOKENS = (
    st.from_regex(NUMBER, fullmatch=True)
    | st.integers(-(2**70), 2**70).map(str)
    | st.builds(
        lambda edge, step, sign: str((edge + step) * sign),
        st.sampled_from(EDGES),
        st.integers(-1, 1),
        st.sampled_from((-1, 1)),
    )
    | st.floats(allow_nan=False, allow_infinity=False).map(json.dumps)
    | st.integers(10**12, 10**13 - 1).flatmap(
        lambda millis: FRACTIONS.filter(lambda part: part != ".").map(lambda part: f"{millis}{part}")
    )
    | st.sampled_from(
        (
            "-0",
            "-0.0",
            "-0e5",
            "1e400",
            "1E999999999999999999999",
            "0E-4095",
            "9" * 4097,
            "-" + "9" * 4096,
            "0." + "1" * 700,
            "3.4028235677973366e38",
        )
    )
)
TIMES = st.builds(
    lambda date, middle, time, fraction, tail: f"{date}{middle}{time}{fraction}{tail}",
    st.dates().map(str)
    | st.sampled_from(
        ("0000-00-00", "0000-01-01", "2020-02-30", "1900-02-29", "9999-12-31", "0001-01-01", "2021-11-07", "2021-03-14")
    ),
    st.sampled_from((" ", "T", "T", " ", "  ")),
    st.times().map(lambda time: time.strftime("%H:%M:%S"))
    | st.sampled_from(("24:00:00", "23:59:60", "02:30:00", "01:30:00", "00:01", "12")),
    FRACTIONS,
    st.sampled_from(("", "", "Z", " UTC", " Asia/Shanghai", " +08:00")),
)


STRUCTURES = st.recursive(
    st.none() | st.booleans() | TOKENS.filter(lambda token: len(token) < 1000).map(Number) | st.text(max_size=8),
    lambda below: st.lists(below, max_size=4) | st.dictionaries(st.text(max_size=4), below, max_size=4),
    max_leaves=8,
).filter(lambda value: isinstance(value, list | dict))


@cache
def of_shape(pattern: str | None) -> st.SearchStrategy[str]:
    """Give texts of the shape of a form; a strategy is made once, for making it takes longer than a draw."""
    return st.from_regex(pattern, fullmatch=True) if pattern else st.text(max_size=20)


@st.composite
def near(draw: st.DrawFn, form: ValueForm) -> str:
    """Draw a text of the shape of a form, or one edit away from it."""
    text: str = draw(of_shape(form.schema.get("pattern")))
    if draw(st.booleans()):
        place, cut = draw(st.integers(0, len(text))), draw(st.integers(0, 1))
        text = text[:place] + draw(st.sampled_from(("", *ODD))) + text[place + cut :]
    return text


@cache
def values_of(form: ValueForm) -> st.SearchStrategy[Any]:
    """Give values of the JSON kinds that a form takes."""
    kinds: list[st.SearchStrategy[Any]] = []
    if "text" in form.wire:
        kinds += [
            near(form),
            near(form),
            TIMES,
            st.text(max_size=30),
            TOKENS,
            TIMES.map(lambda text: text[11:]),
            TIMES.map(lambda text: text[:10]),
        ]
    if "number" in form.wire:
        kinds.append(TOKENS.map(Number))
    if "boolean" in form.wire:
        kinds.append(st.booleans())
    if "array" in form.wire:
        kinds.append(st.lists(st.text(max_size=4), max_size=4))
    if {"array", "object"} & form.wire:
        kinds.append(STRUCTURES)
    return st.one_of(kinds)


CONTEXTS = st.builds(
    Context,
    st.sampled_from(ZONES),
    st.booleans(),
    st.sampled_from(((), ("0000-00-00 00:00:00",), ("2020-01-01 00:00:00", "-2147472692", "9223372036825200000"))),
)
TYPED = {
    "scale": st.sampled_from((None, 0, 1, 2, 5, 30, 31, 4100, -1, -2, -4100)),
    "length": st.sampled_from((None, 1, 4, 8, 10, 63, 64, 70)),
    "members": st.sampled_from(((), ("a",), ("a", "b", "c,d"), ("", "b"), tuple(f"m{n}" for n in range(1, 65)))),
}


def context_of(data: st.DataObject, form: ValueForm) -> Context:
    """Draw a context; parameters of a type are in it where the form reads by them."""
    drawn = data.draw(CONTEXTS)
    return replace(drawn, **{name: data.draw(TYPED[name]) for name in sorted(form.type_parameters)})


def validate(form: ValueForm, value: Any, context: Context) -> tuple[str | None, Flag]:
    if value is None:
        return None, Flag.OK
    try:
        read = form.read(value, context)
    except BrokenValue as broken:
        return None, broken.flag
    return read.text, read.flag


@pytest.mark.one_in(4)
@pytest.mark.parametrize("name", FORMS)
@settings(max_examples=15 * TIMES_MORE, deadline=None)
@given(data=st.data())
def test_what_is_read_can_be_written_and_reads_back_the_same(name: str, data: st.DataObject) -> None:
    form = FORMS[name]
    context = context_of(data, form)
    text, _ = validate(form, data.draw(values_of(form)), context)
    if text is None:
        return
    assert form.read(form.write(text, context), context).text == text


@pytest.mark.parametrize("name", FORMS)
@settings(max_examples=10 * TIMES_MORE, deadline=None)
@given(data=st.data())
def test_a_text_that_no_value_reads_as_cannot_be_written(name: str, data: st.DataObject) -> None:
    form = FORMS[name]
    text = data.draw(st.text(max_size=12) | TIMES | TOKENS)
    try:
        value = form.write(text, Context())
    except BrokenValue:
        return
    assert form.read(value, Context()).text == text


def is_integer(_checker: TypeChecker, value: object) -> bool:
    return isinstance(value, Number) and not set(value.token) & set(".eE")


checker = Draft202012Validator.TYPE_CHECKER.redefine("integer", is_integer)
Validator = extend(Draft202012Validator, type_checker=checker)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", FORMS)
@settings(max_examples=20 * TIMES_MORE, deadline=None)
@given(data=st.data())
def test_what_the_schema_refuses_is_broken_and_what_is_read_the_schema_takes(name: str, data: st.DataObject) -> None:
    form = FORMS[name]
    context = context_of(data, form)
    value = data.draw(values_of(form))
    if not Validator(form.schema_in(context)).is_valid(value):
        assert validate(form, value, context) == (None, Flag.BROKEN)


@pytest.mark.parametrize("name", FORMS)
def test_a_schema_uses_only_the_agreed_keywords_and_takes_null(name: str) -> None:
    schema = FORMS[name].schema
    assert set(schema) <= {"type", "pattern", "minimum", "enum"}
    Draft202012Validator.check_schema(schema)
    assert Validator(schema).is_valid(None)
    json.dumps(dict(schema))
