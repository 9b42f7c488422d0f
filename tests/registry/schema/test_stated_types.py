"""Every clause of a message schema names the type of what it is about, as code generators and strict validators ask.

The tools themselves are run by `just strangers`; here is what they ask for, said without them.
"""

from __future__ import annotations

import json
import re

import pytest
from both_paths import CATALOGUE

from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.contract.table_contracts import parse_table_contract
from cdc_contracts.registry.core.schema.message_schemas.bound_schema import bound_schema
from cdc_contracts.registry.core.schema.message_schemas.stated_types import state_types

KEYWORDS = {
    "object": {"properties", "required", "additionalProperties", "propertyNames", "minProperties", "maxProperties"},
    "array": {"items", "contains", "minItems", "maxItems"},
    "string": {"pattern"},
    "number": {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"},
}
TABLE = parse_table_contract(
    {
        "table": "shop.orders",
        "columns": {"id": {"type": "bigint"}, "a.b": {"type": "varchar(10)"}, "a_b": {"type": "timestamp"}},
        "primary_key": ["id"],
    },
    "shop.orders",
)
BOUND = (
    "dts/canal@2",
    "oms-community/canal@2",
    "oms-community/debezium@1",
    "oms-community/default-extend-column-type@1",
)


def schemas():
    for version in CATALOGUE.all_versions():
        yield pytest.param(json.loads(version.folder.joinpath("message.schema.json").read_text()), id=str(version))
    for reference in BOUND:
        schema = bound_schema(CATALOGUE.version(reference), TABLE, ReadingOptions())
        yield pytest.param(schema, id=f"{reference} of one table")


SCHEMAS = list(schemas())


def clauses(schema, pointer=""):
    """Yield every schema inside one, with its pointer."""
    if isinstance(schema, list):
        for number, one in enumerate(schema):
            yield from clauses(one, f"{pointer}/{number}")
    elif isinstance(schema, dict):
        yield pointer, schema
        for key, value in schema.items():
            if key in ("properties", "$defs"):
                for name, below in value.items():
                    yield from clauses(below, f"{pointer}/{key}/{name}")
            elif key not in ("examples", "const", "enum", "required", "type"):
                yield from clauses(value, f"{pointer}/{key}")


def types_of(clause):
    types = clause.get("type", [])
    return [types] if isinstance(types, str) else types


@pytest.mark.parametrize("schema", SCHEMAS)
def test_no_clause_leaves_its_type_open_or_names_two_besides_null(schema):
    for pointer, clause in clauses(schema):
        types = set(types_of(clause))
        assert len(types - {"null"}) <= 1, pointer
        for kind, keywords in KEYWORDS.items():
            if keywords & clause.keys():
                assert types & ({kind, "integer"} if kind == "number" else {kind}), pointer


@pytest.mark.parametrize("schema", SCHEMAS)
def test_what_a_clause_requires_is_among_its_properties(schema):
    for pointer, clause in clauses(schema):
        assert set(clause.get("required", ())) <= clause.get("properties", {}).keys(), pointer


@pytest.mark.parametrize("schema", SCHEMAS)
def test_names_of_definitions_that_are_referred_to_hold_what_every_generator_takes(schema):
    names = {clause["$ref"].removeprefix("#/$defs/") for _, clause in clauses(schema) if "$ref" in clause}
    assert names
    assert [name for name in names if not re.fullmatch(r"[A-Za-z0-9_-]+", name)] == []
    assert not any("." in name for name in schema["$defs"])


@pytest.mark.parametrize("schema", SCHEMAS)
def test_a_schema_whose_types_are_stated_stays_as_it_is(schema):
    assert state_types(schema) == schema


ENVELOPE = {
    "type": "object",
    "properties": {
        "row": {"type": ["object", "null"], "additionalProperties": {"type": ["number", "string", "null"]}},
        "list": {"type": "array", "items": {"$ref": "#/$defs/one"}},
        "at": {"type": ["integer", "null"]},
        "any": {},
    },
}
STATED = [
    ({"properties": {"row": {"maxProperties": 1}}},
     {"type": "object", "properties": {"row": {"type": ["object", "null"], "maxProperties": 1}}}),
    ({"properties": {"row": {"additionalProperties": {"pattern": "^a$"}}}},
     {"type": "object", "properties": {"row": {"type": ["object", "null"], "additionalProperties": {"anyOf": [
         {"type": ["number", "null"]}, {"type": "string", "pattern": "^a$"}]}}}}),
    ({"properties": {"list": {"items": {"minimum": 1}}}},
     {"type": "object", "properties": {"list": {"type": "array", "items": {"type": "integer", "minimum": 1}}}}),
    ({"properties": {"at": {"not": {"type": "number", "minimum": 9}}}},
     {"type": "object", "properties": {"at": {"type": ["integer", "null"], "not": {"type": "integer", "minimum": 9}}}}),
    ({"required": ["at"]},
     {"type": "object", "required": ["at"], "properties": {"at": {"type": ["integer", "null"]}}}),
    ({"properties": {"any": {"minimum": 1}}}, {"type": "object", "properties": {"any": {"minimum": 1}}}),
]  # fmt: skip


@pytest.mark.parametrize(("clause", "stated"), STATED)
def test_a_clause_gets_the_type_that_the_envelope_gives_its_member(clause, stated):
    whole = {**ENVELOPE, "allOf": [clause], "$defs": {"one": {"type": "integer"}}}
    assert state_types(whole)["allOf"] == [stated]
