"""Verdicts about Avro against those who read: Apache's checker on the same pairs, and fastavro on real data."""

import io
import json
from itertools import product

import avro.compatibility
import avro.errors
import avro.io
import avro.schema
import fastavro
import pytest
from avro_pairs import data, pairs
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from cdc_contracts.registry.authoring.compat.avro.avro_comparison import compare_avro
from cdc_contracts.registry.authoring.compat.levels import Level, Policy
from cdc_contracts.registry.core.common.errors import InvalidSchema
from cdc_contracts.registry.core.schema.schema_documents import read_schema

BYTES_AND_TEXT = "C213"
SMALL = [
    "null", "int", "string", [], ["null"], ["null", "int"], {"type": "array", "items": []}, {"type": "map", "values": []},
    {"type": "array", "items": "int"}, {"type": "map", "values": "null"},
    *({"type": "record", "name": "R", "fields": [{"name": "a", "type": kind}]} for kind in ([], "int", ["null"])),
    {"type": "record", "name": "R", "fields": [{"name": "a", "type": []}, {"name": "b", "type": "int"}]},
]  # fmt: skip


def backward(writer, reader):
    try:
        sides = [read_schema(json.dumps(one), type="AVRO", name="one") for one in (writer, reader)]
    except InvalidSchema:
        assume(condition=False)
    return compare_avro(*sides, level=Level.BACKWARD, policy=Policy.CONFLUENT_STRICT)


@settings(max_examples=150)
@given(pairs())
def test_what_apaches_checker_says_is_said_here(pair):
    writer, reader = pair
    found = backward(writer, reader)
    try:
        schemas = [avro.schema.parse(json.dumps(one)) for one in (reader, writer)]
    except avro.errors.AvroException:
        assume(condition=False)
    checker = avro.compatibility.ReaderWriterCompatibilityChecker()
    verdict = checker.get_compatibility(*schemas).compatibility
    ours = not any(finding.severity == "breaking" for finding in found)
    assert ours == (verdict is avro.compatibility.SchemaCompatibilityType.compatible)


@settings(max_examples=150)
@given(pairs(), st.data())
def test_what_is_said_to_be_read_is_read(pair, source):
    writer, reader = pair
    found = backward(writer, reader)
    assume(not any(finding.severity == "breaking" for finding in found))
    named = {}
    written = fastavro.parse_schema(writer, named)
    datum = data(source.draw, written, named)
    message = io.BytesIO()
    fastavro.schemaless_writer(message, written, datum)
    message.seek(0)
    try:
        fastavro.schemaless_reader(message, written, fastavro.parse_schema(reader))
    except UnicodeDecodeError:
        assert BYTES_AND_TEXT in {finding.rule for finding in found}


@settings(max_examples=150)
@given(pairs())
def test_every_refusal_has_a_message_that_is_refused(pair):
    for finding in backward(*pair):
        if finding.severity == "breaking":
            assert finding.proof is not None, finding.says


@pytest.mark.parametrize(("writer", "reader"), list(product(SMALL, repeat=2)), ids=json.dumps)
def test_a_union_of_nothing_is_judged_as_apaches_checker_judges_it(writer, reader):
    schemas = [avro.schema.parse(json.dumps(one)) for one in (reader, writer)]
    verdict = avro.compatibility.ReaderWriterCompatibilityChecker().get_compatibility(*schemas).compatibility
    breaking = [one for one in backward(writer, reader) if one.severity == "breaking"]
    assert bool(breaking) is (verdict is avro.compatibility.SchemaCompatibilityType.incompatible)
