"""Schemas compared whatever language they are written in."""

import pytest

from cdc_contracts.registry.authoring.compat.levels import Level, Policy
from cdc_contracts.registry.authoring.compat.version_comparison import compare_schemas
from cdc_contracts.registry.core.schema.schema_documents import read_schema

AS_JSON = read_schema('{"type": "string"}', type="JSON", name="v1")
AS_AVRO = read_schema('"string"', type="AVRO", name="v2")


@pytest.mark.parametrize(
    ("old", "new", "level", "policy", "directions"),
    [
        (AS_JSON, AS_AVRO, Level.BACKWARD, Policy.CONFLUENT_STRICT, ["backward"]),
        (AS_AVRO, AS_JSON, Level.FORWARD, Policy.CONFLUENT_LENIENT, ["forward"]),
        (AS_AVRO, AS_JSON, Level.NONE, Policy.CDC, ["backward", "forward"]),
    ],
)
def test_neither_of_two_languages_reads_the_other(old, new, level, policy, directions):
    verdict = compare_schemas([old], new, level=level, policy=policy)
    assert verdict.compatible is False
    assert [(one.rule, one.direction, one.old, one.new) for one in verdict.findings] == [
        ("C101", direction, old.type, new.type) for direction in directions
    ]


def test_only_a_transitive_level_looks_past_the_last_version():
    olds = [AS_JSON, AS_AVRO]
    assert compare_schemas(olds, AS_AVRO, level=Level.FULL, policy=Policy.CONFLUENT_STRICT).compatible is True
    assert (
        compare_schemas(olds, AS_AVRO, level=Level.FULL_TRANSITIVE, policy=Policy.CONFLUENT_STRICT).compatible is False
    )


def test_a_first_version_has_nothing_to_be_compared_with():
    assert compare_schemas([], AS_JSON, level=Level.FULL_TRANSITIVE, policy=Policy.CDC).compatible is True
