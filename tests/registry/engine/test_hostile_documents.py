"""Documents and keys that somebody meant to be misread: every path says the same of them, and none makes a row of more."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from document_messages import (
    BESIDE_BLOCKS,
    DELETE,
    DOCUMENTS,
    MESSAGES,
    Pair,
    batch_of_pairs,
    beside_blocks,
    inserted,
    open_documents,
    rows_of_kernel,
    unlike_by_cuts,
    with_members,
)
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from output_rows import ask_reference

from cdc_contracts.registry.core.engine.kernel import Kernel
from cdc_contracts.registry.core.engine.messages.message_validator import MessageValidator
from cdc_contracts.registry.core.validate.validation_context import ValidationContext

native = pytest.mark.parametrize("native", ["off", "eager"])
contracts = pytest.mark.parametrize("contract", [DOCUMENTS, BESIDE_BLOCKS])
sides = pytest.mark.parametrize("side", ["before", "after"])
ops = pytest.mark.parametrize("op", ["c", "u", "d", "r", "x"])
UPDATE = MESSAGES["3.6.1 update-with-pre-image"].value
OID = '{"$oid": "690c5a1e7d3b0f4c2a91e6d8"}'
KEY = b'{"id":"5"}'


def key_of(text: object, **more: Any) -> bytes:
    """Return the Kafka key with a text."""
    return json.dumps({"id": text} | more).encode()


KEYS = [
    None, b"", b"null", b"5", b"[]", b"{}", b'{"id":5}', b'{"id":null}', b'{"id":{}}', b'{"id":["5"]}', b'{"id":"5"}}',
    b'{"id":"5"', b'{"id":"5"}\n{"id":"6"}', b'\xef\xbb\xbf{"id":"5"}', b'{"id":"\xff"}', b'{"id":"5","id":"6"}',
    b'{"id":"5","id":6}', b'{"\\u0069d":"5"}', b'{"schema":{},"payload":{"id":"5"}}', b'{"payload":{"id":"5"}}',
    b'{"schema":{},"payload":{"id":5}}', b'{"schema":{},"payload":null}', b'{"schema":7,"payload":{"id":"5"}}',
    key_of('1},"x":{'), key_of('1,"x":2'), key_of("1}"), key_of('"a","x":"b"'), key_of("[1"), key_of("[1]"), key_of("{}"),
    key_of("{"), key_of('{"":1}'), key_of('{"a.b":1}'), key_of('{"$oid":"x"}'), key_of(OID), key_of('{"$oid":7}'),
    key_of('{"$date":"yesterday"}'), key_of('{"$numberLong":"1e3"}'), key_of('{"id":"{}"}'), key_of('"{}"'), key_of('"\\u0000"'),
    key_of("NaN"), key_of("-Infinity"), key_of("1e400"), key_of("1" * 5000), key_of("-0"), key_of("0.10"), key_of("null"),
    key_of("true"), key_of(" 5 "), key_of("5\n"), key_of("\t"), key_of(""), key_of('"\ud800"'), key_of("/*5*/"), key_of("5;"),
    key_of("5", _id="6"), key_of("5", x=1), key_of("5", before=None), key_of("5", **{"": 1}), key_of("5", schema=None),
    key_of("[" * 126 + "]" * 126), key_of("[" * 127 + "]" * 127), key_of("[" * 200 + "]" * 200), key_of("[" * 100_000),
    b"{" * 100_000, b'{"id":' * 100_000,
]  # fmt: skip
TEXTS = [
    "", "{}", "[]", "null", "5", '"{}"', "{", '{"a":1', '{"a":1}}', '{"_id":1},"op":"d"', '{"_id":1}","after":"{}', '{"":1}',
    '{"":{"":""}}', '{"_id":{}}', '{"_id":[]}', '{"_id":null}', '{"_id":""}', '{"a":1}', '{"$oid":"690c5a1e7d3b0f4c2a91e6d8"}',
    OID, '{"$oid":1}', '{"$date":"x"}', '{"_id":1,"$oid":2,"$date":3,"$numberLong":4}', '{"_id":1,"$numberDouble":"NaN"}',
    '{"_id":1,"a":{"$oid":"x"}}', '{"_id":1,"a":{"$oid":{"$oid":"x"}}}', '{"_id":1,"a":{"$numberLong":"9223372036854775808"}}',
    '{"_id":1,"a.b":1,"a":{"b":2}}', '{"_id":1,"a/b":1,"a~1b":2,"~":3}', '{"_id":1,"before":1,"after":2,"op":"d"}',
    '{"_id":1,"source":{"connector":"mysql"}}', '{"schema":{},"payload":{}}', '{"_id":1,"__deleted":"true","__op":"d"}',
    '{"_id":1,"_id":2}', '{"_id":1,"\\u005fid":2}', '{"_id":1,"a":"{\\"b\\":1}"}', '{"_id":1,"a":NaN,"b":[Infinity]}', "NaN",
    '{"NaN":NaN}', '{"_id":NaN}', '{"_id":1e400,"a":0.10,"b":-0,"c":12345678901234567890}', '{"_id":1,"a":"\\ud800"}',
    '{"_id":1,"a":"\\ud83d\\udce6"}', '{"_id":1,"\\u0000":"\\u0000"}', '{"_id":1,"a":"\u2028"}', '{"_id":1,"é":"é","e\u0301":1}',
    '{"_id":1,"A":1,"a":2}', '{"_id":1," a ":1,"a ":2}', '{"_id":1,"__proto__":{},"constructor":1}',
    '{"_id":1,"a":' + "[" * 124 + "]" * 124 + "}", '{"_id":1,"a":' + "[" * 126 + "]" * 126 + "}", "{" * 100_000,
    '{"_id":1,"a":"' + "x" * 70_000 + '"}', '{"_id":1,' + ",".join(f'"c{number}":{number}' for number in range(400)) + "}",
]  # fmt: skip
IMAGES: list[Any] = [*TEXTS, None, True, 7, [], ["{}"], [{"_id": 1}], {}, {"_id": 1}, {"_id": {"$oid": "x"}}, {"": 1}]


def difference(validation: ValidationContext, pairs: list[Pair]) -> list[str]:
    """Return where a message by itself is judged or read otherwise than by the reference, cold and warm."""
    validator, found = MessageValidator(validation), []
    for decodes in (True, False, True):
        for pair in pairs:
            mine, told = validator.validate(*pair, decodes=decodes), ask_reference(validation, *pair)
            if mine.verdict != told.verdict or (decodes and mine.changes != told.changes):
                found.append(f"{pair!r:.2000}\n  single    {mine!r:.1000}\n  reference {told!r:.1000}")
    return found


def with_every_key(contract: str) -> list[Pair]:
    """Return a message of each kind with every key."""
    values = [
        DELETE,
        UPDATE,
        MESSAGES["2.5.4 delete-with-pre-image"].value,
        MESSAGES["3.6.1 update-without-after"].value,
    ]
    if contract == BESIDE_BLOCKS:
        values = [beside_blocks(Pair(value)).value for value in values]
    return [Pair(value, key) for value in values for key in KEYS]


def with_images(images: list[Any], contract: str, op: str, side: str) -> list[Pair]:
    """Return messages of an operation with images on one side, some also without a key."""
    pairs = [Pair(with_members(UPDATE, op=op, **{side: image}), KEY) for image in images]
    pairs += [Pair(with_members(DELETE, op=op, **{side: image}), key) for image in images for key in (KEY, None)]
    return pairs if contract == DOCUMENTS else [*map(beside_blocks, pairs)]


@native
@contracts
def test_batches_of_every_key_are_read_as_by_the_reference(contract, native, monkeypatch):
    monkeypatch.setenv("CDC_CONTRACTS_NATIVE", native)
    pairs = with_every_key(contract)

    for size in (len(pairs), 5):
        assert unlike_by_cuts(open_documents(contract), pairs, size) == []


@contracts
def test_a_message_alone_with_any_key_is_read_as_by_the_reference(contract):
    assert difference(open_documents(contract), with_every_key(contract)) == []


@native
@contracts
@sides
@ops
def test_batches_of_every_image_are_read_as_by_the_reference(op, side, contract, native, part, monkeypatch):
    monkeypatch.setenv("CDC_CONTRACTS_NATIVE", native)
    pairs = with_images(part(IMAGES, 3), contract, op, side)

    assert unlike_by_cuts(open_documents(contract), pairs, 50) == []


@contracts
@sides
@ops
def test_a_message_alone_with_any_image_is_read_as_by_the_reference(op, side, contract, part):
    assert difference(open_documents(contract), with_images(part(IMAGES, 2), contract, op, side)) == []


@pytest.mark.parametrize("key", [
    key_of('1},"x":{'), key_of('1,"x":2'), key_of("1}"), key_of('"a","x":"b"'), key_of("[1"), b'{"id":5}', b'{"id":["5"]}',
    b'{"id":"5"}\n{"id":"6"}',
])  # fmt: skip
def test_a_key_cannot_write_into_the_message(key):
    assert open_documents().validate(DELETE, key).changes == ()
    assert rows_of_kernel(open_documents(), [Pair(DELETE, key)] * 20) == []


ROWS = {
    '{"_id":1,"before":1,"after":2,"op":"d"}': {"_id": "1", "before": "1", "after": "2", "op": "d"},
    '{"_id":1,"$oid":2,"$date":3}': {"_id": "1", "$oid": "2", "$date": "3"},
    '{"_id":1,"":{"":""}}': {"_id": "1", "": '{"":""}'},
    '{"_id":1,"a.b":1,"a":{"b":2}}': {"_id": "1", "a.b": "1", "a": '{"b":2}'},
    '{"_id":1,"a/b":1,"a~1b":2,"~":3}': {"_id": "1", "a/b": "1", "a~1b": "2", "~": "3"},
    '{"_id":1,"schema":{},"payload":{}}': {"_id": "1", "schema": "{}", "payload": "{}"},
    '{"_id":1,"a":"{\\"b\\":1}","b":"NaN"}': {"_id": "1", "a": '{"b":1}', "b": "NaN"},
    '{"_id":1,"A":1,"a":2," a":3}': {"_id": "1", "A": "1", "a": "2", " a": "3"},
    '{"_id":{},"x":[]}': {"_id": "{}", "x": "[]"},
    '{"$oid":"690c5a1e7d3b0f4c2a91e6d8"}': {"$oid": "690c5a1e7d3b0f4c2a91e6d8"},
    '{"_id":1,"\\u0000":"\\u0000"}': {"_id": "1", "\0": "\0"},
}
"""Documents with names that mean something elsewhere, and their rows."""


@native
def test_names_of_members_mean_nothing_within_a_document(native, monkeypatch):
    monkeypatch.setenv("CDC_CONTRACTS_NATIVE", native)
    validation, pairs = open_documents(), [Pair(inserted(document), KEY) for document in ROWS]

    for pair, row in zip(pairs, ROWS.values(), strict=True):
        validated = validation.validate(*pair)
        assert [change.after for change in validated.changes] == [row]
        lacks_key = [] if "_id" in row else ["D09.primary-key-in-image"]
        assert [one.rule for one in validated.verdict.findings if one.rule != "D09.kafka-key-agrees"] == lacks_key
    assert [row["after"] for row in rows_of_kernel(validation, pairs)] == [*ROWS.values()]


def test_a_document_without_members_is_no_row():
    validation = open_documents()
    for value in (inserted("{}"), with_members(DELETE, before="{}")):
        assert [one.rule for one in validation.validate(value, KEY).verdict.findings] == ["D09.image-present-for-op"]


def test_an_image_that_is_an_object_already_is_read_as_its_text_is():
    document = {"_id": {"$oid": "690c5a1e7d3b0f4c2a91e6d8"}, "a": {"b": [1.5]}}
    validation = open_documents()
    (as_text,), (as_object,) = (
        validation.validate(with_members(DELETE, op="c", after=image), KEY).changes
        for image in (json.dumps(document), document)
    )
    assert as_text == as_object


def test_a_batch_of_hostile_records_is_read_to_its_end():
    """No record stops a run, and every one of them is accounted for."""
    pairs = [Pair(value, key) for value in (DELETE, UPDATE) for key in KEYS]
    pairs += [Pair(with_members(UPDATE, after=image), key) for image in IMAGES for key in KEYS[:12]]
    random.Random(3).shuffle(pairs)

    (counts,) = Kernel(open_documents()).audit(batch_of_pairs(pairs)).partitions.values()

    assert counts.read == len(pairs) == counts.conforming + counts.quarantined
    assert "not-validated" not in {
        one["rule"] for parts in Kernel(open_documents()).decode(batch_of_pairs(pairs))
        for row in parts.quarantine.to_pylist() for one in row["findings"]
    }  # fmt: skip


PIECES = st.sampled_from([
    "{", "}", "[", "]", ",", ":", '"', "\\", '"_id"', '"$oid"', '"$date"', '"a"', '""', "1", "-0.0", "1e999", "null", "NaN",
    "Infinity", " ", "\n", "\\u0061", "\\ud800", "é", "\0", '{"_id": 1}', '{"a": [', "]}", '"690c5a1e7d3b0f4c2a91e6d8"',
])  # fmt: skip
BROKEN_TEXTS = st.lists(PIECES, max_size=8).map("".join)
MADE_KEYS = st.none() | st.binary(max_size=12) | BROKEN_TEXTS.map(key_of) | BROKEN_TEXTS.map(str.encode)
MADE_IMAGES = st.none() | BROKEN_TEXTS | st.sampled_from(IMAGES)


@settings(max_examples=60, deadline=None, derandomize=True, database=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    records=st.lists(
        st.tuples(st.sampled_from("cudr"), MADE_IMAGES, MADE_IMAGES, MADE_KEYS, st.booleans()), min_size=1, max_size=12
    )
)
def test_texts_put_together_by_chance_are_read_alike_on_every_path(records):
    pairs = [
        Pair(with_members(UPDATE if whole else DELETE, op=op, before=before, after=after), key)
        for op, before, after, key, whole in records
    ]

    assert unlike_by_cuts(open_documents(), pairs, len(pairs)) == []
    assert difference(open_documents(), pairs) == []
