"""The compiled schema against `jsonschema`: both take the same values, for every schema of the catalogue and beyond.

Of the mutations of a contract's samples, and of the samples of others, a fixed choice is validated;
CDC_CONTRACTS_MUTATIONS=kinds validates every one.
"""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cdc_contracts.registry.core.common.json_messages import Unreadable
from cdc_contracts.registry.core.contract.catalogue import Catalogue
from cdc_contracts.registry.core.contract.envelope_schemas import compile_schema
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.generate.contract_samples import find_samples
from cdc_contracts.registry.core.message.schema_validator import open_validator
from cdc_contracts.registry.core.message.schema_violations import SchemaCheck
from cdc_contracts.registry.core.message.transport import open_transport
from cdc_contracts.registry.core.values import FORMS, Context, Number

CHOSEN = 150
ALL = os.environ.get("CDC_CONTRACTS_MUTATIONS", "some") != "some"
CATALOGUE = Catalogue([Path(__file__).parents[3] / "contracts"])
VERSIONS = list(CATALOGUE.all_versions())
TOKENS = ("0", "1", "-1", "-0", "7", "1.0", "1.5", "1e3", "0.5", "1E-400", "9" * 30, "1718000000000")
TEXTS = (
    "", "A", "B", "INSERT", "insert", "1", "-1", "1.0", "true", "null", "2024-06-10", "2024-06-10 08:00:00", "08:00:00",
    "1718000000.000000", "2024-06-10T08:00:00Z", "\u0661", "A\n", "x\u0000", "q80=", "0x41", "AB", "0000-00-00", "\U0001f600",
)  # fmt: skip
PLAIN = (None, True, False, *map(Number, TOKENS), *TEXTS)
VALUES = (
    *PLAIN,
    [],
    {},
    [None],
    [Number("1")],
    ["A"],
    [{}],
    [{}, {}],
    [{"id": "1"}],
    {"id": "1"},
    {"id": None},
    {"a": {"b": []}},
)


def messages():
    """Yield every sample that can be read, with its version."""
    for version in VERSIONS:
        wire = open_transport(version, ReadingOptions())
        for sample in find_samples(version):
            try:
                yield version, wire.open(sample.value)
            except Unreadable:
                continue


MESSAGES = list(messages())


def places(value, parts=()):
    """Yield every place of a value with the name it has for a schema: rows of a list are alike."""
    yield parts, tuple("0" if isinstance(part, int) else part for part in parts)
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, below in entries:
        yield from places(below, (*parts, key))


def put(value, parts, change):
    """Return a value with another one at a place; `change` is given what stands there."""
    if not parts:
        return change(value)
    copy = value.copy()
    copy[parts[0]] = put(value[parts[0]], parts[1:], change)
    return copy


def drop(value, name):
    copy = value.copy()
    del copy[name]
    return copy


def mutants(version):
    """Yield the samples of a version with one thing changed: all changes of each place, and some of it in each op."""
    seen = set()
    for owner, message in MESSAGES:
        op = str(message.get("type") or message.get("op") or message.get("recordType"))
        for parts, place in places(message) if owner is version else ():
            if (op, place) in seen:
                continue
            for value in VALUES[::6] if place in seen else VALUES:
                yield put(message, parts, lambda _, value=value: value)
            seen |= {place, (op, place)}
            for name in ("zz_new", "", "id", "type"):
                yield put(
                    message, parts, lambda held, name=name: {**held, name: "x"} if isinstance(held, dict) else [held]
                )
            yield put(message, parts, lambda held: held * 2 if isinstance(held, list | str) else held)
            if parts:
                yield put(message, parts[:-1], lambda held, name=parts[-1]: drop(held, name))


def disagreements(schema, values):
    check, validator = compile_schema(schema), open_validator(schema)
    assert check is not None
    return [value for value in values if check(value) is not (next(validator.iter_errors(value), None) is None)]


@pytest.mark.one_in(2)
@pytest.mark.parametrize("version", VERSIONS, ids=str)
def test_both_take_the_same_samples_of_all_contracts(version, part):
    foreign = [message for owner, message in MESSAGES if owner is not version]
    own = [message for owner, message in MESSAGES if owner is version]
    assert disagreements(version.schema, [*own, *(foreign if ALL else part(foreign, 12))]) == []


@pytest.mark.one_in(3)
@pytest.mark.parametrize("version", VERSIONS, ids=str)
def test_both_take_the_same_mutations_of_the_samples(version, part):
    values = list(mutants(version))
    assert len(values) > CHOSEN
    if not ALL:
        values = part(random.Random(0).sample(values, min(CHOSEN, len(values))), 2)
    assert disagreements(version.schema, values) == []


@pytest.mark.parametrize(
    "context", [Context(), Context(invalid_literals=("0000-00-00 00:00:00",)), Context(invalid_literals=("-",))]
)
def test_both_take_the_same_values_of_every_form(context):
    found = {name: disagreements(form.schema_in(context), VALUES) for name, form in FORMS.items()}
    assert {name: values for name, values in found.items() if values} == {}


ROW = {"type": "object", "additionalProperties": {"type": ["string", "null"]}}
TREE = {"type": ["object", "null"], "properties": {"a": {"$ref": "#/$defs/tree"}, "id": {"pattern": "^[0-9]$"}}}
SCHEMAS = [
    {},
    {"type": "object", "$id": "urn:x", "$schema": "https://json-schema.org/draft/2020-12/schema", "title": "t"},
    {"type": ["integer", "string"]},
    {"type": ["integer", "number"]},
    {"type": "integer", "minimum": 1},
    {"minimum": 0.5},
    {"type": "array", "items": True, "minItems": 1, "maxItems": 1},
    {"items": False},
    {"items": ROW, "maxItems": 1},
    {"pattern": "^A$"},
    {"pattern": r"^\d+$"},
    {"enum": ["A", 1, None, True]},
    {"enum": [0, "1", 1.5]},
    {"enum": [False, 1718000000000], "type": ["boolean", "integer"]},
    {"const": True},
    {"const": 1},
    {"const": None},
    {"const": "A", "type": "number"},
    {"required": ["id"]},
    {"properties": {"id": True, "a": False}},
    {"properties": {"id": {"type": "null"}}, "additionalProperties": False},
    {"additionalProperties": {"type": "string"}},
    {"allOf": [{"if": {"properties": {"id": {"const": "1"}}, "required": ["id"]}, "then": {"required": ["a"]}}]},
    {"if": {"type": "string"}, "then": {"enum": ["A", "B"]}},
    {"if": {"type": "string"}},
    {"then": False},
    {"$ref": "#/$defs/tree", "$defs": {"tree": TREE}},
    {"$ref": "#/$defs/tree", "required": ["a"], "$defs": {"tree": TREE}},
    {"items": {"$ref": "#/$defs/row"}, "$defs": {"row": {"$ref": "#/$defs/inner"}, "inner": ROW}},
]


@pytest.mark.parametrize("schema", [*SCHEMAS, True, False], ids=str)
def test_both_take_the_same_values_whatever_a_schema_says(schema):
    assert disagreements(schema, VALUES) == []


PARSED = st.recursive(
    st.sampled_from(PLAIN),
    lambda below: (
        st.lists(below, max_size=3) | st.dictionaries(st.sampled_from(["a", "b", "id", "type"]), below, max_size=3)
    ),
    max_leaves=6,
)
PARTS = st.recursive(
    st.sampled_from([*SCHEMAS[:26], True, False]).map(
        lambda schema: (
            schema if isinstance(schema, bool) else {key: below for key, below in schema.items() if key[0] != "$"}
        )
    ),
    lambda below: st.fixed_dictionaries(
        {},
        optional={
            "type": st.lists(
                st.sampled_from(["null", "boolean", "integer", "number", "string", "array", "object"]),
                min_size=1,
                unique=True,
            ),
            "items": below,
            "properties": st.dictionaries(st.sampled_from(["a", "b", "id"]), below, max_size=3),
            "additionalProperties": below,
            "allOf": st.lists(below, min_size=1, max_size=2),
            "if": below,
            "then": below,
            "required": st.lists(st.sampled_from(["a", "b"]), unique=True),
        },
    ),
    max_leaves=5,
)


@settings(max_examples=250, deadline=None)
@given(schema=PARTS, values=st.lists(PARSED, min_size=1, max_size=20))
def test_both_take_the_same_values_of_schemas_found_by_chance(schema, values):
    assert disagreements(schema, values) == []


UNCOMPILED = [
    {"anyOf": [{}]},
    {"type": "text"},
    {"properties": {"a": {"$id": "urn:y"}}},
    {"$ref": "other.json"},
    {"$ref": "#/$defs/none"},
    {"$ref": "#/properties/a", "properties": {"a": True}},
    {"$ref": "#/$defs/a%20b", "$defs": {"a b": True}},
    {"enum": [["A"], {}]},
]


@pytest.mark.parametrize("schema", UNCOMPILED, ids=str)
def test_what_only_jsonschema_can_judge_is_left_to_it(schema):
    assert compile_schema(schema) is None


def test_what_is_left_to_jsonschema_is_judged_all_the_same():
    validator = SchemaCheck({"properties": {"a": {"enum": [["A"]]}}})
    assert validator.violations({"a": ["A"]}) == []
    assert [violation.path for violation in validator.violations({"a": ["B"]})] == ["/a"]
