"""Texts that are opened in C become, byte for byte, what the reference makes of them; what is not sure is left to it.

CDC_CONTRACTS_BYTES=all tries many times as many.
"""

from __future__ import annotations

import json
import os
import random

import numpy as np
import pyarrow as pa
import pytest
from both_paths import by_fast_path
from changed_bytes import changed_bytes
from document_messages import BESIDE_BLOCKS, DELETE, DOCUMENTS, MESSAGES, Pair, beside_blocks, inserted, open_documents
from msgspec import Raw
from output_rows import unlike_columns
from scanned_messages import LIBRARY, OwnPlan, WatchedArrays, scan
from topics import CATALOGUE, rendered
from utf8_sequences import of_every_class

from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.engine.fast_validator import FastValidator
from cdc_contracts.registry.core.engine.layouts.decoded_batches import lay_out
from cdc_contracts.registry.core.engine.native.scanned_columns import ScannedColumn
from cdc_contracts.registry.core.engine.native.text_image_values import TextImageValues
from cdc_contracts.registry.core.message.text_images import TextImages
from cdc_contracts.registry.core.records.message_values import MessageValues

pytestmark = pytest.mark.skipif(LIBRARY is None, reason="no native part was compiled here, or it is switched off")

MOST = 100_000 if os.environ.get("CDC_CONTRACTS_BYTES") == "all" else 3_000
"""Messages that are changed, of each contract."""
GOOD, BAD = of_every_class()
KEY = b'{"id":"5"}'
KEYS = [None, None, KEY, b"", b"{}", b'{"id":5}', b'{"payload":{"id":"7"},"schema":null}', b"\xff"]
PARTS = (
    b"\\", b'"', b'\\"', b"\\\\", b'\\\\\\"', b"\\u00e9", b"\\\\u00e9", b"\\ud83d\\ude00", b"\\\\ud83d\\\\ude00", b"\\ud83d",
    b"\\udc00", b"\\\\ud800", b"\\u0022", b"\\u005c", b"\\u12", b"\\n", b"\\/", b"\\b", b"\\x", b"\xc3\xa9", b"\xed\xa0\x80", b"\xc3",
    b"\xa9", b"\x00", b"\x1f", b"\x7f", b"\n", b"\t", b" ", b"NaN", b"-Infinity", b"-0", b"01", b"1e999", b"9" * 40, b"null", b"true",
    b"[]", b"{}", b",", b":", b"}", b"]", b'"after":"{}",', b'"after":null,', b'"op":"c",', b'\\"a\\":1,', b'"":"",', b'"\\u0061":1,',
    b"[" * 70 + b"]" * 70, b'{\\"a\\":' * 66 + b"1" + b"}" * 66,
)  # fmt: skip
"""What is put into messages; in texts, characters with a backslash have another before it."""
WRITTEN = [
    "{}", '{"_id": 1}', '{"_id":{"$oid":"690c5a1e7d3b0f4c2a91e6d8"},"a":[1,{"b":null}],"c":"x\\ny\\"z\\\\"}', '{"é":"📦","\\u00e9":1}',
    '{"a":1,"a":2}', '{ "a" : [ ] }', '{"a":NaN}', "[]", "", "null", ' {"a":1}', '{"a":1} ', '{"a":"\\ud83d\\ude00"}', '{"a":"\\ud83d"}',
    '{"a":1e400,"b":12345678901234567890,"c":-0.0}', '{"a":"' + "x" * 50 + '"}', "{" * 5, '{"a":1},"op":"d"', '{"a":"\x7f\u2028"}',
]  # fmt: skip
"""Documents that are opened, and texts that are none."""


@pytest.fixture(autouse=True)
def eager(monkeypatch):
    monkeypatch.setenv("CDC_CONTRACTS_NATIVE", "eager")


def images_of(reference: str = DOCUMENTS, **options: object) -> TextImages:
    return TextImages(CATALOGUE.version(reference).meaning, ReadingOptions(**options))


def good_of(reference: str) -> list[bytes]:
    pairs = [*MESSAGES.values(), *(Pair(inserted(document), KEY) for document in WRITTEN)]
    own = [beside_blocks(pair) if reference == BESIDE_BLOCKS else pair for pair in pairs]
    return [pair.value for pair in own if pair.value] + rendered(reference, 40, seed=7, controls=5)


def changed_of(reference: str, total: int) -> list[bytes]:
    """Return messages that are changed anywhere, or in a document before it becomes a text."""
    draw, good = random.Random(reference), good_of(reference)
    documents = [text.encode() for text in WRITTEN[:6]]
    found = []
    for number in range(total):
        if number % 2:
            found.append(changed_bytes(draw, draw.choice(good), draw.choice(good), PARTS))
        else:
            document = changed_bytes(draw, draw.choice(documents), draw.choice(documents), PARTS).decode(
                errors="replace"
            )
            pair = Pair(inserted(document))
            found.append((beside_blocks(pair) if reference == BESIDE_BLOCKS else pair).value)
    return found


def alone(value: bytes) -> MessageValues:
    """Return one value, in a buffer that ends where the value does."""
    ends = pa.py_buffer(np.array([0, len(value)], np.int32))
    return MessageValues(pa.BinaryArray.from_buffers(pa.binary(), 1, [None, ends, pa.py_buffer(bytes(value))]))


def closed(values: list[bytes | None], keys: list[bytes | None] | None = None, **options: object) -> TextImageValues:
    stated = None if keys is None else pa.array(keys, pa.binary())
    return TextImageValues(MessageValues(values), stated, images_of(**options))


def left_of(values: list[bytes], **options: object) -> list[bytes]:
    """Return the values that C leaves to the reference; those that it takes are as the reference opens them."""
    opened, left = closed(values, [None] * len(values), **options).open_natively(np.ones(len(values), np.bool_))
    images = images_of(**options)
    expected = [value if number in left else images.open(value) for number, value in enumerate(values)]
    assert opened.to_pylist() == expected
    return [values[number] for number in left]


# --- messages that are opened


@pytest.mark.parametrize("reference", [DOCUMENTS, BESIDE_BLOCKS])
def test_changed_messages_are_opened_as_the_reference_opens_them(reference):
    images, draw = images_of(reference), random.Random(5)
    values = [*good_of(reference), *changed_of(reference, MOST)]
    keys = [draw.choice(KEYS) for _ in values]
    expected = [images.open(value, key) for value, key in zip(values, keys, strict=True)]
    numbers = np.arange(len(values))

    found = TextImageValues(MessageValues(values), pa.array(keys, pa.binary()), images)

    both = zip(found.opened(numbers), expected, values, strict=True)
    assert [one for one in both if one[0] != one[1]] == []
    opened = [number for number, one in enumerate(expected) if one != values[number]]
    left = set(found.open_natively(np.ones(len(values), np.bool_))[1].tolist())
    assert len(opened) > MOST / 5
    assert sum(number in left for number in opened) < len(opened) / 4, "C opens what it can"
    for number in range(0, len(values), 1 + len(values) // 800):
        one, rest = TextImageValues(alone(values[number]), None, images).open_natively(np.ones(1, np.bool_))
        assert len(rest) or one.to_pylist() == [images.open(values[number])]


def test_what_surely_is_an_object_is_opened_and_the_rest_left():
    objects = [inserted(text) for text in (*WRITTEN[:6], *WRITTEN[12:13], *WRITTEN[14:16], WRITTEN[18])]
    others = [inserted(text) for text in (*WRITTEN[6:12], WRITTEN[13], *WRITTEN[16:18])]
    assert left_of([*objects, *others]) == others
    plain = [
        b"{}",
        b'{"after":null}',
        b'{"after":{"a":[1]}}',
        b'{"before":7,"after":"{}"}',
        b'{"a":{"after":"x"},"b":[ 1 ]}',
        b'{"patch":"{}","befor":"{}","a":{"before":"{}"}}',
    ]
    sent = [one.value for one in MESSAGES.values() if b" NaN" not in one.value]
    assert left_of([*sent, *plain]) == []
    blanks = [
        b' {"after":"{}"}',
        b'{ "after":"{}"}',
        b'{"after" :"{}"}',
        b'{"after": "{}"}',
        b'{"after":"{}" }',
        b'{"after":"{}"} ',
    ]
    assert left_of(blanks) == blanks


def test_texts_elsewhere_than_in_the_places_of_images_stay():
    images = images_of(BESIDE_BLOCKS)
    values = [b'{"schema":{},"payload":{"before":null,"after":"{}","patch":"{}","payload":{"after":"{}"}},"after":"{}"}',
              b'{"payload":null,"after":"{}"}', b'{"after":"{}","payload":[{"after":"{}"}]}', b'{"before":{"after":"{}"}}']  # fmt: skip
    opened, left = TextImageValues(MessageValues(values), None, images).open_natively(np.ones(4, np.bool_))
    assert left.tolist() == [1, 3]
    assert [*opened.to_pylist()] == [values[0].replace(b'"after":"{}","patch"', b'"after":{},"patch"'), *values[1:]]


@pytest.mark.parametrize("value", [
    b"", b"{", b"[]", b'{"after"', b'{"after"}', b'{"after":', b'{"after":}', b'{"after":"', b'{"after":"{}', b'{"after":"{}"',
    b'{"after":"{}",', b'{"after":"{}",}', b'{"after":"{}"}}', b'{"after":"{}"}{', b'{"after":"{}"x}', b'{"after":"{}":1}', b"{,}",
    b'{"after":"{}","a":1 2}', b'{"after":"{}","a"}', b'{"after":"{}",1:2}', b'{"after":nul}', b'{"a":tru,"after":"{}"}', b'{"after":"{}","a":01}',
    b'{"after":"{\\"a\\":\n1}"}', b'{"after":"{}\x00"}', b'{"after":"\\u007b\\u007d\\"}', b'{"after":"{\\"a\\":\\x31}"}', b'{"aft\\u0065r":"{}"}',
    b'{"after":"{}","\\u0061":1}', b'{"after":"{}","a":"\\ud800"}', b'{"after":"{\\"a\\":\\"\\ud800\\"}"}', b'{"after":"{}","a":NaN}',
])  # fmt: skip
def test_what_may_be_no_message_is_left(value):
    assert left_of([b'{"after":"{}"}', value, b'{"after":"{}"}']) == [value]


@pytest.mark.parametrize(
    "place",
    ['{"after":"{\\"a\\":\\"%s\\"}"}', '{"after":"{\\"%s\\":1}"}', '{"after":"{}","a":"%s"}', '{"%s":1,"after":"{}"}'],
)
def test_bytes_that_are_no_utf8_are_left(place):
    start, end = (part.encode() for part in place.split("%s"))
    for before in range(9):
        good, bad = ([start + b"x" * before + one + end for one in some] for some in (GOOD, BAD))
        assert left_of([*good, *bad]) == bad


@pytest.mark.parametrize(
    "escape", ["\\b\\f\\n\\r\\t\\/", "\\u00e9", "\\ud83d\\udce6", "\\u20ac", '\\\\\\"', "\\u0022", "\\u005c"]
)
def test_escapes_of_the_text_are_read_and_those_within_it_stay(escape):
    """Behind so many letters that the escape stands at every place of a word of eight bytes."""
    within = [inserted(json.dumps({"a": "x" * before})[:-2] + escape + "y" * 9 + '"}') for before in range(9)]
    assert left_of(within) == []
    of_text = [b'{"after":"{\\"%b\\":1}"}' % (b"x" * before + escape.encode()) for before in range(9)]
    sure = not escape.startswith(
        ("\\b", "\\\\", "\\u0022", "\\u005c")
    )  # else a line feed, a quote or a backslash stands in a name
    assert left_of(of_text) == ([] if sure or escape == '\\\\\\"' else of_text)


@pytest.mark.parametrize("depth", [62, 63, 64, 65, 100])
def test_deep_values_are_left(depth):
    deep = b"[" * depth + b"]" * depth
    values = [b'{"after":"{}","a":%b}' % deep, b'{"after":"{\\"a\\":%b}"}' % deep[1:-1]]
    assert left_of(values) == ([] if depth <= 64 else values)


def test_a_member_twice_is_left_whatever_stood_before():
    """Names are compared with those of the message before, of which some may be left over."""
    good = [
        b'{"a":1,"b":2,"after":"{}"}',
        b'{"a":1,"after":"{}","b":2}',
        b'{"b":1,"after":"{}"}',
        b'{"after":"{}"}',
        b'{"a":1}',
    ]
    twice = [b'{"a":1,"a":2,"after":"{}"}', b'{"a":1,"b":2,"a":3}', b'{"after":"{}","after":"{}"}', b'{"a":1,"b":2,"b":{}}',
             b'{"b":1,"after":null,"b":3,"after":"{}"}']  # fmt: skip
    draw = random.Random(3)
    values = [draw.choice(good if draw.random() < 0.5 else twice) for _ in range(400)]
    assert left_of(values) == [value for value in values if value in twice]


def test_objects_of_very_many_members_are_left():
    values = [
        json.dumps({"after": "{}"} | {f"c{at}": at for at in range(count - 1)}, separators=(",", ":")).encode()
        for count in (63, 64, 65)
    ]
    assert left_of(values) == values[2:]


def test_a_message_without_any_image_is_left_where_its_key_may_hold_the_row():
    values = [
        DELETE,
        MESSAGES["3.6.1 delete"].value,
        MESSAGES["3.6.1 insert"].value,
        b'{"before":"{}"}',
        b'{"after":{}}',
        b"{}",
        b'{"after":[]}',
    ]
    for keys in ([KEY] * len(values), None):
        _, left = closed(values, keys).open_natively(np.ones(len(values), np.bool_))
        assert left.tolist() == [0, 1, 5]
    assert closed(values, [None] * len(values)).open_natively(np.ones(len(values), np.bool_))[1].tolist() == []
    assert json.loads(closed(values, [KEY] * 7)[0])["before"] == {"_id": 5}
    assert json.loads(closed(values)[0])["before"] == {"_id": None}


def test_only_what_is_wanted_is_opened_from_any_part_of_a_batch():
    insert, images = MESSAGES["3.6.1 insert"].value, images_of()
    sent = MessageValues(pa.array([b"{", insert, None, DELETE, inserted("[]"), insert], pa.binary()).slice(1))
    values = TextImageValues(sent, pa.array([KEY] * 6, pa.binary()).slice(1), images)
    whole = [images.open(insert), None, images.open(DELETE, KEY), inserted("[]"), images.open(insert)]
    assert [*values.opened(np.arange(5))] == [*values] == whole
    assert [*values.opened(np.array([2, 0]))] == [whole[0], None, whole[2], None, None]
    assert [*values.take(np.array([4, 1, 3]))] == [whole[4], None, whole[3]]
    assert [*values.opened(np.zeros(0, np.int64))] == [None] * 5
    assert values.tombstones() == [1]


@pytest.mark.parametrize("options", [{"strict_json": True}, {"max_bytes": len(DELETE)}])
def test_what_options_refuse_is_left(options):
    insert = MESSAGES["3.6.1 insert"].value
    sure = b'{"after":"{}"}'
    values = [insert, sure]
    assert len(insert) > len(DELETE)
    _, left = closed(values, **options).open_natively(np.ones(2, np.bool_))
    assert left.tolist() == ([0, 1] if "strict_json" in options else [0])
    assert [*closed(values, **options).opened(np.arange(2))] == [images_of(**options).open(value) for value in values]


def test_a_message_may_be_as_long_as_is_allowed_and_nothing_is_written_beyond_its_room():
    messages = [b'{"after":"{}"}', b'{"after":"{\\"a\\":\\"' + b"x" * 40 + b'\\"}","op":"c"}', b'{"after":"[]"}']
    for most in (len(messages[1]), len(messages[1]) - 1):
        watched = WatchedArrays()
        ends = np.cumsum([0, *map(len, messages)]).astype(np.int32)
        out, begins, left = watched.make(int(ends[-1]), np.uint8), watched.make(4, np.int32), watched.make(3, np.int64)
        places = np.array([0, 5, 0, -1], np.int32)
        refused = LIBRARY.cdc_open_texts(
            b"".join(messages), ends, None, None, places, b"after", most, out, begins, left
        )
        assert left[:refused].tolist() == ([2] if most == len(messages[1]) else [1, 2])
        assert watched.are_intact()


@pytest.mark.parametrize(("places", "offsets"), [
    ([0, 2, 0, -1], [0, 2]), ([1, 1, 0, -1], [0, 2]), ([2, 0, 0, -1], [0, 2]), ([0, 1, 0, 0], [0, 2]), ([0, 1, 8, -1], [0, 2]), ([0, 1, 0, 8], [0, 2]), ([0, 1, -1, -1], [0, 2]), ([0, -1, 0, -1], [0, 2]),
    ([-1, 1, 0, -1], [0, 2]), ([0, 1, 0, -1], [0, 3]), ([0, 1, 0, -1], [-1, 2]), ([0, 1, 0, -1], [0, 2, 1, 2]),
])  # fmt: skip
def test_places_and_offsets_that_lead_nowhere_are_refused(places, offsets):
    count = len(offsets) - 1
    given = np.array(offsets, np.int32), None, None, np.array(places, np.int32), b"a", 9
    room = np.zeros(9, np.uint8), np.zeros(count + 1, np.int32), np.zeros(count, np.int64)
    with pytest.raises(ValueError, match="too short for cdc_open_texts, or points outside"):
        LIBRARY.cdc_open_texts(b"{}", *given, *room)


def test_nothing_is_read_behind_the_end_of_a_message():
    """A sanitizer sees it: the memory of each ends where it does."""
    message, row = rb'{"after":"{\"a\":\"x\u00e9\\n\"}","op":"c"}', rb'{"row":"{\"c\":\"x\u00e9\\n\"}"}'
    places = np.array([0, 5, 0, -1], np.int32)
    for size in range(len(message)):
        cut, left = np.frombuffer(message[:size], np.uint8).copy(), np.empty(1, np.int64)
        room = np.empty(size, np.uint8), np.empty(2, np.int32)
        given = cut, np.array([0, size], np.int32), None, None, places, b"after", 99
        assert LIBRARY.cdc_open_texts(*given, *room, left) == 1
    for size in range(len(row)):
        assert scan(OwnPlan(), [row[:size]], text_lacking=0).taken == []
    assert scan(OwnPlan(), [row], text_lacking=0).taken == [0]


# --- messages that are scanned with their texts


@pytest.mark.parametrize("reference", [DOCUMENTS, BESIDE_BLOCKS])
def test_what_is_scanned_within_texts_is_what_the_opened_message_has(reference):
    validation = open_documents(reference)
    validator, images = FastValidator(validation), images_of(reference)
    good = good_of(reference)
    by_fast_path(validator, [images.open(value) for value in good])  # the shapes are learnt
    scanner = validator._sorter._scanner
    recent, taken = list(scanner._recent), 0
    for value in [*good, *changed_of(reference, MOST // 3)]:
        scanner._recent[:] = recent
        found, rest = scanner.scan_texts(TextImageValues(alone(value), None, images), np.zeros(1, np.int64))
        assert len(found) + len(rest) == 1
        for batch in found:
            taken += 1
            expected = lay_out(batch.shape, batch.layout, [0], [batch.layout.decode(images.open(value))])
            assert {at: [*one] for at, one in batch.members.items()} == {
                at: [*one] for at, one in expected.members.items()
            }
            for at, rows in expected.rows.items():
                mine = batch.rows[at]
                assert (mine.state.tolist(), mine.count.tolist()) == (rows.state.tolist(), rows.count.tolist())
                assert [list(ScannedColumn(one.source, one.cells, one.decoder)) for one in mine.columns] == [
                    [bytes(one) if isinstance(one, Raw) else one for one in column]
                    for column in rows.columns[: len(mine.columns)]
                ]
    assert taken > MOST // 50


ROW = rb'{"row":"{\"c\":\"%s\"}"}'


def test_rows_are_scanned_within_their_texts_and_only_there():
    good = [
        rb'{"row":"{\"c\":1}"}',
        rb'{"text":"a","row":"{\"c\":\"x\\\"y\"}","number":1}',
        rb'{"row":"{}"}',
        rb'{"row":"\u007b \"c\":2\n}"}',
    ]
    bad = [
        b'{"row":{"c":1}}', b'{"row":null}', b"{}", b'{"text":"a"}', rb'{"row":"{\"c\":1} "}', rb'{"row":" {\"c\":1}"}', rb'{"row":"{\"c\":1"}',
        rb'{"row":"{\"c\":1}}"}', rb'{"row":"{\"c\":1},\"number\":1"}', rb'{"row":"{\"x\":1}"}', rb'{"row":"{\"c\":1,\"c\":2}"}', b'{"row":""}',
        b'{"row":"[]"}', b'{"row":"7"}', b'{"row":"{', b'{"row":"{}', b'{"row":"{}"', b'{"row":"{}"}}', b'{"rows":"[{}]"}', b'{"rows":"{}"}', b'{"row":"{}","rows":[]}',
        b'{"row":"{\n}"}', rb'{"row":"{\"c\":\"\xff\"}"}'.replace(rb"\xff", b"\xff"), rb'{"row":"{\"c\":\ud800}"}', rb'{"row":"{\x}"}',
    ]  # fmt: skip
    result = scan(OwnPlan(), [*good, *bad], text_lacking=0)
    assert (result.taken, result.left, result.intact) == ([0, 1, 2, 3], [*range(4, 4 + len(bad))], True)
    assert result.rows == [0, 4]
    texts = [result.texts[cell >> 32 :][: cell >> 4 & 0xFFFFFFF].tobytes() for cell in result.row_cells[1][:4].tolist()]
    assert texts == [b"1", rb"x\"y", b"", b"2"]
    assert scan(OwnPlan(), good).taken == []


def test_what_a_refused_row_left_behind_is_not_found_in_the_next():
    """Both texts begin alike; that of the first message has been read up to its last member."""
    start = rb'{"row":"{\"c\":[1,2,\"a rather long text\"]'
    for bad in (start + rb',\"x\":1}"}', start + b'}"', start + rb'}","row":"{\"c\":[1,2,}"}'):
        result = scan(
            OwnPlan(), [bad, rb'{"row":"{\"c\":[1,2,\"a rather long te"}', bad, rb'{"row":"{\"c\":5}"}'], text_lacking=0
        )
        assert (result.taken, result.intact) == ([3], True)


def test_there_has_to_be_room_for_the_texts_of_all_messages():
    messages = [ROW.replace(b"%s", b"x" * size) for size in (0, 1, 7, 8, 9, 31)]
    assert scan(OwnPlan(), messages, text_lacking=0).taken == [*range(6)]
    assert scan(OwnPlan(), messages, numbers=[4, 2], text_lacking=0).taken == [4, 2]
    for numbers in (None, [4, 2]):
        with pytest.raises(ValueError, match="too short for cdc_scan"):
            scan(OwnPlan(), messages, numbers=numbers, text_lacking=1)


@pytest.mark.parametrize("bytes_", [GOOD, BAD], ids=["good", "bad"])
def test_texts_are_scanned_where_they_are_utf8(bytes_):
    messages = [ROW.replace(b"%s", b"x" * before + one) for before in range(9) for one in bytes_]
    assert scan(OwnPlan(), messages, text_lacking=0).taken == ([*range(len(messages))] if bytes_ is GOOD else [])


def test_scanned_and_opened_messages_of_one_batch_are_told_apart():
    """Their values lie in different bytes, and are read together where they are alike."""
    insert, other = (
        MESSAGES["3.6.1 insert"].value,
        inserted('{"_id": {"$oid": "690c5a1e7d3b0f4c2a91e6d8"},"a": NaN,"b": "x"}'),
    )
    pairs = [Pair(insert, KEY), Pair(other, KEY), Pair(DELETE, KEY), Pair(inserted('{"_id": 1,"_id": 2}'), KEY)] * 30
    values, keys = [pair.value for pair in pairs], [pair.key for pair in pairs]
    validation = open_documents()
    assert unlike_columns(validation, values, keys=keys) == []
    assert unlike_columns(validation, values[::-1], keys=keys[::-1]) == []
