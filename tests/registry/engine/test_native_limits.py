"""The native scanner at its edges: full buffers, deep values, what one batch leaves, and what is no message."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pytest
from avro_records import VERSION, WRITTEN
from scanned_messages import EDGE, LIBRARY, OwnPlan, kind_of, scan, span_of
from topics import WITH_TABLES
from utf8_sequences import of_every_class

from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.engine.native.avro_reading import AvroReader
from cdc_contracts.registry.core.engine.native.scanned_columns import (
    ARRAY,
    DECIMAL,
    ESCAPED,
    INTEGER,
    NULL,
    NUMBER,
    OBJECT,
    TEXT,
)
from cdc_contracts.registry.core.message.transport import open_transport

pytestmark = pytest.mark.skipif(LIBRARY is None, reason="no native part was compiled here, or it is switched off")

OPTIONS = ReadingOptions(tables=WITH_TABLES.tables)
GOOD, BAD = of_every_class()
FULL = -1


# --- buffers that are full


@pytest.mark.parametrize("shape", ["rows", "row"])
@pytest.mark.parametrize("total", [1, 2, 7, 64])
def test_rows_fill_their_buffer_and_never_go_beyond_it(shape, total):
    if shape == "rows":
        messages = [b'{"rows":[' + b",".join([b'{"c":1}'] * total) + b"]}"]
    else:
        messages = [b'{"row":{"c":1}}'] * total
    for capacity in range(total + 2):
        result = scan(OwnPlan(), messages, capacity=capacity)
        assert result.intact
        assert result.held == (FULL if capacity < total else len(messages))
        if result.held != FULL:
            assert sorted(result.rows) == [0, total]


def test_empty_rows_take_their_place_as_well():
    result = scan(OwnPlan(), [b'{"rows":[{},{"c":2},{}]}', b'{"rows":[]}', b'{"rows":null}', b"{}"], capacity=3)
    assert (result.held, result.rows, result.intact) == (4, [3, 0], True)
    assert [kind_of(cell) for cell in result.row_cells[0].tolist()] == [0, INTEGER, 0]
    assert result.states[0].tolist() == [3, 0, -1, -2]
    assert scan(OwnPlan(), [b'{"rows":[{},{"c":2},{}]}'], capacity=2).held == FULL


def test_rows_of_a_message_that_is_left_are_given_back():
    broken = b'{"rows":[{"c":1},{"c":2},{"c":\xff}]}'
    result = scan(OwnPlan(), [broken, b'{"rows":[{"c":7}]}'] * 5, capacity=5 + 3)
    assert (result.taken, result.left) == ([1, 3, 5, 7, 9], [0, 2, 4, 6, 8])
    assert (result.rows, result.intact) == ([5, 0], True)


@pytest.mark.parametrize("taken", range(4))
def test_no_count_of_messages_taken_and_left_goes_beyond_its_array(taken):
    for left in range(4):
        result = scan(OwnPlan(), [b'{"text":"a"}'] * taken + [b"[]"] * left + [b'{"text":1}'] * taken)
        assert result.intact
        assert result.held == 2 * taken
        assert len(result.left) == left


def test_a_scan_gives_up_where_most_messages_are_left_and_counts_those_behind():
    good, bad = b'{"text":"a"}', b"{"
    for patience in range(5):
        result = scan(OwnPlan(), [bad] * 40 + [good], patience=patience)
        assert (result.held, len(result.left), result.intact) == (0, 41, True)
        result = scan(OwnPlan(), [good] + [bad] * (patience + 4) + [good] * 2, patience=patience)
        assert result.held == 3
        result = scan(OwnPlan(), [good] + [bad] * (patience + 5) + [good] * 2, patience=patience)
        assert (result.held, result.left) == (1, list(range(1, patience + 8)))


def test_a_message_may_have_as_many_bytes_as_are_allowed_and_no_more():
    message = b'{"text":"abc"}'
    assert scan(OwnPlan(), [message], most_bytes=len(message)).taken == [0]
    assert scan(OwnPlan(), [message], most_bytes=len(message) - 1).taken == []
    assert scan(OwnPlan(), [b"", b"{", b"}", b"{}", b" {}"]).taken == [3]


def test_messages_that_lie_outside_of_their_batch_are_refused():
    messages = [b'{"text":"abc"}', b'{"text":"abcdef"}']
    assert scan(OwnPlan(), messages, numbers=[1, 0]).taken == [1, 0]
    for wrong in ({"lacking": 1}, {"numbers": [0, 2]}, {"numbers": [-1]}, {"row_lacking": 1}):
        with pytest.raises(ValueError, match="too short for cdc_scan, or points outside"):
            scan(OwnPlan(), messages, **wrong)


def test_records_that_lie_outside_of_their_batch_are_refused():
    wire, record = open_transport(VERSION, ReadingOptions()), WRITTEN.record([])
    for offsets in ([0, 5, 3, len(record)], [0, len(record) + 1, len(record)], [0, -1, len(record)]):
        starts = pa.py_buffer(np.array(offsets, np.int32))
        # Arrow looks at the first offset and the last
        values = pa.Array.from_buffers(pa.binary(), len(offsets) - 1, [None, starts, pa.py_buffer(record)])
        with pytest.raises(ValueError, match="points outside"):
            AvroReader(wire).read(values)


# --- what one batch leaves for the next


def test_what_a_batch_held_is_not_found_in_the_next():
    """The memory behind the second batch still holds what the first had there."""
    plan, memory = OwnPlan(), np.zeros(4_000, np.uint8)
    value = b'{"list":{"a":[1,2,"a rather long text"]}}'
    assert scan(plan, [b'{"text":"' + b"x" * 2_000 + b'"}', value], memory=memory).taken == [0, 1]
    result = scan(plan, [value, value], memory=memory)
    assert result.taken == [0, 1]
    assert [span_of(cell) for cell in result.cells_of("list")] in (
        [(8, 40), (8, 40)], [(8, 40), (8 + len(value), 40 + len(value))],
    )  # fmt: skip


def test_a_plan_takes_the_same_messages_in_every_batch():
    plan, messages = (
        OwnPlan(),
        [b'{"text":"a","list":[1],"number":5}', b'{"nested":{"text":null}}', b'{"rows":[{"c":1}]}'],
    )
    for _ in range(4):
        result = scan(plan, messages)
        assert result.taken == [0, 1, 2]
        assert [kind_of(cell) for cell in result.cells_of("text")] == [TEXT, 0, 0]


# --- what is no message


@pytest.mark.parametrize(
    "broken",
    [b"{", b'{"', b'{"text', b'{"text"', b'{"text":', b'{"text":1', b'{"text":1,', b'{"text":1,}', b'{"text":1}}',
     b'{"text":1} ', b'{"text":1}x', b'{"text" 1}', b'{"text":1 "list":[]}', b'{,"text":1}', b'{"text":1;}', b'{"text":}',
     b'{"text":1,"text":1}', b'{"text":1,"list":[],"text":1}', b'{"other":1}', b'{"tex":1}', b'{"text":True}',
     b'{"text":nul}', b'{"text":nulll}', b'{"text":tru}', b'{"text":[]}', b'{"list":1}', b'{"list":[}', b'{"list":[1,]}',
     b'{"list":[,1]}', b'{"list":{"a"}}', b'{"list":{"a":1,}}', b'{"list":{1:1}}', b'{"list":{"a":1]}', b'{"list":[1}}',
     b'{"list":[1 2]}', b'{"list":{"a":1 "b":2}}', b'{"list":[[]', b'{"rows":[{"c":1},]}', b'{"rows":[,]}',
     b'{"rows":[{"c":1} {"c":1}]}', b'{"rows":[1]}', b'{"rows":[null]}', b'{"rows":{}}', b'{"rows":nul}', b'{"rows":[',
     b'{"rows":[{"c":1}', b'{"row":[]}', b'{"row":1}', b'{"row":{"c":1}', b'{"row":{"d":1}}', b'{"nested":[]}', b'{"nested":nul}',
     b'{"nested":{"text":1}', b'{"nested":{"text":1,"text":2}}', b'{"number":"1"}', b"[]", b"null", b'"text"', b'{"text":"a}'],
)  # fmt: skip
def test_what_is_no_message_of_the_plan_is_left(broken):
    assert scan(OwnPlan(), [broken]).taken == []
    spaced = b'{ "text" :\t1 ,\n"list":[ 1 , { "a" : [ ] } ] , "rows" : [ { "c" : 1 } , { } ] ,\r"row":{ } , "nested" : { } }'
    assert scan(OwnPlan(), [broken, spaced, broken]).taken == [1]


WHOLE = (
    '{"text":"a\\n\\u00e9\\ud83d\\ude00é蛋😀","list":[1,{"a":"\\ud83d\\ude00😀"},true,null],"rows":[{"c":"蛋"},{}],'
    '"row":{"c":"\\\\"},"nested":{"text":null},"number":-1.5e+10}'
).encode()
"""A message with a token of every kind, and letters of every length as bytes and as escapes."""


def test_no_message_that_was_cut_is_taken_or_read_beyond_its_end():
    """Each lies in memory of its own; the sanitizers see what is read behind it."""
    plan = OwnPlan()
    assert scan(plan, [WHOLE]).taken == [0]
    for end in range(len(WHOLE)):
        assert scan(plan, [WHOLE[:end]]).taken == []


def test_a_member_that_is_required_has_to_be_there():
    plan = OwnPlan(required="text")
    assert scan(plan, [b"{}", b'{"list":[]}', b'{"text":1}', b'{"list":[],"text":1}']).taken == [2, 3]


@pytest.mark.parametrize("token", [b'"x1"', b'"a longer text"', b"[1,2]", b"null"])
def test_a_member_that_tells_shapes_apart_has_exactly_its_token(token):
    others = [token[:-2] + b"?" + token[-1:], token[:-1], token + b"1", token + token, b'"x"', b"1", b"[1]"]
    messages = [b'{"text":' + one + b"}" for one in (token, *others, token + b" ")]
    assert scan(OwnPlan(token=token), messages).taken == [0, len(messages) - 1]
    assert scan(OwnPlan(token=token), [b'{"text":' + token]).taken == []


def test_members_come_in_their_order_where_a_plan_asks_for_it():
    messages = [
        b'{"text":1,"list":[],"number":1}',
        b'{"list":[],"text":1}',
        b'{"text":1,"number":1,"list":[]}',
        b'{"number":1}',
    ]
    assert scan(OwnPlan(in_order=True), messages * 2).taken == [0, 3, 4, 7]
    assert scan(OwnPlan(), messages).taken == [0, 1, 2, 3]


@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}")])
def test_values_are_nested_as_deep_as_is_allowed_and_no_deeper(opening, closing):
    inner = "1" if opening != "[" else ""
    messages = [f'{{"list":{opening * depth}{inner}{closing * depth}}}'.encode() for depth in (1, 63, 64, 65, 66, 500)]
    assert scan(OwnPlan(), messages).taken == [0, 1, 2]


@pytest.mark.parametrize(
    ("token", "kind"),
    [("0", INTEGER), ("-1", INTEGER), ("9" * 18, INTEGER), ("-" + "9" * 18, INTEGER), ("9" * 19, NUMBER), ("-0", NUMBER),
     ("-" + "1" * 19, INTEGER), ("8" + "9" * 18, INTEGER), ("9" + "0" * 18, NUMBER), ("-9" + "0" * 18, NUMBER), ("1" * 20, NUMBER),
     ("0.0", DECIMAL), ("-0.5", DECIMAL), ("1." + "2" * 298, DECIMAL), ("1." + "2" * 299, NUMBER),
     ("-1." + "2" * 297, DECIMAL), ("-1." + "2" * 298, NUMBER), ("1e5", NUMBER), ("1E-5", NUMBER), ("1.5e+5", NUMBER),
     ("01", None), ("-01", None), ("1.", None), (".5", None), ("-", None), ("+1", None), ("1e", None), ("1e+", None),
     ("1.e5", None), ("00", None), ("1.5.5", None), ("0x1", None), ("NaN", None), ("--1", None)],
)  # fmt: skip
def test_a_number_is_of_the_kind_that_its_digits_make_it(token, kind):
    result = scan(OwnPlan(), [f'{{"number":{token}}}'.encode()])
    assert [kind_of(cell) for cell in result.cells_of("number")] == ([] if kind is None else [kind])
    if kind is not None:
        assert span_of(result.cells_of("number")[0]) == (10, 10 + len(token))
        json.loads(token)


def test_values_are_found_where_they_stand():
    message = b'{"text":"a\\n","list":[1],"rows":[{"c":"x"},{"c":null}],"row":{"c":-1.5},"nested":{"text":"e"}}'
    result = scan(OwnPlan(), [message], capacity=EDGE)
    row, *_ = result.row_cells[1].tolist()
    found = {name: result.cells_of(name)[0] for name in ("text", "list", "nested", "nested/text")}
    found |= {f"row {at}": cell for at, cell in enumerate([*result.row_cells[0][:2].tolist(), row])}
    assert {name: (kind_of(cell), message[slice(*span_of(cell))]) for name, cell in found.items()} == {
        "text": (ESCAPED, b"a\\n"), "list": (ARRAY, b"[1]"), "nested": (OBJECT, b'{"'), "nested/text": (TEXT, b"e"),
        "row 0": (TEXT, b"x"), "row 1": (NULL, b"null"), "row 2": (DECIMAL, b"-1.5"),
    }  # fmt: skip
