"""A member may be called as a keyword of JSON Schema is: names are names, and decide nothing."""

import json

import jsonschema_rs
import pytest

from cdc_contracts.registry.authoring.compat.levels import Level, Policy
from cdc_contracts.registry.authoring.compat.version_comparison import compare_schemas
from cdc_contracts.registry.core.schema.json_schemas.schema_drafts import draft_of
from cdc_contracts.registry.core.schema.schema_documents import JSON, read_schema
from cdc_contracts.registry.server.store.bundling import bundle

NAMES = (
    "type", "items", "$ref", "additionalProperties", "unevaluatedProperties", "properties", "required", "enum", "const",
    "default", "examples", "anyOf", "oneOf", "allOf", "not", "if", "then", "else", "$defs", "dependentSchemas",
    "dependencies", "$id", "$schema", "pattern", "0", "", "a/b", "a~1b", 'say "x"', "名",
)  # fmt: skip
TEXT, NUMBER = {"type": "string"}, {"type": "integer"}


def members(properties, **more):
    return {"type": "object", "properties": properties, **more}


NARROW, WIDE = (members(one, additionalProperties=False) for one in ({"x": TEXT}, {"x": TEXT, "y": NUMBER}))


def pairs(name):
    """Old and new schemas with a member of this name, such that every way of reading a name has something to spoil."""
    yield members({name: NARROW}), members({name: WIDE})
    yield members({name: WIDE}), members({name: NARROW})
    yield members({name: {"oneOf": [WIDE, NARROW]}}), members({name: {"oneOf": [NARROW, TEXT]}})
    yield members({name: members({"x": TEXT})}), members({name: members({"x": TEXT, "y": NUMBER})})
    yield members({name: False, "k": TEXT}), members({name: False, "k": TEXT}, additionalProperties=False)
    yield members({name: {"enum": ["a", "b"]}}), members({name: {"enum": ["a"]}}, required=[name])
    yield tuple(members({name: {"$ref": "#/$defs/row"}}, **{"$defs": {"row": row}}) for row in (WIDE, NARROW))
    yield tuple(
        members({name: TEXT}, **{"if": members({name: {"const": text}}), "then": {"required": ["k"]}}) for text in "AB"
    )


def verdicts(name):
    for pair in pairs(name):
        old, new = (read_schema(json.dumps(one), type=JSON, name="x") for one in pair)
        reported = compare_schemas([old], new, level=Level.FULL, policy=Policy.CDC)
        yield reported.compatible, sorted((one.rule, one.direction) for one in reported.findings)


@pytest.fixture(scope="module")
def plain():
    return list(verdicts("plain"))


@pytest.mark.parametrize("name", NAMES)
def test_the_name_of_a_member_decides_nothing(plain, name):
    assert {compatible for compatible, _ in plain} == {True, False}
    assert list(verdicts(name)) == plain


def test_the_draft_of_a_schema_is_recognised_by_its_keywords_and_not_by_its_members():
    assert draft_of(members({"$defs": TEXT, "k": members({"$anchor": TEXT})})) == jsonschema_rs.Draft7
    assert draft_of(members({"k": members({"x": {"$anchor": "a"}})})) == jsonschema_rs.Draft202012


@pytest.mark.parametrize("name", NAMES)
def test_what_a_member_refers_to_is_found_where_schemas_are_bundled(name):
    row = read_schema(json.dumps(NARROW), type=JSON, name="row")
    text = json.dumps(members({name: {"$ref": "row.json"}, "k": {"const": {"$ref": "row.json"}}}))
    document = bundle(read_schema(text, type=JSON, name="x", references={"row.json": row})).document
    assert document["properties"] == {name: {"$ref": "#/$defs/row.json"}, "k": {"const": {"$ref": "row.json"}}}
    assert document["$defs"] == {"row.json": NARROW}
