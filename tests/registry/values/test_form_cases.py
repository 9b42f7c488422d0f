"""Every form against hand-written values: `cases/*.json` says what is read as what.

A file maps form names to groups: `good`, `noted` and `in part` are pairs of a wire value and its canonical text, `invalid`
values are kept as sent where the mapping keeps them, `broken` and `too long` are refused. JSON numbers keep their
tokens. `{"text": [["9", 4097]]}` and `{"number": …}` stand for repeated parts, put one after another.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cdc_contracts.registry.core.values import (
    FIRST_RECORD,
    FORMS,
    RECORDS,
    BrokenValue,
    Context,
    Flag,
    Number,
    Value,
    ValueForm,
)

CASES: dict[str, dict[str, Any]] = {}
for path in sorted((Path(__file__).parent / "cases").glob("*.json")):
    CASES |= json.loads(path.read_text("utf-8"), parse_int=Number, parse_float=Number)

KEEPS = Context(keep_invalid=True)
STRICT = Context()


def expand(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    ((kind, parts),) = value.items()
    text = "".join(part * int(times) for part, times in parts)
    return Number(text) if kind == "number" else text


def text_of(value: str | Number) -> str:
    return value.token if isinstance(value, Number) else value


def cases(*groups: str) -> list[Any]:
    return [
        pytest.param(
            FORMS[name],
            *(map(expand, case) if isinstance(case, list) else [expand(case)]),
            id=f"{name}-{group}-{number}",
        )
        for name, entry in CASES.items()
        for group in groups
        for number, case in enumerate(entry.get(group, ()))
    ]


Agree = Callable[[ValueForm, Any, Context, tuple[str | None, int]], None]


@pytest.fixture(scope="module")
def agree() -> Agree:
    """Return what reads a value and compares what becomes of it."""

    def demand(form: ValueForm, value: Any, context: Context, expected: tuple[str | None, int]) -> None:
        text, flag = expected
        if text is None:
            with pytest.raises(BrokenValue) as broken:
                form.read(value, context)
            assert broken.value.flag == flag
        else:
            assert form.read(value, context) == Value(text, flag)

    return demand


@pytest.mark.parametrize("name", FORMS)
def test_the_examples_in_the_file_of_a_form_are_read_or_refused_as_they_say(name: str) -> None:
    form = FORMS[name]
    assert form.says.endswith(".")
    for sent, text in form.examples.good:
        assert form.read(parse_value(sent), form.context_of_examples).text == text
        assert form.read(form.write(text, form.context_of_examples), form.context_of_examples).text == text
    for sent in form.examples.bad:
        with pytest.raises(BrokenValue):
            form.read(parse_value(sent), form.context_of_examples)
    for text in form.examples.edges:
        assert form.read(form.write(text, STRICT), STRICT).text == text


def parse_value(text: str) -> Any:
    return json.loads(text, parse_int=Number, parse_float=Number)


@pytest.mark.parametrize(("form", "value", "text"), cases("good"))
def test_a_good_value_is_read_as_its_canonical_text(agree: Agree, form: ValueForm, value: Any, text: str) -> None:
    for context in (KEEPS, STRICT):
        agree(form, value, context, (text, Flag.OK))


@pytest.mark.parametrize(("form", "value", "record"), cases("another record"))
def test_a_value_in_another_record_is_broken_and_the_record_is_reported(
    agree: Agree, form: ValueForm, value: Any, record: str
) -> None:
    for context in (KEEPS, STRICT):
        agree(form, value, context, (None, FIRST_RECORD + RECORDS.index(record)))


@pytest.mark.parametrize(("form", "value", "text"), cases("noted"))
def test_an_undocumented_detail_is_accepted_and_noted(agree: Agree, form: ValueForm, value: Any, text: str) -> None:
    for context in (KEEPS, STRICT):
        agree(form, value, context, (text, Flag.NOTED))


@pytest.mark.parametrize(("form", "value", "text"), cases("in part"))
def test_a_value_that_its_type_holds_in_part_is_read_and_marked(
    agree: Agree, form: ValueForm, value: Any, text: str
) -> None:
    for context in (KEEPS, STRICT):
        agree(form, value, context, (text, Flag.NOT_WHOLE))


@pytest.mark.parametrize(("form", "value"), cases("invalid"))
def test_a_time_that_does_not_exist_keeps_its_text_only_where_the_mapping_says_so(
    agree: Agree, form: ValueForm, value: str | Number
) -> None:
    agree(form, value, KEEPS, (text_of(value), Flag.INVALID))
    agree(form, value, STRICT, (None, Flag.BROKEN))


@pytest.mark.parametrize(("form", "value", "kept"), cases("invalid record"))
def test_of_an_invalid_time_in_a_record_the_text_behind_the_name_is_kept(
    agree: Agree, form: ValueForm, value: str, kept: str
) -> None:
    agree(form, value, KEEPS, (kept, Flag.INVALID))
    agree(form, value, STRICT, (None, Flag.BROKEN))
    assert form.read(form.write(kept, KEEPS), KEEPS) == Value(kept, Flag.INVALID)


def test_the_seconds_that_stand_for_an_invalid_time_are_kept(agree: Agree) -> None:
    context = Context(invalid_literals=("-9223372022400",))
    agree(FORMS["avro-timestamp"], "Timestamp -9223372022400", context, ("-9223372022400", Flag.INVALID))


@pytest.mark.parametrize(("form", "value"), cases("broken"))
def test_a_value_of_another_form_is_broken(agree: Agree, form: ValueForm, value: Any) -> None:
    for context in (KEEPS, STRICT):
        agree(form, value, context, (None, Flag.BROKEN))


@pytest.mark.parametrize(("form", "value"), cases("too long"))
def test_a_number_of_more_than_4096_characters_is_too_long(agree: Agree, form: ValueForm, value: Any) -> None:
    for context in (KEEPS, STRICT):
        agree(form, value, context, (None, Flag.TOO_LONG))


@pytest.mark.parametrize("name", [name for name, entry in CASES.items() if "literal" in entry])
def test_the_literal_of_a_mapping_is_kept_as_an_invalid_time(agree: Agree, name: str) -> None:
    literal = CASES[name]["literal"]
    agree(FORMS[name], literal, Context(invalid_literals=(literal,)), (literal, Flag.INVALID))
    agree(FORMS[name], literal, STRICT, (None, Flag.BROKEN))
    assert FORMS[name].write(literal, Context(invalid_literals=(literal,))) == literal


@pytest.mark.parametrize(("form", "value", "text"), cases("good", "noted", "in part"))
def test_canonical_text_is_written_as_a_value_that_reads_back_to_it(form: ValueForm, value: Any, text: str) -> None:
    written = form.write(text, STRICT)
    assert form.read(written, STRICT).text == text


@pytest.mark.parametrize(("form", "value"), cases("invalid"))
def test_the_text_of_an_invalid_time_is_written_as_it_was_sent(form: ValueForm, value: str | Number) -> None:
    assert form.read(form.write(text_of(value), KEEPS), KEEPS) == Value(text_of(value), Flag.INVALID)
