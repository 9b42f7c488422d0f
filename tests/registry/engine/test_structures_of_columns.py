"""Arrays and objects that are values of columns: one text each, however they are written in their messages."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scanned_messages import LIBRARY, column_of

from cdc_contracts.registry.core.common.json_messages import parse_message
from cdc_contracts.registry.core.common.json_structures import ArrayText, ObjectText, as_structure
from cdc_contracts.registry.core.engine.layouts import decoder_kinds
from cdc_contracts.registry.core.engine.layouts.decoder_kinds import open_value
from cdc_contracts.registry.core.engine.native.scanned_columns import ARRAY, OBJECT

native = pytest.mark.skipif(LIBRARY is None, reason="no native part was compiled here, or it is switched off")
SCALARS = ['"away"', '"\\u0061way"', '"a:b"', '"{"', '"]"', '"x y"', '""', '"é"', '"\\n"', '"\\""', "1", "-0", "1.50", "1e3",
           "true", "null", "[]", "{}"]  # fmt: skip
NAMES = ['"a"', '"\\u0061"', '"away"', '"a:b"', '""', '"x y"']
blanks = st.sampled_from(["", "", "", " ", "\n\t"])


@st.composite
def written(draw, below):
    """A token of an array or object, which may have blanks, escapes and a name more than once."""
    between = draw(blanks)
    if draw(st.booleans()):
        return f"[{between}" + f",{between}".join(draw(st.lists(below, max_size=3))) + f"{between}]"
    members = draw(st.lists(st.tuples(st.sampled_from(NAMES), below), max_size=3))
    return f"{{{between}" + f"{between},".join(f"{name}{between}:{one}" for name, one in members) + f"{between}}}"


structures = st.recursive(st.sampled_from(SCALARS), written, max_leaves=8).filter(lambda token: token[0] in "[{")


def told(token):
    """The text of a token by the parser of whole messages."""
    return as_structure(parse_message(f'{{"it":{token}}}'.encode())["it"])


@settings(max_examples=200)
@given(structures)
@example('{"a":1,"a":2}')
@example('[{"a":1,"b":{"a":3,"a":3}}]')
@example('{"a:b":1}')
@example('["a b"]')
@example('["a" ]')
@example('["\\/"]')
@example('{"a":"' + "x" * 300 + '"}')
def test_an_array_or_object_is_one_text_however_it_is_written(token):
    found = open_value(token.encode())
    assert found == told(token)
    assert type(found) is (ArrayText if token[0] == "[" else ObjectText)


@pytest.mark.parametrize(
    ("token", "text"),
    [('{"a":1,"a":2}', '{"a":2}'), ("[ 1 , 2.0 ]", "[1,2.0]"), ('["\\u00e9"]', '["é"]'), ('{"a": "x y"}', '{"a":"x y"}')],
)  # fmt: skip
def test_the_text_has_no_blanks_no_escapes_and_of_a_name_the_last_value(token, text):
    assert open_value(token.encode()) == text


STAND_INS = [
    '["away"]',
    '{"away":"away"}',
    "[1,1.50]",
    "[]",
    "{}",
    '{"a":1}',
    '{"a":1,"away":null}',
    '[{"a":1}]',
    '["\\""]',
    '[""]',
]
near = st.sampled_from([
    "[1,1.50]", "[ 1,1.50]", "[1,1.5]", "[1,1.50,1]", '{"a":2,"a":1}', '{"a":1,"away":1,"away":null}', '[{"a":2,"a":1}]',
    '["\\u0061way"]', '{"away":"\\u0061way"}', '["away","away"]', '{"away":["away"]}', '["away" ]', '["\\u0022"]', "[ ]", "{ }",
])  # fmt: skip


@native
@settings(max_examples=200)
@given(
    st.lists(st.one_of(structures, near, st.sampled_from(STAND_INS)), min_size=1, max_size=6),
    st.sets(st.sampled_from(STAND_INS)),
)
def test_what_stands_for_a_value_not_sent_is_found_however_it_is_written(tokens, stand_ins):
    column = column_of([(ARRAY if token[0] == "[" else OBJECT, token) for token in tokens], decoder_kinds.WIDE)
    wanted = [told(token) in stand_ins for token in tokens]
    assert column.mark(frozenset(stand_ins), nulls=False).tolist() == wanted
    assert (column.may_mark(frozenset(stand_ins), nulls=False) >= wanted).all()


@native
def test_only_what_may_stand_for_a_value_not_sent_is_opened():
    texts = frozenset(['["away"]', "[97,119]", '{"away":"away"}'])
    tokens = ['["x y","b"]', '{"x":1.0,"y":2.0}', "[97,118]", "[97,119,0]", '[ "97" ]', "[]", "{}"]
    column = column_of([(ARRAY if token[0] == "[" else OBJECT, token) for token in tokens], decoder_kinds.WIDE)
    assert not column.may_mark(texts, nulls=False).any()
