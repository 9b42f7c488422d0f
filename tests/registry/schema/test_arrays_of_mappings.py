"""A mapping may name the form of arrays, or forms under options, that it lists no types under."""

import json
import shutil
from pathlib import Path

import jsonschema
import pytest
from topics import CATALOGUE

from cdc_contracts.registry.core.contract.catalogue import Catalogue
from cdc_contracts.registry.core.schema.message_schemas.message_avro_schema import avro_message_schema
from cdc_contracts.registry.core.schema.message_schemas.message_json_schema import message_schema

REFERENCE = "debezium/json-schema@1"
MAPPING = """
mapping: debezium-connect
names: [drop-parameters]
forms:
  integer-number: [int64, int32, int16, int8]
  text: [string]
arrays: json-value
options:
  decimal.format:
    BASE64: {base64: [bytes]}
    NUMERIC: {decimal-number: [bytes]}
"""


@pytest.fixture(scope="module")
def version(tmp_path_factory):
    root = tmp_path_factory.mktemp("contracts")
    shipped = Path(str(CATALOGUE.version(REFERENCE).folder)).parents[2]
    shutil.copytree(shipped / "debezium", root / "debezium")
    for name in ("documents.yaml", "errata.yaml"):
        shutil.copy(shipped / name, root)
    (root / "debezium" / "types" / "debezium-connect.yaml").write_text(MAPPING)
    return Catalogue([root]).version(REFERENCE)


def message(columns):
    """A message whose row has some columns, each with its type in the block and its value."""
    sample = Path(str(CATALOGUE.version(REFERENCE).folder), "samples", "insert.json")
    found = json.loads(sample.read_text(encoding="utf-8"))
    fields = [{**schema, "optional": True, "field": name} for name, (schema, _) in columns.items()]
    for place in (0, 1):
        found["schema"]["fields"][place]["fields"] = fields
    found["payload"]["after"] = {name: value for name, (_, value) in columns.items()}
    return found


@pytest.mark.parametrize(
    ("columns", "fits"),
    [
        ({"id": ({"type": "int32"}, 1)}, True),
        ({"id": ({"type": "int32"}, "x")}, False),
        ({"tags": ({"type": "array", "items": {"type": "string"}}, ["a", "b"])}, True),
        ({"id": ({"type": "int32"}, 1), "tags": ({"type": "array", "items": {"type": "string"}}, ["a"])}, True),
    ],
)
def test_a_message_schema_takes_arrays_whose_form_has_no_types_of_its_own(version, columns, fits):
    schema = message_schema(version)

    assert jsonschema.Draft202012Validator(schema).is_valid(message(columns)) == fits
    assert avro_message_schema(version)
