"""The form in which schemas are compared takes what the schema takes, and every schema in it keeps its place."""

import json

import jsonschema_rs
import pytest

from cdc_contracts.registry.authoring.compat.json_schema.normal_form import write_normal_form
from cdc_contracts.registry.core.schema.json_schemas.schema_checks import VALIDATORS
from cdc_contracts.registry.core.schema.json_schemas.schema_drafts import DRAFT_NAMES, draft_of

TEXT = {"type": "string"}
D4, D6, D7, D2019, D2020 = DRAFT_NAMES.values()
CASES = {
    "words of later drafts": ({"$schema": D4, "const": 1, "if": True, "then": False}, {}),
    "words of earlier drafts": ({"$schema": D2020, "prefixItems": [{}], "additionalItems": False}, {"prefixItems": [{}]}),
    "a member is no word": ({"$schema": D4, "properties": {"const": {"const": 1}}}, {"properties": {"const": {}}}),
    "flags of draft 4": (
        {"$schema": D4, "minimum": 1, "exclusiveMinimum": True, "maximum": 9, "exclusiveMaximum": False},
        {"minimum": 1, "exclusiveMinimum": 1, "maximum": 9},
    ),
    "an embedded address": (
        {"$schema": D7, "$id": "https://e.org/a", "items": {"$ref": "b#/definitions/c"},
         "definitions": {"b": {"$id": "b", "definitions": {"c": {"$ref": "#/definitions/d"}, "d": TEXT}}, "d": {}}},
        {"$id": "https://e.org/a", "items": {"$ref": "#/definitions/b/definitions/c"},
         "definitions": {"b": {"definitions": {"c": {"$ref": "#/definitions/b/definitions/d"}, "d": TEXT}}, "d": {}}},
    ),
    "an anchor": (
        {"$schema": D2019, "items": {"$ref": "#c"}, "$defs": {"a/b": {"$anchor": "c", **TEXT}}},
        {"items": {"$ref": "#/$defs/a~1b"}, "$defs": {"a/b": TEXT}},
    ),
    "an address beside a reference that hides it": (
        {"$schema": D7, "items": {"$id": "https://e.org/", "$ref": "#/definitions/a%25"}, "definitions": {"a%": TEXT}},
        {"items": {"$ref": "#/definitions/a%25"}, "definitions": {"a%": TEXT}},
    ),
    "what a reference hides": (
        {"$schema": D7, "items": {"properties": {"b": TEXT}, "$ref": "#/definitions/a"}, "definitions": {"a": TEXT}},
        {"items": {"$ref": "#/definitions/a"}, "definitions": {"a": TEXT}},
    ),
    "what a reference does not hide": (
        {"$schema": D2019, "items": {"properties": {"b": TEXT}, "$ref": "#/$defs/a"}, "$defs": {"a": TEXT}},
        {"items": {"properties": {"b": TEXT}, "$ref": "#/$defs/a"}, "$defs": {"a": TEXT}},
    ),
    "false behind an address": (
        {"$schema": D2020, "$id": "https://e.org/a", "items": {"$ref": "a#/$defs/no"}, "$defs": {"no": False}},
        {"$id": "https://e.org/a", "items": {"$ref": "#/$defs/no"}, "$defs": {"no": False}},
    ),
    "the metaschema of an older draft": (
        {"$schema": D4, "items": {"$ref": D4}, "const": 1},
        {"items": {"$ref": D4}},
    ),
}  # fmt: skip
VALUES = [None, 1, 2, 9, 10, "a", [], ["a"], [1], [1, 2], {"const": 1}, {"const": 2}, [{"type": 1}], [{"type": "null"}]]


@pytest.mark.parametrize("name", CASES)
def test_a_schema_is_written_plainly(name):
    written, expected = CASES[name]
    plain = write_normal_form(written)
    assert {word: value for word, value in plain.items() if word != "$schema"} == expected
    before, after = (VALIDATORS[draft_of(one)](one, offline=True, validate_formats=False) for one in (written, plain))
    assert [before.is_valid(value) for value in VALUES] == [after.is_valid(value) for value in VALUES]
    assert write_normal_form(plain) == plain


@pytest.mark.parametrize("word", ["$dynamicRef", "$recursiveRef"])
def test_references_that_depend_on_the_way_to_them_stay(word):
    draft = D2020 if word == "$dynamicRef" else D2019
    written = {"$schema": draft, "items": {word: "#"}, "$defs": {"a": {"$id": "a", **TEXT}}}
    assert write_normal_form(written) is written


def test_what_is_plain_already_is_not_copied():
    written = json.loads(
        json.dumps({"$schema": D7, "properties": {"a": {"$ref": "#/definitions/b"}}, "definitions": {"b": {}}})
    )
    assert write_normal_form(written) is written
    assert write_normal_form({}) == {}
    assert draft_of(write_normal_form({"exclusiveMinimum": True, "minimum": 1})) == jsonschema_rs.Draft7
