"""Every member of the envelope says what it holds, with its unit, and shows a value that its own schema takes."""

from __future__ import annotations

import json

import jsonschema
import pytest
from both_paths import CATALOGUE
from registry_tables import ORDERS_TABLE

from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.schema.message_schemas.bound_schema import bound_schema
from cdc_contracts.registry.core.schema.message_schemas.message_examples import with_member_examples

EVERY = [*CATALOGUE.all_versions(), CATALOGUE.canonical]
CONDITIONS = {"allOf", "anyOf", "oneOf", "if", "then", "else", "not"}
"""Keywords that ask something of members which are described elsewhere."""
UNITS = {
    "epoch-millis": "milliseconds since 1970 UTC", "epoch-millis-list-last": "milliseconds since 1970 UTC",
    "epoch-micros": "microseconds since 1970 UTC", "epoch-seconds": "seconds since 1970 UTC", "epoch-seconds-text": "seconds since 1970 UTC",
}  # fmt: skip


def of_version(version):
    return json.loads(version.folder.joinpath("message.schema.json").read_text(encoding="utf-8"))


def members(whole, schema, path="", inside=()):
    """Yield each member with its place and its schema, those of definitions at each place that refers to them."""
    named = schema.get("$ref", "").removeprefix("#/$defs/")
    if named and named not in inside:
        yield from members(whole, whole["$defs"][named], path, (*inside, named))
    for name, below in schema.get("properties", {}).items():
        yield f"{path}/{name}", below
        yield from members(whole, below, f"{path}/{name}", inside)
    for keyword, step in (("items", "0"), ("additionalProperties", "*")):
        if isinstance(schema.get(keyword), dict):
            yield from members(whole, schema[keyword], f"{path}/{step}", inside)


def described(whole, schema):
    named = schema.get("$ref", "").removeprefix("#/$defs/")
    return schema.get("description") or (whole["$defs"][named].get("description") if named else None)


def faults(whole):
    """Yield the members without a description, without an example, or with one that their schema refuses."""
    for path, schema in members(whole, whole):
        if not described(whole, schema):
            yield path, "no description"
        if not schema.get("examples"):
            yield path, "no example"
        validator = jsonschema.Draft202012Validator({**schema, "$defs": whole.get("$defs", {})})
        for example in schema.get("examples", ()):
            if not validator.is_valid(example):
                yield path, f"{example} is refused"


@pytest.mark.parametrize("version", EVERY, ids=str)
def test_every_member_has_a_description_and_an_example_that_its_schema_takes(version):
    whole = of_version(version)
    assert list(members(whole, whole))
    assert list(faults(whole)) == []


@pytest.mark.parametrize("version", EVERY[:-1], ids=str)
def test_a_time_says_its_unit(version):
    whole = of_version(version)
    said = {path: described(whole, schema) for path, schema in members(whole, whole)}
    for place in version.meaning.envelope.times:
        if place.at is not None and place.form in UNITS:
            assert UNITS[place.form] in said[place.at], place.at


def test_an_example_is_what_a_message_holds_there():
    whole = of_version(CATALOGUE.version("dts/canal@2"))
    shown = {name: below["examples"] for name, below in whole["properties"].items()}
    assert shown["type"] == ["INSERT"]  # the first operation of the examples
    assert shown["es"] == [1718000000000]
    assert shown["pkNames"] == [["id"]]
    assert shown["mysqlType"] == [{"id": "BIGINT", "name": "VARCHAR", "qty": "INT"}]
    assert all(any(message.get(name) == one for message in whole["examples"]) for name, (one,) in shown.items())


def test_members_that_messages_leave_empty_keep_the_example_that_the_envelope_gives():
    reported = with_member_examples(
        {
            "properties": {
                "sql": {"type": "string", "examples": ["DROP TABLE t"]},
                "note": {"type": "string"},
                "rows": {"items": {"$ref": "#/$defs/row"}},
                "tags": {"additionalProperties": {"properties": {"kind": {}}}},
                "none": {},
            },
            "$defs": {"row": {"properties": {"id": {}, "rows": {"items": {"$ref": "#/$defs/row"}}}}},
        },
        [
            {"sql": "", "note": "", "rows": [], "none": None},
            {"sql": "", "rows": [{"id": 0, "rows": [{"id": 2}]}], "tags": {"a": {"kind": "k"}}},
        ],
    )
    below = reported["properties"]
    assert below["sql"]["examples"] == ["DROP TABLE t"]
    assert below["note"]["examples"] == [""]  # no message says more
    assert below["rows"]["examples"] == [[{"id": 0, "rows": [{"id": 2}]}]]
    assert reported["$defs"]["row"]["properties"]["id"]["examples"] == [0]
    assert below["tags"]["additionalProperties"]["properties"]["kind"]["examples"] == ["k"]
    assert below["none"] == {}


def test_examples_of_a_bound_schema_are_of_its_table():
    version = CATALOGUE.version("dts/canal@2")
    whole = bound_schema(version, ORDERS_TABLE, ReadingOptions())
    assert list(faults(whole)) == []
    assert whole["properties"]["table"]["examples"] == [ORDERS_TABLE.table.rpartition(".")[2]]
    (row,) = whole["properties"]["data"]["examples"][0]
    assert row.keys() == ORDERS_TABLE.types.keys()


def test_a_condition_is_no_place_for_examples():
    for version in EVERY:
        for name, below in of_version(version).get("$defs", {}).items():
            if CONDITIONS & below.keys() and name in ("op-codes", "images-by-op", "ddl-flag", "column-counts"):
                assert '"examples"' not in json.dumps(below)
