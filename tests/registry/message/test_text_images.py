"""Images that are texts: opened where they hold an object, closed again as they were, and all else left as it came."""

from __future__ import annotations

import json
from typing import Any

import pytest
from document_messages import DELETE, DOCUMENTS, MESSAGES, Pair, inserted, open_documents, unlike_by_cuts, with_members
from framed_topics import HeldSchemas, body_of, frame
from hypothesis import given, settings
from hypothesis import strategies as st
from output_rows import unlike_columns
from topics import CATALOGUE, scope_of

from cdc_contracts.registry.core.common.json_messages import parse_message
from cdc_contracts.registry.core.common.json_structures import write_json
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.message.text_images import TextImages
from cdc_contracts.registry.core.writer_schemas.writer_schemas import SchemaText, WriterSchemas

MEANING = CATALOGUE.version(DOCUMENTS).meaning
INSERT = MESSAGES["3.6.1 insert"].value


def images_of(**options: Any) -> TextImages:
    return TextImages(MEANING, ReadingOptions(**options))


def opened(value: bytes, key: bytes | None = None) -> dict[str, Any]:
    """Return the message of an opened value, as Python reads it."""
    return json.loads(images_of().open(value, key))


def after_of(document: str) -> str:
    """Return the object in place of the text of a document, numbers as they are written, without blanks."""
    return write_json(parse_message(images_of().open(inserted(document)))["after"])


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | texts | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=20,
)
documents = st.dictionaries(texts, values, max_size=6)


@settings(max_examples=200, deadline=None, derandomize=True, database=None)
@given(before=st.none() | documents, after=st.none() | documents, blanks=st.booleans(), ascii_=st.booleans())
def test_a_document_is_opened_and_closed_again(before, after, blanks, ascii_):
    way = {"ensure_ascii": ascii_, "separators": (", ", ": ") if blanks else (",", ":")}
    sides = {"before": before, "after": after}
    sent = {side: None if row is None else json.dumps(row, **way) for side, row in sides.items()}
    value = with_members(INSERT, **sent)
    images = images_of()

    found = images.open(value)

    assert json.loads(found) == json.loads(INSERT) | sides
    assert images.open(found) == found
    closed = json.loads(images.close(found.decode()))
    plain = {
        side: None if row is None else json.dumps(row, ensure_ascii=False, separators=(",", ":"))
        for side, row in sides.items()
    }
    assert {side: closed[side] for side in sides} == plain
    assert json.loads(images.open(images.close(found.decode()).encode())) == json.loads(found)


NO_OBJECTS = [
    "", " ", "null", "true", "7", "[]", '["a"]', '"{}"', '"a"', "NaN", "{", "}", '{"a":1', '{"a":1}}', '{"a":1} {"b":2}',
    '{"a":1}x', "{a:1}", "{'a':1}", '{"a":1,}', '{"a":01}', '{"a":+1}', '{"a":.5}', '{"a":nan}', '{"a":-NaN}',
    '{"a":undefined}', '{"a":"\t"}', '{"a":"\\x41"}', '{"a":"\\ud800"}', '{"\\udc00":1}', '\ufeff{"a":1}', '{"a":1}\0',
]  # fmt: skip


@pytest.mark.parametrize("text", NO_OBJECTS)
def test_a_text_that_holds_no_object_stays_with_all_of_its_message(text):
    value = with_members(INSERT, after=text)

    assert images_of().open(value) == value
    verdict = open_documents().validate(value, b'{"id":"5"}').verdict
    assert ("D06", "/after") in [(one.rule, one.path) for one in verdict.findings]


@pytest.mark.parametrize("image", [None, True, 7, 1.5, [], ["{}"], {}, {"a": "{}"}])
def test_an_image_that_is_no_text_stays(image):
    value = with_members(INSERT, after=image)
    assert images_of().open(value) == value


NO_MESSAGES = [b"", b" ", b"\xff", b"null", b"[]", b'"{}"', b"{", INSERT[:-1], INSERT + b",", b"\xef\xbb\xbf" + INSERT,
               INSERT.replace(b"KX", b"\xc3("), b'{"after":"{}","note":"\\ud800"}', b'{"after":"{}","n":NaN}']  # fmt: skip
TWICE = [
    *(b'{"after":"%b","op":"c","after":"{}"}' % text for text in (b"\xff", b"\xed\xa0\x80", b"\\ud800", b"\\udc00")),
    b'{"op":"\xff","after":"{}","op":"c"}',
]
"""Values of which a member that no parser reads is followed by one with its name."""


@pytest.mark.parametrize("value", [*NO_MESSAGES, *TWICE])
def test_a_value_that_is_no_message_stays(value):
    assert images_of().open(value, b'{"id":"5"}') == value


def test_members_keep_their_order_and_what_is_no_image_stays_a_text():
    value = with_members(MESSAGES["2.5.4 update-in-a-transaction"].value)
    message = opened(value)

    assert [*message] == [*json.loads(value)]
    for at in ("updateDescription", "source", "transaction"):
        assert message[at] == json.loads(value)[at]


NUMBERS = [
    "1e400",
    "-1E-400",
    "0.10",
    "1.5E22",
    "12345678901234567890",
    "-0",
    "-0.0",
    "0e0",
    "9007199254740993",
    "1E+2",
]


@pytest.mark.parametrize("number", NUMBERS)
def test_a_number_keeps_how_it_is_written(number):
    assert after_of(f'{{"a": {number},"b": [{number}]}}') == f'{{"a":{number},"b":[{number}]}}'


ESCAPES = {
    r'{"a": "\ud83d\udce6"}': '{"a":"📦"}',
    r'{"\u0061": "\u00e9\/"}': '{"a":"é/"}',
    r'{"a": "\u0000\u001f\n\"\\"}': r'{"a":"\u0000\u001f\n\"\\"}',
    r'{"a": "\u2028"}': '{"a":"\u2028"}',
    r'{"a": "{\"b\": 1}"}': r'{"a":"{\"b\": 1}"}',
    r'{"a": "\\ud800"}': r'{"a":"\\ud800"}',
    '{"": {"": 1}}': '{"":{"":1}}',
    '{"a.b": 1,"$oid": 2}': '{"a.b":1,"$oid":2}',
}  # fmt: skip


@pytest.mark.parametrize(("document", "text"), ESCAPES.items())
def test_escapes_are_read_and_a_text_within_stays_one(document, text):
    assert after_of(document) == text


def test_bare_constants_become_values_that_their_member_names():
    assert after_of('{"a": NaN,"b": [Infinity,-Infinity],"c": "NaN"}') == (
        '{"a":{"$numberDouble":"NaN"},"b":[{"$numberDouble":"Infinity"},{"$numberDouble":"-Infinity"}],"c":"NaN"}'
    )


def test_the_last_of_two_members_with_one_name_counts():
    assert after_of('{"a": 1,"b": 2,"a": 3}') == '{"a":3,"b":2}'


@pytest.mark.parametrize("document", ['{"a": 1,"a": 2}', '{"b": [{"a": NaN,"a": 2}]}'])
def test_a_document_with_two_members_of_one_name_is_refused_where_json_is_read_strictly(document):
    value = inserted(document)
    assert images_of(strict_json=True).open(value) == value

    validation = open_documents(strict_json=True)
    verdict = validation.validate(value, b'{"id":"5"}').verdict
    assert (verdict.outcome, [(one.rule, one.path) for one in verdict.findings]) == ("drifted", [("D06", "/after")])
    assert unlike_columns(validation, [value, INSERT] * 9, keys=[b'{"id":"5"}'] * 18) == []


def test_a_message_with_two_members_of_one_name_is_refused_where_json_is_read_strictly():
    value = INSERT.replace(b'"op":"c"', b'"op":"c","op":"c"')
    assert images_of(strict_json=True).open(value) == value
    (finding,) = open_documents(strict_json=True).validate(value).verdict.findings
    assert finding.rule == "D01.duplicate-member"
    assert open_documents().validate(value).verdict.outcome == "conforming"


@pytest.mark.parametrize(
    ("depth", "rules"), [(127, []), (128, ["D01.depth"]), (129, ["D01.depth"]), (100_000, ["D06"])]
)  # fmt: skip
def test_a_document_may_be_nested_as_deeply_as_any_message(depth, rules):
    """The message is one level more; what no parser reads stays a text."""
    value = inserted('{"_id": ' * depth + "1" + "}" * depth)
    validation = open_documents()

    found = validation.validate(value, b'{"id":"1"}').verdict.findings
    assert [one.rule for one in found if one.severity == "error"] == rules
    assert unlike_columns(validation, [value, INSERT], keys=[b'{"id":"1"}'] * 2) == []


def test_a_longer_message_than_allowed_stays_closed():
    value = inserted('{"a": "' + "x" * 1000 + '"}')
    assert images_of(max_bytes=len(value) - 1).open(value) == value
    assert images_of(max_bytes=len(value)).open(value) != value

    (finding,) = open_documents(max_bytes=len(value) - 1).validate(value).verdict.findings
    assert finding.rule == "D01.too-long"


def test_a_message_may_be_64_mebibytes_long():
    most = 64 * 1024 * 1024
    head, tail = rb'{"before":null,"op":"c","after":"{\"a\":\"', rb'\"}"}'
    value = head + b"x" * (most - len(head) - len(tail)) + tail

    assert len(images_of().open(value)) == most - 6  # without six backslashes and quotes
    longer = value.replace(b'"op"', b' "op"')
    assert images_of().open(longer) == longer


KEY_ROWS = {
    b'{"id":"5"}': {"_id": 5},
    rb'{"id":"\"5\""}': {"_id": "5"},
    rb'{"id":"{\"$oid\": \"690c5a1e7d3b0f4c2a91e6d8\"}"}': {"_id": {"$oid": "690c5a1e7d3b0f4c2a91e6d8"}},
    b'{"schema":{"type":"struct"},"payload":{"id":"5"}}': {"_id": 5},
    b'{"schema":null,"payload":{"id":"5"}}': {"_id": 5},
    b'{"id":"null"}': {"_id": None},
    b'{"id":"5","id":"6"}': {"_id": 6},
    b'{"id":"5","_id":"7"}': {"_id": 5},
    b'{"id":5}': None,
    b'{"x":"5"}': None,
    b"5": None,
    b"": None,
    None: None,
}


@pytest.mark.parametrize(("key", "row"), KEY_ROWS.items())
def test_the_row_of_a_key_is_put_where_a_delete_has_none(key, row):
    message = opened(DELETE, key)
    assert message == json.loads(DELETE) | {"before": row}
    assert images_of().open(images_of().open(DELETE, key), key) == images_of().open(DELETE, key)
    without = DELETE.replace(b'"before":null,', b"")
    assert opened(without, key) == json.loads(without) | ({} if row is None else {"before": row})


@pytest.mark.parametrize("before", ['{"_id": 8}', "{}", "[]", "", {"_id": 8}, {}, [], 7, False])
def test_the_row_of_a_key_is_put_nowhere_else(before):
    key = b'{"id":"5"}'
    with_row = with_members(DELETE, before=before)
    wanted = json.loads(before) if before in ('{"_id": 8}', "{}") else before
    assert opened(with_row, key) == json.loads(DELETE) | {"before": wanted}
    for name in ("insert", "update", "update-without-after", "snapshot"):
        value = MESSAGES[f"3.6.1 {name}"].value
        assert images_of().open(value, key) == images_of().open(value)


@pytest.mark.parametrize("after", ['{"_id": 8}', "{}", "[]", "", {"_id": 8}, [], 7])
def test_a_message_that_is_opened_again_is_the_same(after):
    """Records that are validated alone are opened by whoever asks for them."""
    value, key = with_members(DELETE, after=after), b'{"id":"5"}'
    once = images_of().open(value, key)
    assert images_of().open(once, key) == once
    assert unlike_columns(open_documents(), [value], keys=[key]) == []


def test_a_row_of_any_key_can_be_assumed_where_keys_are_not_known():
    assert opened(DELETE, images_of().any_key)["before"] == {"_id": None}


def test_only_a_contract_whose_images_are_texts_opens_them():
    assert scope_of("debezium/json@4").wire.text_images is None


NULLABLE = ["null", "string"]
AVRO = {"type": "record", "name": "Envelope", "namespace": "yard.depot.parcels", "fields": [
    {"name": "before", "type": NULLABLE, "default": None},
    {"name": "after", "type": NULLABLE, "default": None},
    {"name": "source", "type": {"type": "record", "name": "Source", "fields": [
        *({"name": name, "type": "string"} for name in ("version", "connector", "name", "db", "collection")),
        {"name": "ts_ms", "type": "long"},
        {"name": "ord", "type": "int"},
    ]}},
    {"name": "op", "type": NULLABLE, "default": None},
    {"name": "ts_ms", "type": ["null", "long"], "default": None},
]}  # fmt: skip
AVRO_KEY = {
    "type": "record",
    "name": "Key",
    "namespace": "yard.depot.parcels",
    "fields": [{"name": "id", "type": "string"}],
}
JSON_SCHEMA = SchemaText("JSON", json.dumps({"type": "object", "properties": {"id": {"type": "string"}}}))


def framed_message(op: str, before: str | None, after: str | None) -> bytes:
    source = {"version": "3.6.1.Final", "connector": "mongodb", "name": "yard", "db": "depot", "collection": "parcels",
              "ts_ms": 1762416107102, "ord": 3}  # fmt: skip
    message = {"before": before, "after": after, "source": source, "op": op, "ts_ms": 1762416107510}
    return frame(1, body_of(AVRO, message))


def test_framed_records_and_keys_hold_documents_too():
    schemas = WriterSchemas(HeldSchemas({1: AVRO, 2: AVRO_KEY, 3: JSON_SCHEMA}))
    validation = open_documents(schemas=schemas)
    key, row = (
        frame(2, body_of(AVRO_KEY, {"id": '{"$oid": "690c5a1e7d3b0f4c2a91e6d8"}'})),
        {"_id": "690c5a1e7d3b0f4c2a91e6d8"},
    )
    document = '{"_id": {"$oid": "690c5a1e7d3b0f4c2a91e6d8"},"n": NaN}'
    pairs = {
        Pair(framed_message("c", None, document), key): (None, row | {"n": "NaN"}),
        Pair(framed_message("u", document, document), key): (row | {"n": "NaN"}, row | {"n": "NaN"}),
        Pair(framed_message("d", None, None), key): (row, None),
        Pair(frame(3, DELETE), frame(3, b'{"id":"5"}')): ({"_id": "5"}, None),
        Pair(frame(3, DELETE), b'{"id":"5"}'): ({"_id": "5"}, None),
        Pair(DELETE, frame(2, body_of(AVRO_KEY, {"id": "5"}))): ({"_id": "5"}, None),
    }  # fmt: skip
    for pair, sides in pairs.items():
        (change,) = validation.validate(*pair).changes
        assert ((change.before, change.after), change.primary_key) == (sides, ["_id"])
    refused = [Pair(framed_message("d", None, None)), Pair(framed_message("d", None, None), frame(9, b"\2a")),
               Pair(frame(9, DELETE), key), Pair(framed_message("c", None, "[]"), key)]  # fmt: skip
    for pair in refused:
        assert validation.validate(*pair).changes == ()
    assert unlike_by_cuts(validation, [*pairs, *refused] * 5, 20) == []
