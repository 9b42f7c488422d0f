"""Columns of Extended JSON: a text that looks like an object stays a text, on every path through the engine."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scanned_messages import LIBRARY, column_of
from values_alone import read_alone

from cdc_contracts.registry.core.common.json_messages import parse_message, parse_value
from cdc_contracts.registry.core.common.json_structures import as_structure
from cdc_contracts.registry.core.engine.columns.form_parts import validate_parts
from cdc_contracts.registry.core.engine.columns.opened_columns import open_columns
from cdc_contracts.registry.core.engine.columns.value_columns import ValueColumns
from cdc_contracts.registry.core.engine.layouts import decoder_kinds
from cdc_contracts.registry.core.engine.layouts.layout_parts import FormUse, LayoutColumn
from cdc_contracts.registry.core.engine.messages.value_readings import ColumnReading
from cdc_contracts.registry.core.engine.native.form_checks import check_values, write_values
from cdc_contracts.registry.core.engine.native.scanned_columns import (
    ARRAY,
    BOOLEANS,
    DECIMAL,
    ESCAPED,
    INTEGER,
    NULL,
    NUMBER,
    NUMBERS,
    OBJECT,
    TEXT,
    TEXTS,
    TRUTH,
)
from cdc_contracts.registry.core.engine.native.scanned_values import STRUCTURES, ScannedPart
from cdc_contracts.registry.core.values import FORMS, Context, Flag

USE = FormUse(FORMS["extended-json"], Context(), lenient=False)
OID = '{"$oid":"5CEBDF84C9E3F8B35A8B4567"}'
BY_KIND = {
    "text": [(TEXT, "007", "007"), (TEXT, "1e3", "1e3"), (TEXT, "[1, 2]", "[1, 2]"), (ESCAPED, OID.replace('"', '\\"'), OID)],
    "number": [(NUMBER, "1e3", "1000"), (INTEGER, "-0", "0"), (INTEGER, "7", "7"), (NUMBER, "1.50", "1.50")],
    "boolean": [(TRUTH, "true", "true")],
    "array": [(ARRAY, "[1, 2]", "[1,2]"), (ARRAY, '[{"$numberInt":"1"},2]', "[1,2]")],
    "object": [(OBJECT, OID, "5cebdf84c9e3f8b35a8b4567"), (OBJECT, '{"$numberLong":"7"}', "7"),
               (OBJECT, '{"$numberLong":"07"}', None)],
    "null": [(NULL, "null", None)],
}  # fmt: skip
"""Values by their kind, each with its text; None of what is broken or null."""
MIXED = [kinds for size in range(1, len(BY_KIND) + 1) for kinds in combinations(BY_KIND, size)]


def flag_of(kind, text):
    return Flag.BROKEN if text is None and kind != NULL else Flag.OK


@pytest.mark.skipif(LIBRARY is None, reason="no native part was compiled here, or it is switched off")
@pytest.mark.parametrize("kinds", MIXED, ids="-".join)
def test_scanned_values_are_read_by_their_kind_whatever_others_are_in_the_column(kinds):
    cells = [one for kind in kinds for one in BY_KIND[kind]]
    column = column_of([(kind, sent) for kind, sent, _ in cells], decoder_kinds.WIDE)
    part = ScannedPart([column], TEXTS | NUMBERS | BOOLEANS | STRUCTURES)
    flags, texts = validate_parts([(part, USE)], texts=True)[0]
    assert texts.to_pylist() == [text for *_, text in cells]
    assert (flags.tolist() if flags is not None else [0] * len(cells)) == [
        flag_of(kind, text) for kind, _, text in cells
    ]


@pytest.mark.skipif(LIBRARY is None, reason="no native part was compiled here, or it is switched off")
def test_a_text_needs_no_parser():
    texts = {"": "", "KX-4410": "KX-4410", "[1, 2]": "[1, 2]", r"\n\u00e9\ud83d\udce6\"": '\né📦"', r"{\/}": "{/}"}
    column = column_of([(ESCAPED if "\\" in sent else TEXT, sent) for sent in texts], decoder_kinds.WIDE)
    assert check_values([(column, USE)])[0][1].tolist() == []
    written, unwritten = write_values(column, USE, None)
    assert (written.to_pylist(), unwritten.tolist()) == ([*texts.values()], [])


SURE = [
    (OBJECT, '{"town": "Ålesund","dock": 7}', '{"town":"Ålesund","dock":7}'), (ARRAY, "[]", "[]"), (OBJECT, "{}", "{}"),
    (ARRAY, '[ "a  b" , [1.50, -0, 1e3] ,\n null,true ]', '["a  b",[1.50,-0,1e3],null,true]'), (TRUTH, "true", "true"),
    (OBJECT, '{"a":{"b":{"a":1}},"":[{"a":1},{"a":2}]}', '{"a":{"b":{"a":1}},"":[{"a":1},{"a":2}]}'), (INTEGER, "-7", "-7"),
    (DECIMAL, "1.50", "1.50"), (OBJECT, OID, "5cebdf84c9e3f8b35a8b4567"), (ARRAY, '["{","}"]', '["{","}"]'), (TEXT, "$5", "$5"),
]  # fmt: skip
"""Values that C decides and writes."""
DECIDED = [
    (ARRAY, f"[{OID}]", '[{"$oid":"5cebdf84c9e3f8b35a8b4567"}]'), (OBJECT, '{"a":"\\u00e9"}', '{"a":"é"}'), (OBJECT, '{"a":1,"a":2}', '{"a":2}'),
    (OBJECT, '{"at": {"$date": 0},"n": {"$numberLong": "5"}}', '{"at":{"$date":"1970-01-01T00:00:00Z"},"n":5}'), (ARRAY, '["$oid"]', '["$oid"]'),
    (OBJECT, '{"a":1,"$oid":"x"}', '{"a":1,"$oid":"x"}'), (ARRAY, '["x{","$y"]', '["x{","$y"]'), (ARRAY, "[" * 17 + "]" * 17, "[" * 17 + "]" * 17),
]  # fmt: skip
"""Values that C decides, and does not write."""
LEFT = [
    (OBJECT, '{"$oid":"5ceb"}', None), (OBJECT, '{"a":{"$oid":"5ceb"}}', None), (OBJECT, '{"a":[{ "$oid":"5ceb"}]}', None),
    (OBJECT, '{"\\u0024oid":"5ceb"}', None), (ARRAY, '[{"$numberLong":"07"}]', None), (OBJECT, '{"$ref":"a","$id":1}', '{"$ref":"a","$id":1}'),
    (OBJECT, '{"$date":{"$numberLong":"0"}}', "1970-01-01T00:00:00Z"), (ARRAY, '[{"$date":"2019-05-27"}]', None), (NUMBER, "1e3", "1000"),
    (OBJECT, '{"$binary":"AxY=","$type":"00"}', "AxY="), (OBJECT, '{"$regex":"a}","$options":""}', '{"$regularExpression":{"pattern":"a}","options":""}}'),
]  # fmt: skip
"""Values that are left to the form."""


@pytest.mark.skipif(LIBRARY is None, reason="no native part was compiled here, or it is switched off")
def test_what_is_sure_is_decided_and_written_without_the_form():
    cells = [*SURE, *DECIDED, *LEFT]
    column = column_of([(kind, sent) for kind, sent, _ in cells], decoder_kinds.WIDE)
    ((flags, undecided),) = check_values([(column, USE)])
    assert [cells[place] for place in undecided] == LEFT
    written, unwritten = write_values(column, USE, flags)
    assert [cells[place] for place in unwritten if place < len(cells) - len(LEFT)] == DECIDED
    assert written.to_pylist()[: len(SURE)] == [text for *_, text in SURE]
    part = ScannedPart([column], TEXTS | NUMBERS | BOOLEANS | STRUCTURES)
    flags, texts = validate_parts([(part, USE)], texts=True)[0]
    assert texts.to_pylist() == [text for *_, text in cells]
    assert flags.tolist() == [flag_of(kind, text) for kind, _, text in cells]


NAMES = ["a", "b", "", "$oid", "$numberLong", "$numberDecimal", "$date", "$binary", "$type", "$", "\u0024oid"]
INNER = st.sampled_from(['"5CEBDF84C9E3F8B35A8B4567"', '"5ceb"', '"7"', "7", "-1", "1.50", "1e3", "null", "true", '"x{"', '"}"', '"{\\"$oid\\":7}"',
                         '"2019-05-27T13:58:28Z"', '""', '"é"', '"a b"'])  # fmt: skip
BLANKS = st.sampled_from(["", "", "", " ", "\n"])


@st.composite
def structures(draw, depth=0):
    """Give arrays and objects as they may be written, with names of Extended JSON and others."""
    items = [
        draw(structures(depth + 1)) if depth < 3 and draw(st.integers(0, 2)) == 0 else draw(INNER)
        for _ in range(draw(st.integers(0, 3)))
    ]
    if draw(st.booleans()):
        items = [f'"{draw(st.sampled_from(NAMES))}"{draw(BLANKS)}:{draw(BLANKS)}{one}' for one in items]
        return "{" + draw(BLANKS) + ",".join(items) + draw(BLANKS) + "}"
    return "[" + draw(BLANKS) + f"{draw(BLANKS)},".join(items) + "]"


@pytest.mark.skipif(LIBRARY is None, reason="no native part was compiled here, or it is switched off")
@settings(max_examples=400, deadline=None, derandomize=True, database=None)
@given(sent=st.lists(structures(), min_size=1, max_size=12))
def test_structures_have_the_flags_and_texts_of_the_form(sent):
    column = column_of([(ARRAY if one[0] == "[" else OBJECT, one) for one in sent], decoder_kinds.WIDE)
    part = ScannedPart([column], TEXTS | NUMBERS | BOOLEANS | STRUCTURES)
    alone = [read_alone(USE, as_structure(parse_value(one.encode()))) for one in sent]
    for wanted in (True, False):
        flags, texts = validate_parts([(part, USE)], texts=wanted)[0]
        assert (flags.tolist() if flags is not None else [0] * len(sent)) == [flag for _, flag in alone]
        assert not wanted or texts.to_pylist() == [text for text, _ in alone]


def token_of(kind, sent):
    return f'"{sent}"' if kind in (TEXT, ESCAPED) else sent


CELLS = [one for kind in BY_KIND for one in BY_KIND[kind]]


def test_parsed_values_are_read_by_their_kind():
    tokens = [token_of(kind, sent).encode() for kind, sent, _ in CELLS]
    columns = ValueColumns()
    (column,) = open_columns([(tokens, LayoutColumn("it", decoder_kinds.WIDE, (USE,)), True)])
    columns.add(column, [USE])
    chunk = column.chunk_of(USE)
    columns.validate(texts=True)
    assert chunk.flags.tolist() == [flag_of(kind, text) for kind, _, text in CELLS]
    assert columns.texts.to_pylist()[1:] == [text for *_, text in CELLS]


@pytest.mark.parametrize("opened", [False, True], ids=["parsed", "as text"])
def test_single_values_are_read_by_their_kind(opened):
    reading = ColumnReading([USE], never_null=False, tells_kind=False)
    for kind, sent, text in CELLS + CELLS[::-1]:
        value = parse_message(f'{{"it":{token_of(kind, sent)}}}'.encode())["it"]
        if opened and isinstance(value, list | dict):
            value = as_structure(value)
        found = reading.read(value)
        if flag_of(kind, text) == Flag.OK:
            assert found.texts[0] == (text, Flag.OK)
        else:
            assert found.broken == 1
