"""Lint's own look at a JSON Schema refuses at least what the metaschema refuses."""

from __future__ import annotations

import copy
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from cdc_contracts.registry.authoring.lint.schema_keywords import schema_faults
from cdc_contracts.registry.core.contract.catalogue import Catalogue

CATALOGUE = Catalogue([Path(__file__).parents[3] / "contracts"])
WHOLE = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "$id": "urn:x",
    "title": "t",
    "description": "d",
    "type": "object",
    "properties": {
        "op": {"enum": ["A", 1, None], "type": ["string", "null"], "pattern": "^A$", "examples": ["A"]},
        "n": {"type": "integer", "minimum": 0.5},
        "rows": {"type": "array", "minItems": 0, "maxItems": 1, "items": {"$ref": "#/$defs/row"}},
        "c": {"const": {"any": 1}},
    },
    "required": ["op"],
    "additionalProperties": False,
    "allOf": [{"if": {"properties": {"op": {"const": "A"}}, "required": ["op"]}, "then": {"required": ["n"]}}],
    "$defs": {"row": {"type": "object", "additionalProperties": {"type": ["null", "number"]}}},
}
BROKEN = [
    (("type",), "text"), (("type",), []), (("type",), ["null", "null"]), (("type",), 1), (("title",), 1),
    (("description",), None), (("$id",), 5), (("properties",), []), (("properties", "op"), "A"),
    (("properties", "op"), None), (("properties", "op", "enum"), "A"), (("properties", "op", "pattern"), 1),
    (("properties", "op", "examples"), "A"), (("properties", "n", "minimum"), "0"), (("properties", "n", "minimum"), True),
    (("properties", "rows", "minItems"), -1), (("properties", "rows", "maxItems"), "1"),
    (("properties", "rows", "maxItems"), True), (("properties", "rows", "items"), 3),
    (("properties", "rows", "items", "$ref"), 3), (("required",), "op"), (("required",), ["op", "op"]),
    (("required",), [1]), (("additionalProperties",), "no"), (("allOf",), []), (("allOf",), {}),
    (("allOf", 0), 1), (("allOf", 0, "if"), "x"), (("allOf", 0, "then", "required"), "n"), (("$defs",), []),
    (("$defs", "row", "additionalProperties", "type"), "float"),
]  # fmt: skip
ONLY_HERE = [  # allowed by JSON Schema, not by the closed list
    (("properties", "op", "pattern"), "("), (("properties", "op", "enum"), []), (("properties", "x"), {"format": "x"}),
    (("properties", "rows", "items", "$ref"), "#/$defs/line"), (("properties", "rows", "items", "$ref"), "other.json"),
    (("allOf", 0, "else"), {}), (("anyOf",), [{}]), (("properties", "op", "allOf"), [{}]),
]  # fmt: skip


def edited(path, value):
    schema = copy.deepcopy(WHOLE)
    step = schema
    for part in path[:-1]:
        step = step[part]
    step[path[-1]] = value
    return schema


@pytest.mark.parametrize("schema", [WHOLE, True, {}, *(version.schema for version in CATALOGUE.all_versions())])
def test_a_schema_in_the_closed_list_is_taken_by_both(schema):
    assert list(schema_faults(schema)) == []
    Draft202012Validator.check_schema(schema)


@pytest.mark.parametrize(("path", "value"), BROKEN, ids=str)
def test_what_the_metaschema_refuses_is_refused_here_with_its_place(path, value):
    schema = edited(path, value)
    assert not Draft202012Validator(Draft202012Validator.META_SCHEMA).is_valid(schema)
    pointers = [pointer for pointer, _ in schema_faults(schema)]
    assert pointers == ["/" + "/".join(map(str, path))]


@pytest.mark.parametrize(("path", "value"), ONLY_HERE, ids=str)
def test_what_only_the_closed_list_refuses_is_refused_too(path, value):
    schema = edited(path, value)
    pointers = [pointer for pointer, _ in schema_faults(schema)]
    assert any(pointer.startswith("/" + "/".join(map(str, path))) for pointer in pointers)
