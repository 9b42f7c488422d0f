"""A schema that refers to another is validated as one that has all of it in place."""

import json

import pytest

from cdc_contracts.registry.authoring.compat.levels import Level, Policy
from cdc_contracts.registry.authoring.compat.version_comparison import compare_schemas
from cdc_contracts.registry.core.schema.schema_documents import JSON, read_schema
from cdc_contracts.registry.server.store.bundling import bundle

NARROW = {"type": "object", "properties": {"x": {"type": "string"}}, "additionalProperties": False}
WIDE = {**NARROW, "properties": {"x": {"type": "string"}, "y": {"type": "integer"}}}
OTHER = {**NARROW, "properties": {"x": {"type": "integer"}}}


def holding(row, address=None):
    """A schema whose member `a` is a row: in place, or at an address that is handed in with it."""
    referred = {} if address is None else {address: read_schema(json.dumps(row), type=JSON, name="row")}
    member = row if address is None else {"$ref": address}
    text = json.dumps({"type": "object", "properties": {"a": member}})
    return bundle(read_schema(text, type=JSON, name="x", references=referred))


def test_a_value_that_looks_like_a_schema_with_an_address_is_a_value():
    def text(row):
        example = {"$id": "urn:x", "id": "7"}
        return json.dumps({
            "$ref": "#/$defs/row", "$defs": {"row": {**row, "examples": [example], "default": example}}, "type": "object",
            "$schema": "https://json-schema.org/draft/2020-12/schema",
        })  # fmt: skip

    old, new = (read_schema(text(row), type=JSON, name="x") for row in (WIDE, NARROW))
    reported = compare_schemas([old], new, level=Level.BACKWARD, policy=Policy.CONFLUENT_STRICT)
    assert [(one.rule, one.severity) for one in reported.findings] == [("C106", "breaking")]


@pytest.mark.parametrize("policy", Policy)
@pytest.mark.parametrize("rows", [(WIDE, NARROW), (NARROW, WIDE), (NARROW, OTHER)], ids=["less", "more", "other"])
@pytest.mark.parametrize("address", ["row.json", "https://example.org/a/row.json?x=%41", "r%C3%B3w~1.json", "urn:a:b"])
def test_where_a_part_of_a_schema_stands_decides_nothing(policy, rows, address):
    there, in_place = (
        compare_schemas([holding(rows[0], at)], holding(rows[1], at), level=Level.FULL, policy=policy)
        for at in (address, None)
    )
    assert there.compatible is in_place.compatible is not None
    assert sorted((one.rule, one.severity, one.direction) for one in there.findings) == sorted(
        (one.rule, one.severity, one.direction) for one in in_place.findings
    )
