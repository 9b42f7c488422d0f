"""Schemas that mean harm: each is refused with one clear sentence or taken, within a second of a usual machine."""

import json
from pathlib import Path

import pytest
import yaml
from hostile_schemas import AVRO_SCHEMAS, JSON_SCHEMAS, LIMIT, fill
from stopwatch import measure

from cdc_contracts.registry.authoring.compat.levels import Level, Policy
from cdc_contracts.registry.authoring.compat.version_comparison import compare_schemas
from cdc_contracts.registry.core.common.errors import InvalidSchema, SchemaTooLarge
from cdc_contracts.registry.core.schema.schema_documents import SchemaLimits, read_schema

FILES = sorted((Path(__file__).parent / "hostile_schemas").glob("*.yaml"))
LARGE = [
    *(pytest.param("JSON", make, id=f"JSON {name}") for name, make in JSON_SCHEMAS.items()),
    *(pytest.param("AVRO", make, id=f"AVRO {name}") for name, make in AVRO_SCHEMAS.items()),
]
PART = 8
"""Tried at an eighth of the limit, so that it takes seconds; 1 tries the whole, in a minute."""
SECONDS = 4.0 / PART
"""At the whole limit a second is not needed; what takes as long for less of it takes more than its part."""


def refusal_of(kind, text):
    try:
        read_schema(text, type=kind, name="large")
    except InvalidSchema as refused:
        return str(refused)
    return ""


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_small_one_is_refused_as_its_file_says(path):
    for case in yaml.safe_load(path.read_text()):
        with pytest.raises(InvalidSchema) as refused:
            read_schema(case["text"], type=path.stem.partition("-")[0].upper(), name="s")
        assert str(refused.value).split("\n")[0] == case["says"]


@pytest.mark.one_in(8)
@pytest.mark.parametrize(("kind", "make"), LARGE)
def test_a_large_one_is_decided_in_its_part_of_a_second(kind, make):
    text = fill(make, LIMIT // PART)
    assert 0.7 * LIMIT < len(text) * PART < LIMIT
    said, taken = measure(lambda: refusal_of(kind, text))
    assert taken < SECONDS
    assert len(said) < 600, "one clear sentence"


def test_one_longer_than_the_limit_is_reported_apart():
    with pytest.raises(SchemaTooLarge, match="longer than 1,048,576 bytes"):
        read_schema(" " * LIMIT + "{}", type="JSON", name="s")
    with pytest.raises(SchemaTooLarge, match="longer than 10 bytes"):
        read_schema('{"a": "éé"}', type="JSON", name="s", limits=SchemaLimits(max_bytes=10))
    assert read_schema('{"title": "é"}', type="JSON", name="s", limits=SchemaLimits(max_bytes=15)).name == "s"


def test_a_reference_is_found_among_those_handed_in_and_nowhere_else():
    address = read_schema('{"$id": "http://a/address", "type": "object"}', type="JSON", name="address")
    text = '{"properties": {"to": {"$ref": "address.json#"}, "of": {"$ref": "http://a/address"}}}'
    assert read_schema(text, type="JSON", name="order", references={"address.json": address}).references
    with pytest.raises(InvalidSchema, match="points outside the schema: "):
        read_schema(text, type="JSON", name="order")


def test_an_avro_reference_defines_names_and_its_own_references_do():
    inner = read_schema('{"type": "fixed", "name": "a.K", "size": 2}', type="AVRO", name="k")
    outer = read_schema(
        '{"type": "record", "name": "a.R", "fields": [{"name": "k", "type": "a.K"}]}',
        type="AVRO", name="r", references={"a.K": inner},
    )  # fmt: skip
    whole = read_schema('{"type": "array", "items": "a.R"}', type="AVRO", name="s", references={"a.R": outer})
    assert str(whole.avro_types.items) == "record a.R"
    with pytest.raises(InvalidSchema, match=r"`a\.R` is not defined before this place"):
        read_schema('{"type": "array", "items": "a.R"}', type="AVRO", name="s")


@pytest.mark.nightly
def test_alternatives_that_multiply_are_compared_in_bounds_or_left_undecided():
    text = json.dumps({
        "allOf": [{"not": {"properties": {f"k{at}": {"type": "string"}}, "required": [f"k{at}", f"j{at}"]}} for at in range(24)]
    })  # fmt: skip
    old = read_schema(text, type="JSON", name="old")
    new = read_schema('{"type": "object"}', type="JSON", name="new")
    verdict, taken = measure(lambda: compare_schemas([old], new, level=Level.FORWARD, policy=Policy.CONFLUENT_STRICT))
    assert verdict.compatible is not True
    assert taken < 10


def test_definitions_too_deep_for_the_algebra_do_not_end_the_process():
    deep = read_schema(JSON_SCHEMAS["a chain through properties"](2_500), type="JSON", name="deep")
    anything = read_schema("true", type="JSON", name="any")
    verdict = compare_schemas([anything], deep, level=Level.BACKWARD, policy=Policy.CONFLUENT_STRICT)
    assert verdict.compatible is not True
