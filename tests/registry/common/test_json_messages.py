"""Hostile bytes: no value stops the reading, each that is no message has its cause, and both paths say the same one."""

from __future__ import annotations

import pickle
from functools import cache

import pytest

from cdc_contracts.registry.core.common.json_messages import (
    Unreadable,
    depth_exceeds,
    has_duplicates,
    kind_of,
    parse_message,
)
from cdc_contracts.registry.core.contract.catalogue import shipped_catalogue
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.engine.fast_validator import FastValidator
from cdc_contracts.registry.core.validate.validation_context import ValidationContext, open_validation
from cdc_contracts.registry.core.values import Number

INSERT = (
    b'{"database":"shop","table":"orders","type":"INSERT","isDdl":false,"id":7,"es":1718000000000,"ts":1718000000001,'
    b'"sql":"","sqlType":{"id":-5,"name":12},"mysqlType":{"id":"bigint","name":"varchar"},"pkNames":["id"],'
    b'"data":[{"id":"1","name":"@@"}],"old":null}'
)


def with_name(raw: bytes) -> bytes:
    return INSERT.replace(b"@@", raw)


UNREADABLE = {
    "nothing": (b"", "empty"),
    "blanks": (b" \t\r\n ", "empty"),
    "a byte order mark": (b"\xef\xbb\xbf" + INSERT, "bom"),
    "a byte order mark alone": (b"\xef\xbb\xbf", "bom"),
    "utf-16": (INSERT.decode().encode("utf-16"), "utf8"),
    "utf-16 without a mark": (INSERT.decode().encode("utf-16-be"), "json"),
    "a byte that is not utf-8 in a value of an image": (with_name(b"\xff"), "utf8"),
    "half a character in a value of an image": (with_name(b"\xe8\x8b"), "utf8"),
    "an overlong zero": (with_name(b"\xc0\x80"), "utf8"),
    "a surrogate as bytes": (with_name(b"\xed\xa0\x80"), "utf8"),
    "a pair of surrogates as bytes": (with_name(b"\xed\xa0\xbd\xed\xb8\x80"), "utf8"),
    "a character beyond the last": (with_name(b"\xf4\x90\x80\x80"), "utf8"),
    "a byte that is not utf-8 in an unknown member": (INSERT[:-1] + b',"zz":"\xff"}', "utf8"),
    "a byte that is not utf-8 in the name of an unknown member": (INSERT[:-1] + b',"\xfe":1}', "utf8"),
    "a byte that is not utf-8 in the name of a column": (INSERT.replace(b'"name":"@@"', b'"n\xe9":"x"'), "utf8"),
    "a byte that is not utf-8 in the database": (INSERT.replace(b'"shop"', b'"sh\xf3p"'), "utf8"),
    "a byte that is not utf-8 in a type": (INSERT.replace(b'"varchar"', b'"var\x80"'), "utf8"),
    "a byte that is not utf-8 after the end": (INSERT + b"\xff", "utf8"),
    "text after the end": (INSERT + b" x", "json"),
    "a second message": (INSERT + INSERT, "json"),
    "a second message on a line of its own": (INSERT + b"\n" + INSERT, "json"),
    "a zero byte after the end": (INSERT + b"\x00", "json"),
    "a bracket too many": (INSERT + b"}", "json"),
    "cut short": (INSERT[:-1], "json"),
    "one brace": (b"{", "json"),
    "a trailing comma": (b'{"a":1,}', "json"),
    "single quotes": (b"{'a':1}", "json"),
    "a name without quotes": (b"{a:1}", "json"),
    "a comment": (b'{"a":1 /* one */}', "json"),
    "NaN": (INSERT.replace(b'"id":7', b'"id":NaN'), "json"),
    "Infinity": (INSERT.replace(b'"id":7', b'"id":Infinity'), "json"),
    "-Infinity in an unknown member": (INSERT[:-1] + b',"zz":-Infinity}', "json"),
    "NaN in an image": (INSERT.replace(b'"id":"1"', b'"id":NaN'), "json"),
    "a leading zero": (INSERT.replace(b'"id":7', b'"id":07'), "json"),
    "a leading zero in an unknown member": (INSERT[:-1] + b',"zz":01}', "json"),
    "a bare point": (INSERT.replace(b'"id":7', b'"id":7.'), "json"),
    "a plus": (INSERT.replace(b'"id":7', b'"id":+7'), "json"),
    "hex": (INSERT.replace(b'"id":7', b'"id":0x7'), "json"),
    "True": (INSERT.replace(b"false", b"False"), "json"),
    "a raw line feed in a text": (with_name(b"\n"), "json"),
    "a raw zero byte in a text": (with_name(b"\x00"), "json"),
    "an unknown escape": (with_name(rb"\x41"), "json"),
    "a short escape": (with_name(rb"\u12"), "json"),
    "a lone high surrogate": (with_name(rb"\ud83d"), "surrogate"),
    "a lone low surrogate": (with_name(rb"\ude00"), "surrogate"),
    "surrogates the wrong way round": (with_name(rb"\ude00\ud83d"), "surrogate"),
    "a lone surrogate in capitals": (with_name(rb"\uD83D"), "surrogate"),
    "a lone surrogate in the name of a column": (INSERT.replace(b'"name":"@@"', rb'"\ud83d":"x"'), "surrogate"),
    "a lone surrogate in the name of an unknown member": (INSERT[:-1] + rb',"\ud83d":1}', "surrogate"),
    "a lone surrogate in an unknown member": (INSERT[:-1] + rb',"zz":["\udfff"]}', "surrogate"),
    "a lone surrogate in the table": (INSERT.replace(b'"orders"', rb'"\ud800"'), "surrogate"),
    "a list": (b"[" + INSERT + b"]", "not-object"),
    "an empty list": (b"[]", "not-object"),
    "a number": (b"7", "not-object"),
    "a text": (b'"INSERT"', "not-object"),
    "null": (b"null", "null-text"),
    "true": (b" true ", "not-object"),
    "nesting of 129": (INSERT[:-1] + b',"zz":' + b"[" * 128 + b"]" * 128 + b"}", "depth"),
    "nesting of 1,000": (INSERT[:-1] + b',"zz":' + b"[" * 999 + b"]" * 999 + b"}", "depth"),
    "nesting of objects": (INSERT[:-1] + b',"zz":' + b'{"a":' * 200 + b"1" + b"}" * 200 + b"}", "depth"),
    "nesting of 100,000": (b"[" * 100_000 + b"]" * 100_000, "depth"),
    "nesting of 100,000 that is never closed": (b'{"a":' * 100_000, "depth"),
    "nesting in an image": (with_name(b"").replace(b'"1"', b"[" * 500 + b"]" * 500), "depth"),
}

READABLE = {
    "the message itself": INSERT,
    "blanks around": b" \t\r\n" + INSERT + b"\r\n",
    "an escaped pair of surrogates": with_name(rb"\ud83d\ude00"),
    "a backslash before what looks like a surrogate": with_name(rb"\\ud800"),
    "an escaped zero": with_name(rb"\u0000"),
    "a private character": with_name("\ue000\U0010ffff".encode()),
    "a line separator": with_name("\u2028".encode()),
    "brackets in a text": with_name(b"[" * 500),
    "an escaped quote before brackets": with_name(b'\\"' + b"[{" * 200),
    "nesting of 128": INSERT[:-1] + b',"zz":' + b"[" * 127 + b"]" * 127 + b"}",
    "many brackets side by side": INSERT[:-1] + b',"zz":[' + b",".join([b"{}"] * 500) + b"]}",
    "an empty name": INSERT[:-1] + b',"":1}',
    "a huge number": INSERT[:-1] + b',"zz":1e999999}',
    "a number of 5,000 digits": INSERT[:-1] + b',"zz":' + b"9" * 5000 + b"}",
}


@pytest.mark.parametrize(("value", "cause"), UNREADABLE.values(), ids=UNREADABLE)
def test_what_is_no_message_is_refused_with_its_cause(value, cause):
    with pytest.raises(Unreadable) as refusal:
        parse_message(value)

    assert refusal.value.cause == cause


@pytest.mark.parametrize("value", READABLE.values(), ids=READABLE)
def test_what_is_a_message_is_read(value):
    assert parse_message(value)["type"] == "INSERT"


@cache
def validation(**reading_options: bool | int) -> ValidationContext:
    return open_validation(shipped_catalogue(), "dts/canal@2", ReadingOptions(**reading_options))


@pytest.mark.parametrize("first", [True, False], ids=["seen first", "seen among its like"])
def test_both_paths_find_the_same_cause_and_nothing_else(first):
    """A fast path that skips members it does not need would let broken bytes pass in them."""
    hostile = [value for value, _ in UNREADABLE.values()]
    values = hostile if first else [INSERT] * 3 + hostile + [INSERT]
    batch_result = FastValidator(validation()).validate(values, texts=True)
    found = {number: validated.verdict for number, validated in batch_result.alone}
    found |= {
        number: group_result.verdict
        for group_result in batch_result.group_results
        for number in group_result.record_group.numbers.tolist()
    }

    for number, value in enumerate(values):
        if value == INSERT:
            assert found[number].outcome == "conforming"
            continue
        cause = next(cause for entry, cause in UNREADABLE.values() if entry == value)
        assert found[number].outcome == "unreadable"
        assert [(finding.rule, finding.path) for finding in found[number].findings] == [(f"D01.{cause}", "")]
        assert found[number] == validation().validate(value).verdict


BRACES = with_name(b"a}b")
CUTS = [place + 1 for place, byte in enumerate(BRACES[:-1]) if byte == ord("}")]


@pytest.mark.parametrize("cut", CUTS)
def test_values_beside_each_other_never_run_into_one_another(cut):
    """Values of one shape are parsed many at once: half a message must not be completed by the value after it."""
    left, rest = BRACES[:cut], BRACES[cut:]
    two = INSERT + b"\n" + INSERT
    validator = FastValidator(validation())
    for right in (b"{" + rest, b"{}", INSERT, left):
        validator.validate([INSERT] * 3, texts=True)  # so that the shape is known, and the next values are taken for it
        values = [INSERT, left, right, two, INSERT]
        batch_result = validator.validate(values, texts=True)
        found = {number: validated.verdict for number, validated in batch_result.alone}
        found |= {
            number: group_result.verdict
            for group_result in batch_result.group_results
            for number in group_result.record_group.numbers.tolist()
        }

        assert found[1].outcome == found[3].outcome == "unreadable"
        assert [found[number] for number in range(5)] == [validation().validate(value).verdict for value in values]


def test_both_paths_read_what_is_a_message():
    values = list(READABLE.values())
    batch_result = FastValidator(validation()).validate(values, texts=True)
    found = {number: validated.verdict for number, validated in batch_result.alone}
    found |= {
        number: group_result.verdict
        for group_result in batch_result.group_results
        for number in group_result.record_group.numbers.tolist()
    }

    assert {number: verdict.outcome for number, verdict in found.items()} == dict.fromkeys(
        range(len(values)), "conforming"
    )


def test_of_members_with_one_name_the_last_wins():
    value = b'{"type":"DELETE","a":{"b":1,"b":2},"type":"INSERT"}'

    message = parse_message(value)

    assert message["type"] == "INSERT"
    assert message["a"]["b"].token == "2"


@pytest.mark.parametrize(
    "value",
    [
        INSERT.replace(b'"id":7', b'"id":8,"id":7'),
        INSERT.replace(b'"id":7', b'"id":7,"id":7'),
        INSERT.replace(b'"id":7', rb'"\u0069d":8,"id":7'),
        INSERT.replace(b'"id":"1"', b'"id":"1","id":"1"'),
        INSERT.replace(b'"id":"bigint"', b'"id":"bigint","id":"bigint"'),
        INSERT[:-1] + b',"zz":{"a":1,"a":1}}',
        INSERT[:-1] + b',"zz":[{"a":1,"a":1}]}',
    ],
)
def test_a_strict_pass_refuses_names_that_occur_twice_and_only_that(value):
    assert parse_message(value)["id"].token == "7"
    with pytest.raises(Unreadable) as refusal:
        parse_message(value, strict=True)
    assert refusal.value.cause == "duplicate-member"
    assert parse_message(INSERT, strict=True) == parse_message(INSERT)

    for strict, outcome in ((False, "conforming"), (True, "unreadable")):
        batch_result = FastValidator(validation(strict_json=strict)).validate([INSERT, value, INSERT], texts=True)
        verdicts = {number: validated.verdict.outcome for number, validated in batch_result.alone}
        verdicts |= {
            n: group_result.verdict.outcome
            for group_result in batch_result.group_results
            for n in group_result.record_group.numbers.tolist()
        }
        assert verdicts == {0: "conforming", 1: outcome, 2: "conforming"}
        assert validation(strict_json=strict).validate(value).verdict.outcome == outcome


def test_a_message_of_20_megabytes_is_read_whole():
    text = "\u00e4" * (10 * 1024 * 1024)
    value = with_name(text.encode())

    assert len(value) > 20 * 1024 * 1024
    assert parse_message(value)["data"][0]["name"] == text
    batch_result = FastValidator(validation()).validate([value], texts=True)
    assert [group_result.verdict.outcome for group_result in batch_result.group_results] == ["conforming"]


def test_a_message_over_the_limit_is_refused_before_it_is_read():
    broken = b"{" * 1001
    for value in (broken, INSERT * 4):
        with pytest.raises(Unreadable) as refusal:
            parse_message(value, max_bytes=1000)
        assert refusal.value.cause == "too-long"
    assert parse_message(INSERT, max_bytes=len(INSERT))["type"] == "INSERT"

    limited = validation(max_bytes=len(INSERT))
    for value, outcome in ((INSERT, "conforming"), (INSERT + b" ", "unreadable")):
        assert limited.validate(value).verdict.outcome == outcome
        batch_result = FastValidator(limited).validate([INSERT, value], texts=True)
        verdicts = {number: validated.verdict.outcome for number, validated in batch_result.alone}
        verdicts |= {
            n: group_result.verdict.outcome
            for group_result in batch_result.group_results
            for n in group_result.record_group.numbers.tolist()
        }
        assert verdicts[1] == outcome


@pytest.mark.parametrize(
    "token", ["0", "-0", "1.10", "1e999999", "1E-999999", "99999999999999999.99", "18446744073709551616", "9" * 5000]
)
def test_a_number_keeps_its_token(token):
    number = parse_message(b'{"n":%s}' % token.encode())["n"]

    assert number.token == token
    assert pickle.loads(pickle.dumps(number)).token == token
    assert kind_of(number) == "number"


def test_a_number_too_large_to_keep_is_a_finding_and_no_failure():
    value = INSERT.replace(b'"bigint"', b'"decimal"').replace(b'"1"', b'"1e999999"')

    validated = validation().validate(value)

    assert validated.verdict.outcome == "drifted"
    assert [finding.rule for finding in validated.verdict.findings] == ["D14.digits"]


@pytest.mark.parametrize(
    ("token", "kind"),
    [("null", "null"), ("true", "boolean"), ("1.0", "number"), ('""', "string"), ("[]", "array"), ("{}", "object")],
)
def test_every_json_value_has_a_kind(token, kind):
    assert kind_of(parse_message(b'{"v":%s}' % token.encode())["v"]) == kind


def test_depth_counts_brackets_outside_texts_only():
    assert depth_exceeds(b'[["]]"]]', 1)
    assert not depth_exceeds(b'[["[[[["]]', 2)
    assert not depth_exceeds(rb'["\"[[[", "\\"]', 1)
    assert depth_exceeds(rb'["\\", [["x"]]]', 2)


def test_duplicates_are_found_however_deep_and_however_written():
    assert not has_duplicates(b'{"a":{"a":1},"b":[{"a":1},{"a":2}]}')
    assert has_duplicates(b'{"b":[{"a":1,"a":1}]}')
    assert has_duplicates(rb'{"a":1,"\u0061":1}')
    assert has_duplicates(b'{"a":')


def test_numbers_of_messages_are_never_floats():
    message = parse_message(b'{"a":0.1,"b":[1e2],"c":{"d":-7}}')

    assert [type(message["a"]), type(message["b"][0]), type(message["c"]["d"])] == [Number, Number, Number]
    assert [message["a"].token, message["b"][0].token] == ["0.1", "1e2"]


def test_brackets_in_a_text_do_not_count_where_a_later_text_has_no_end():
    with pytest.raises(Unreadable) as found:
        parse_message(b'{"a":{"' + b"[" * 200 + b':null,"b":"x"}')
    assert found.value.cause == "json"
