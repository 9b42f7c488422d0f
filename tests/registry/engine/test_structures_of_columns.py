"""Arrays and objects that are values of columns: one text each, however they are written in their messages."""

from base64 import b64encode
from decimal import Decimal, localcontext

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scanned_messages import LIBRARY, column_of

from cdc_contracts.registry.core.common.json_messages import parse_message
from cdc_contracts.registry.core.common.json_structures import as_structure
from cdc_contracts.registry.core.engine.columns.form_parts import validate_parts
from cdc_contracts.registry.core.engine.layouts import decoder_kinds
from cdc_contracts.registry.core.engine.layouts.layout_parts import FormUse
from cdc_contracts.registry.core.engine.layouts.single_values import read_value
from cdc_contracts.registry.core.engine.native.form_checks import check_values
from cdc_contracts.registry.core.engine.native.scanned_columns import ARRAY, OBJECT
from cdc_contracts.registry.core.engine.native.scanned_values import STRUCTURES, ScannedPart
from cdc_contracts.registry.core.values import FORMS, Context
from cdc_contracts.registry.core.values.type_bounds import bound_of

pytestmark = pytest.mark.skipif(LIBRARY is None, reason="no native part was compiled here, or it is switched off")

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


def column_of_structures(tokens):
    return column_of([(ARRAY if token[0] == "[" else OBJECT, token) for token in tokens], decoder_kinds.WIDE)


def texts_of(form, tokens, bound=None):
    """The flags and canonical texts of values, as columns of a batch have them."""
    use = FormUse(FORMS[form], Context(), lenient=False, bound=bound)
    flags, texts = validate_parts([(ScannedPart([column_of_structures(tokens)], STRUCTURES), use)], texts=True)[0]
    return [0] * len(tokens) if flags is None else flags.tolist(), texts.to_pylist()


def open_places(form, tokens, bound=None):
    """The places of the values that the native part leaves to the reference."""
    use = FormUse(FORMS[form], Context(), lenient=False, bound=bound)
    return check_values([(column_of_structures(tokens), use)])[0][1].tolist()


@pytest.mark.parametrize("form", ["json-value", "as-sent"])
@settings(max_examples=200)
@given(tokens=st.lists(structures, min_size=1, max_size=5))
@example(tokens=['{"a":1,"a":2}', '[{"a":1,"b":{"a":3,"a":3}}]', '{"a:b":1}', '["a b"]', '["a" ]', '["\\/"]', "[ ]"])
@example(tokens=["[" * level + "]" * level for level in (15, 16, 17, 18)])
@example(tokens=["{" + ",".join(f'"{name}":0' for name in [*range(size), 0]) + "}" for size in (62, 63, 64, 65)])
def test_an_array_or_object_is_one_text_however_it_is_written(form, tokens):
    assert texts_of(form, tokens) == ([0] * len(tokens), [told(token) for token in tokens])


def test_what_is_written_without_blanks_escapes_and_repeated_names_needs_no_parser():
    sure = ['["x y","b:",null]', '{"x":1.0,"y":{"x":2,"y":[{"x":1},{"x":2}]}}', "[]", "{}", "[" * 16 + "]" * 16]
    assert open_places("json-value", [*sure, '{"x":1,"x":1}', "[1, 2]", '["\\u0061"]']) == [5, 6, 7]


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


@settings(max_examples=200)
@given(
    st.lists(st.one_of(structures, near, st.sampled_from(STAND_INS)), min_size=1, max_size=6),
    st.sets(st.sampled_from(STAND_INS)),
)
def test_what_stands_for_a_value_not_sent_is_found_however_it_is_written(tokens, stand_ins):
    column = column_of_structures(tokens)
    wanted = np.array([told(token) in stand_ins for token in tokens])
    assert column.mark(frozenset(stand_ins), nulls=False).tolist() == wanted.tolist()
    assert (column.may_mark(frozenset(stand_ins), nulls=False) >= wanted).all()


def test_only_what_may_stand_for_a_value_not_sent_is_opened():
    texts = frozenset(['["away"]', "[97,119]", '{"away":"away"}'])
    tokens = ['["x y","b"]', '{"x":1.0,"y":2.0}', "[97,118]", "[97,119,0]", '[ "97" ]', "[]", "{}"]
    assert not column_of_structures(tokens).may_mark(texts, nulls=False).any()


def base64_of(number):
    size = (number + (number < 0)).bit_length() // 8 + 1
    return b64encode(number.to_bytes(size, "big", signed=True)).decode()


EDGES = [0, 1, -1, 127, 128, -128, -129, 10**18, 2**63 - 1, 2**63, -(2**63) - 1, 10**38, 2**127 - 1, -(2**127)]


@pytest.mark.parametrize("scale", [0, 1, 9, 10, 29, 30])
def test_a_decimal_beside_its_scale_is_read_to_the_digit(scale):
    with localcontext(prec=200):
        wanted = [f"{Decimal(number).scaleb(-scale):f}" for number in EDGES]
    tokens = [f'{{"scale":{scale},"value":"{base64_of(number)}"}}' for number in EDGES]
    assert texts_of("decimal-object", tokens) == ([0] * len(EDGES), wanted)
    assert open_places("decimal-object", tokens) == []


scales = st.sampled_from(["0", "2", "30", "31", "-1", "00", "02", "1e1", '"2"', "100", "2.0", "null"])
texts = st.one_of(
    st.integers(-(2**136), 2**136).map(base64_of),
    st.sampled_from(["", "A", "AxY", "AxZ=", "=AxY", "A\\u0078Y=", '","value":"AxY=']),
)
places = st.sampled_from([
    '{{"scale":{scale},"value":"{text}"}}', '{{"scale": {scale},"value":"{text}"}}', '{{"value":"{text}","scale":{scale}}}',
    '{{"scale":{scale},"value":"{text}","scale":1}}', '{{"scale":{scale},"value":"{text}"}} ', '{{"scale":{scale}}}',
    '{{"scale":{scale},"value":"{text}","more":1}}', '{{"scale":{scale},"value":null}}', '{{"scale":1,"scale":{scale},"value":"{text}"}}',
])  # fmt: skip
numbers = st.builds(lambda place, scale, text: place.format(scale=scale, text=text).strip(), places, scales, texts)
bounds = st.sampled_from(
    [
        None,
        *(
            bound_of(told, "decimal")
            for told in ("decimal(5,2)", "decimal(38,0)", "decimal(40,31)", "bigint", "bigint unsigned")
        ),
    ]
)


def at_scale(scale, number):
    return f'{{"scale":{scale},"value":"{base64_of(number)}"}}'


def is_json(token):
    try:
        told(token)
    except Exception:  # noqa: BLE001  a scale such as 00 is no number
        return False
    return True


@settings(max_examples=300)
@given(st.lists(numbers.filter(is_json), min_size=1, max_size=5), bounds)
@example([at_scale(0, number) for number in EDGES], bound_of("bigint", "decimal"))
def test_decimals_beside_their_scale_are_read_as_the_reference_reads_them(tokens, bound):
    use = FormUse(FORMS["decimal-object"], Context(), lenient=False, bound=bound)
    each = [read_value(use, told(token)) for token in tokens]
    flags, found = texts_of("decimal-object", tokens, bound)
    assert (flags, found) == ([flag for _, flag in each], [text for text, _ in each])


def test_digits_before_and_after_the_point_are_bounded_each_for_themselves():
    tokens = [at_scale(scale, number) for scale, number in ((2, 99999), (2, 100000), (1, 9999), (3, 999), (0, 999))]
    assert open_places("decimal-object", tokens, bound_of("decimal(5,2)", "decimal")) == [1, 3]


STATED = {
    '{"$oid": "5CEBDF84C9E3F8B35A8B4567"}': "5cebdf84c9e3f8b35a8b4567",
    '{"$oid":"5cebdf84c9e3f8b35a8b4567"}': "5cebdf84c9e3f8b35a8b4567",
    '{"$numberLong": "-999999999999999999"}': "-999999999999999999",
    '{"$numberInt":"0"}': "0",
    '{"$numberLong":"9223372036854775807"}': "9223372036854775807",
    '{"$numberDecimal": "1234.5600"}': "1234.5600",
    '{"$numberDecimal":"123456789012345678901234567890.12345"}': "123456789012345678901234567890.12345",
    '{"$date": 0}': "1970-01-01T00:00:00Z",
    '{"$date":1558965508120}': "2019-05-27T13:58:28.12Z",
    '{"$date": 253402300799999}': "9999-12-31T23:59:59.999Z",
    '{"oid":"5cebdf84c9e3f8b35a8b4567"}': '{"oid":"5cebdf84c9e3f8b35a8b4567"}',
    "{}": "{}",
}
"""Objects that the native part reads, as they are written, and their texts."""
LEFT = {
    '{"$date": 253402300800000}': '{"$date":{"$numberLong":"253402300800000"}}',
    '{"$date":-1}': "1969-12-31T23:59:59.999Z",
    '{"$date":{"$numberLong":"0"}}': "1970-01-01T00:00:00Z",
    '{"$date":"2019-05-27T13:58:28Z"}': "2019-05-27T13:58:28Z",
    '{"$numberLong":"-9223372036854775808"}': "-9223372036854775808",
    '{"$numberDecimal":"1E+3"}': "1000",
    '{"$numberDecimal":"NaN"}': "NaN",
    '{"$numberDouble":"12.5"}': "12.5",
    '{ "$oid":"5cebdf84c9e3f8b35a8b4567"}': "5cebdf84c9e3f8b35a8b4567",
    '{"$oid":  "5cebdf84c9e3f8b35a8b4567"}': "5cebdf84c9e3f8b35a8b4567",
    '{"$oid":"5cebdf84c9e3f8b35a8b4567" }': "5cebdf84c9e3f8b35a8b4567",
    '{"$oid":"5cebdf84c9e3f8b35a8b456\\u0037"}': "5cebdf84c9e3f8b35a8b4567",
    '{"$oid":"5cebdf84c9e3f8b35a8b4567","a":"5cebdf84c9e3f8b35a8b4567"}': (
        '{"$oid":"5cebdf84c9e3f8b35a8b4567","a":"5cebdf84c9e3f8b35a8b4567"}'
    ),
    '{"$date":[1]}': None,
    '{"$date":01}': None,
    '{"$date":"1"}': None,
    '{"$numberLong":5}': None,
    '{"$numberLong":"05"}': None,
    '{"$numberLong":""}': None,
    '{"$numberLong":"-"}': None,
    '{"$numberDecimal":"1."}': None,
    '{"$oid":"5cebdf84c9e3f8b35a8b456"}': None,
    '{"$oid":"5cebdf84c9e3f8b35a8b45678"}': None,
    '{"$oid":"5cebdf84c9e3f8b35a8b456g"}': None,
    '{"$oid":""}': None,
    '{"$oid":7}': None,
}
"""Objects that the reference reads, and their texts; None of what stands for no value."""


def test_an_object_that_stands_for_a_value_is_read_without_a_parser_where_it_is_written_as_usual():
    tokens = [one for one in (*STATED, *LEFT) if one != '{"$date":01}']  # is no JSON
    flags, texts = texts_of("extended-json", tokens)
    assert texts == [(STATED | LEFT)[one] for one in tokens]
    assert [flag == 0 for flag in flags] == [text is not None for text in texts]
    assert open_places("extended-json", tokens) == list(range(len(STATED), len(tokens)))


@settings(max_examples=300)
@given(
    name=st.sampled_from(["$oid", "$numberLong", "$numberInt", "$numberDecimal", "$date", "$numberDouble", "$x"]),
    blank=st.sampled_from(["", " "]),
    value=st.one_of(
        st.text("0123456789-.eE+aAfF", max_size=26).map(lambda text: f'"{text}"'),
        st.integers(-(10**16), 10**16).map(str),
        st.from_regex("[0-9a-fA-F]{23,25}", fullmatch=True).map(lambda text: f'"{text}"'),
    ),
)
def test_both_parts_read_an_object_of_one_member_alike(name, blank, value):
    token = f'{{"{name}":{blank}{value}}}'
    text, flag = read_value(FormUse(FORMS["extended-json"], Context(), lenient=False), told(token))
    assert texts_of("extended-json", [token]) == ([flag], [text])
