"""The server does what its OpenAPI document says, whatever it is asked: no 500, no undocumented answer.

`REGISTRY_EXAMPLES=200` asks for longer than the default.
"""

import os

import patient
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from registry_sites import serving_site

EXAMPLES = int(os.environ.get("REGISTRY_EXAMPLES", "1"))
SUBJECTS = [
    "orders-value", ":.team:orders", ":.cdc-contracts:dts.canal", ":.team:", ":.:x", "a/b", "%", "::", ":.", "x" * 600,
    "\u202e", "'; drop table subjects; --",
]  # fmt: skip
REFERENCES = ["dts/canal@1", "dts/canal@2", "oms-community/canal@1", "dts/avro@latest", "drs/json", "x", "", "@"]
SCHEMAS = [
    '"int"', '"long"', "true", "{}", "[]", "null", "", "{", "[" * 100_000, '"\\ud800"',
    '{"type": "object", "properties": {"a": {"type": "integer"}}}', '{"items": {"$ref": "#"}}',
    '{"$ref": "http://127.0.0.1:9/x"}', '{"$ref": "file:///etc/passwd"}', '{"pattern": "(a+)+$"}',
    '{"type": "record", "name": "a", "fields": [{"name": "x", "type": "a"}]}', '{"minimum": 1e999}',
    '{"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"}',
    '{"type": "fixed", "name": "f", "size": 99999999999}',
]  # fmt: skip
KNOWN = st.fixed_dictionaries({
    "subject": st.sampled_from(SUBJECTS), "version": st.sampled_from(["1", "latest", "-1", "0", "9"]),
    "id": st.sampled_from([0, 1, 2]), "old": st.sampled_from(REFERENCES), "new": st.sampled_from(REFERENCES),
    "schema": st.sampled_from(SCHEMAS), "schemaType": st.sampled_from(["JSON", "AVRO"]), "known": st.booleans(),
})  # fmt: skip


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    with serving_site(f"sqlite:///{tmp_path_factory.mktemp('registry')}/registry.db") as served:
        for subject, text in (("orders-value", '{"type": "object"}'), (":.team:orders", '{"required": ["a"]}')):
            body = {"schema": text, "schemaType": "JSON"}
            assert patient.post(f"{served}/subjects/{subject}/versions", json=body).status_code == 200
        yield served


def put_in(case, known):
    """Let a case that was made up be about things that are there, where it has places for them."""
    for places in (case.path_parameters, case.query):
        for name in ("subject", "version", "id", "old", "new"):
            if isinstance(places, dict) and name in places:
                places[name] = known[name]
    if isinstance(case.body, dict) and "/versions" in case.path:
        case.body = {"schema": known["schema"], "schemaType": known["schemaType"]}


def test_every_operation_answers_as_it_is_described(address):
    import schemathesis
    from schemathesis import GenerationMode
    from schemathesis.checks import not_a_server_error
    from schemathesis.specs.openapi import checks

    reported = [
        not_a_server_error, checks.status_code_conformance, checks.content_type_conformance,
        checks.response_schema_conformance,
    ]  # fmt: skip
    quiet = settings(
        max_examples=EXAMPLES, deadline=None, derandomize=True, database=None, phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    asked = 0

    def try_out(cases):
        @quiet
        @given(case=cases, known=KNOWN)
        def ask(case, known):
            nonlocal asked
            asked += 1
            if known["known"]:
                put_in(case, known)
            case.validate_response(case.call(timeout=patient.SECONDS), checks=reported)

        ask()

    described = schemathesis.openapi.from_url(f"{address}/openapi.json")
    for found in described.get_all_operations():
        operation = found.ok()
        try_out(operation.as_strategy(generation_mode=GenerationMode.POSITIVE))
        if operation.body:
            try_out(operation.as_strategy(generation_mode=GenerationMode.NEGATIVE))
    assert asked > 40 * EXAMPLES


def test_the_document_names_errors_bodies_and_media_types(address):
    document = patient.get(f"{address}/openapi.json").json()
    register = document["paths"]["/subjects/{subject}/versions"]["post"]
    types = ["application/vnd.schemaregistry.v1+json", "application/vnd.schemaregistry+json", "application/json"]
    assert list(register["requestBody"]["content"]) == types
    assert set(register["responses"]) == {
        "200",
        "400",
        "401",
        "403",
        "404",
        "406",
        "409",
        "413",
        "415",
        "422",
        "429",
        "500",
    }
    for status, answer in register["responses"].items():
        assert list(answer["content"]) == types
        named = "RegisterResponse" if status == "200" else "ErrorMessage"
        assert answer["content"][types[0]]["schema"]["$ref"].endswith(f"/{named}")
    assert set(document["components"]["securitySchemes"]) == {"basic", "bearer"}
    assert not any("ValidationError" in name for name in document["components"]["schemas"])
    assert not any(path.startswith("/ui") for path in document["paths"])
