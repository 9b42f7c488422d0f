"""How long comparisons may take: about four times what they take now, in seconds of a usual machine."""

import json
from functools import partial

import pytest
from stopwatch import measure

from cdc_contracts.registry.authoring.compat.levels import Level, Policy
from cdc_contracts.registry.authoring.compat.version_comparison import compare_schemas
from cdc_contracts.registry.core.schema.schema_documents import JSON, SchemaDocument

DRAFT = "https://json-schema.org/draft/2020-12/schema"


def compare(old, new, policy):
    """Return the verdict and the seconds of a usual machine that the better of two runs took."""
    times = []
    for _ in range(2):
        sides = [
            SchemaDocument(JSON, name, schema, json.dumps(schema)) for name, schema in (("old", old), ("new", new))
        ]
        verdict, taken = measure(partial(compare_schemas, sides[:1], sides[1], level=Level.BACKWARD, policy=policy))
        times.append(taken)
    return verdict, min(times)


def nullable(count, **others):
    members = {f"p{number}": {"type": ["string", "null"]} for number in range(count)}
    return {"$schema": DRAFT, "type": "object", "properties": {**members, **others}}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("policy", list(Policy))
@pytest.mark.parametrize(("count", "seconds"), [(1_000, 0.08), (10_000, 0.8)])
def test_many_nullable_members_are_compared_at_once(policy, count, seconds):
    verdict, taken = compare(nullable(count), nullable(count, p5={"type": "string"}), policy)
    assert verdict.compatible is False
    assert verdict.findings[0].proof.message == {"p5": None}
    assert taken < seconds


def test_two_thousand_changes_at_once_are_reported():
    wide = {"$schema": DRAFT, "type": "object", "properties": {f"p{n}": {"type": "boolean"} for n in range(2_000)}}
    verdict, taken = compare(nullable(2_000), wide, Policy.CDC)
    assert verdict.compatible is False
    assert {finding.path for finding in verdict.findings} >= {f"/properties/p{n}/type" for n in range(2_000)}
    assert taken < 2


@pytest.mark.one_in(2)
def test_a_wide_table_of_which_every_column_is_required_is_compared_at_once():
    """A message that shows a change has to hold all the other members; a validator names each that is missing."""

    def table(kind, **more):
        return {"$schema": DRAFT, "type": "object", "properties": {name: {"type": kind} for name in names}, **more}

    names = [f"p{n}" for n in range(500)]
    required = table("string", required=names)
    for old, new, members in ((table("string"), required, 1), (required, table("integer", required=names), 500)):
        verdict, taken = compare(old, new, Policy.CDC)
        assert len(verdict.findings) >= len(names)
        assert len(verdict.findings[0].proof.message) == members
        assert taken < 3


def test_a_schema_that_refers_to_itself_is_decided():
    tree = {"$schema": DRAFT, "type": "array", "items": {"$ref": "#"}}
    verdict, taken = compare(tree, {**tree, "title": "a tree"}, Policy.CDC)
    assert (verdict.compatible, verdict.findings) == (True, ())
    shallow, seconds = compare(tree, {**tree, "maxItems": 2}, Policy.CONFLUENT_STRICT)
    assert shallow.findings[0].confluent_rule == "MAX_ITEMS_ADDED"
    assert shallow.findings[0].proof.message == [[], [], []]
    assert max(taken, seconds) < 0.5


def test_schemas_that_refer_to_each_other_are_decided():
    def pair(kind):
        here = {"type": "object", "properties": {"there": {"$ref": "#/$defs/there"}}}
        there = {"type": "object", "properties": {"here": {"$ref": "#/$defs/here"}, "name": {"type": kind}}}
        return {"$schema": DRAFT, "$ref": "#/$defs/here", "$defs": {"here": here, "there": there}}

    verdict, taken = compare(pair(["string", "null"]), pair("string"), Policy.CDC)
    assert verdict.compatible is False
    assert verdict.findings[0].proof.message == {"there": {"name": None}}
    again, seconds = compare(pair("string"), pair(["string", "null"]), Policy.CONFLUENT_STRICT)
    assert again.compatible is True
    assert max(taken, seconds) < 0.5


@pytest.mark.nightly
@pytest.mark.parametrize("count", [10, 40, 120])
def test_many_alternatives_are_distinguished_or_left_undecided(count):
    def union(kind):
        members = [{"type": "object", "properties": {f"k{n}": {"type": kind}}} for n in range(count)]
        return {"$schema": DRAFT, "oneOf": members}

    verdict, taken = compare(union(["integer", "null"]), union("integer"), Policy.CDC)
    assert verdict.compatible is not True
    assert taken < 3


def test_a_deep_nest_is_decided():
    def nest(kind):
        inner = {"type": kind}
        for _ in range(110):
            inner = {"type": "object", "properties": {"a": inner}}
        return {"$schema": DRAFT, **inner}

    verdict, taken = compare(nest(["string", "null"]), nest("string"), Policy.CDC)
    assert verdict.compatible is False
    assert taken < 0.3


@pytest.mark.nightly
def test_alternatives_inside_alternatives_end():
    def nest(kind):
        inner = {"type": kind}
        for _ in range(8):
            inner = {"oneOf": [{"type": "array", "items": inner}, {"type": "object", "properties": {"a": inner}}]}
        return {"$schema": DRAFT, **inner}

    verdict, taken = compare(nest(["string", "null"]), nest("string"), Policy.CDC)
    assert verdict.compatible is not True
    assert taken < 2
