"""Guids are those that Confluent's registry gives: the MD5 of a schema's text and of what goes with it.

Texts and values are those of `schema-md5-golden-data.json` in the tests of its core.
"""

from __future__ import annotations

import hashlib
import json
import uuid

import patient
import pytest
from registry_servers import serving

from cdc_contracts.registry.authoring.sync.schema_guids import guid_of

SPACE = "io.confluent.kafka.example"
FIELDS = {"name": "string", "age": "int", "ssn": "string", "user": f"{SPACE}.User", "address": f"{SPACE}.Address"}
AVRO = json.dumps(
    {
        "type": "record", "name": "Person", "namespace": SPACE,
        "fields": [{"name": name, "type": kind} for name, kind in FIELDS.items()],
    },
    separators=(",", ":"),
)  # fmt: skip
JSON = """{
  "$schema": "http://json-schema.org/draft-07/schema#",
  "type": "object",
  "title": "Person",
  "properties": {
    "name": {
      "type": "string"
    },
    "age": {
      "type": "integer",
      "minimum": 0
    },
    "ssn": {
      "type": "string",
      "pattern": "^[0-9]{3}-[0-9]{2}-[0-9]{4}$"
    },
    "user": {
      "$ref": "#/definitions/User"
    },
    "address": {
      "$ref": "#/definitions/Address"
    }
  },
  "required": ["name", "age"],
  "definitions": {
    "User": {
      "type": "object",
      "properties": {
        "id": {"type": "string"},
        "email": {"type": "string", "format": "email"}
      }
    },
    "Address": {
      "type": "object",
      "properties": {
        "street": {"type": "string"},
        "city": {"type": "string"},
        "zip": {"type": "string"}
      }
    }
  }
}"""
REFERENCES = ((f"{SPACE}.User", "User", 1), (f"{SPACE}.Address", "Address", 2))
METADATA = {
    "tags": {"team": ["data-engineering"], "environment": ["staging", "production"]},
    "properties": {"owner": "data-team", "version": "1.0.0", "description": "Person schema for user management"},
    "sensitive": ["ssn", "credit-card"],
}


def rule(name, doc, kind, mode, named, field, expr):
    return {
        "name": name, "doc": doc, "kind": kind, "mode": mode, "type": named, "tags": ["PERSON"],
        "params": {"field": field}, "expr": expr, "onSuccess": "none", "onFailure": "error", "disabled": False,
    }  # fmt: skip


RULES = {
    "domainRules": [
        rule("validation-rule-1", "Validate age field", "CONDITION", "WRITE", "FIELD_VALIDATION", "age",
             "field.age >= 0 && field.age <= 150"),
        rule("masking-rule-1", "Mask sensitive data on read", "TRANSFORM", "READ", "DATA_MASKING", "ssn",
             "field.ssn = '***-**-****'"),
    ],
    "migrationRules": [
        rule("upgrade-rule-1", "Upgrade rule for field changes", "TRANSFORM", "UPGRADE", "FIELD_UPDATE", "name",
             "field.name = field.name.toUpperCase()"),
        rule("downgrade-rule-1", "Downgrade rule for compatibility", "TRANSFORM", "DOWNGRADE", "FIELD_DELETE", "ssn",
             "delete field.ssn"),
    ],
}  # fmt: skip
GOLDEN = {
    AVRO: (
        "d629bb05-ad85-3d20-fbcb-895de3c459f7", "c0708b8f-65f6-b698-bffe-45c1dfa8987c",
        "2034166c-90a8-1166-0ff2-f5f62c80dbe0", "d9877161-cfdf-d8c5-4eb4-ab37ed50e9d5",
        "5c08d70e-5347-41b2-6369-199425d044eb", "96825311-eb10-b7f5-48be-2a023b4c018e",
        "3619d8e0-2ee8-de51-0d9e-2520d39174d5", "589556fb-ad98-e8e0-94fa-e6da3455433a",
    ),
    JSON: (
        "8d9ce1c2-8624-0d98-53ec-66d14051c703", "b1dd5216-670b-476a-bba4-2763ff8720d6",
        "c1410156-b1ec-346c-3b3b-e8ef9df4fd20", "4f438fbe-c518-fea5-e433-82bd8c77e72f",
        "ee6044f3-6476-c191-e6b6-e3eceeea87d6", "0476399c-ee06-5d92-14fd-f3afe300b400",
        "916dad4b-fef3-50ed-25ab-de84bd91c74a", "fbab57e1-71f5-063c-288a-03fbfb24c505",
    ),
}  # fmt: skip
"""The guids of a text alone, and with rules (1), metadata (2) and references (4), as these add up."""


@pytest.mark.parametrize("which", range(8))
@pytest.mark.parametrize("text", GOLDEN, ids=["AVRO", "JSON"])
def test_a_guid_is_that_of_the_golden_file(text, which):
    references = REFERENCES if which & 4 else ()
    assert (
        guid_of(text, references, METADATA if which & 2 else None, RULES if which & 1 else None)
        == (GOLDEN[text][which])
    )


def test_a_server_gives_these_guids_and_finds_schemas_by_them(store_url):
    """With the text as it is kept: without layout, and in Avro with names as Java writes them."""
    kept = {"AVRO": AVRO.replace(f"{SPACE}.", ""), "JSON": json.dumps(json.loads(JSON), separators=(",", ":"))}
    with serving(store_url) as address, patient.Client(base_url=address) as client:
        client.headers["Confluent-Accept-Unknown-Properties"] = "true"
        for name, fields in (("User", []), ("Address", [{"name": "zip", "type": "string"}]), ("Address", [])):
            record = json.dumps({"type": "record", "name": name, "namespace": SPACE, "fields": fields})
            client.post(f"/subjects/{name}/versions", json={"schema": record}).raise_for_status()
        wish = {
            "references": [dict(zip(("name", "subject", "version"), one, strict=True)) for one in REFERENCES],
            "metadata": METADATA,
            "ruleSet": RULES,
        }
        reported = client.post("/subjects/AVRO/versions", json={"schema": AVRO, **wish})
        guid = reported.raise_for_status().json()["guid"]
        assert guid == guid_of(kept["AVRO"], REFERENCES, METADATA, RULES)
        found = client.get(f"/schemas/guids/{guid}").json()
        assert (found["schema"], found["references"]) == (kept["AVRO"], wish["references"])
        del wish["references"]
        reported = client.post("/subjects/JSON/versions", json={"schema": JSON, "schemaType": "JSON", **wish})
        assert reported.raise_for_status().json()["guid"] == guid_of(kept["JSON"], (), METADATA, RULES)
        alone = client.post("/subjects/alone/versions", json={"schema": '{"type": "string"}'}).json()["guid"]
        assert alone == str(uuid.UUID(hashlib.md5(b'"string"', usedforsecurity=False).hexdigest()))
