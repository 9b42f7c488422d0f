"""What is called compatible is held against a public test suite of JSON Schema: no datum of it may show otherwise.

The suite is the one that the source distribution of `jsonschema` carries. It is fetched once; a directory that has it
is named by `JSON_SCHEMA_TEST_SUITE`. `CDC_ALL_PAIRS=1` compares all pairs of schemas of each file, in every draft.
"""

import importlib.metadata
import json
import os
import subprocess
import sys
import tarfile
from itertools import permutations
from pathlib import Path

import jsonschema_rs
import pytest

from cdc_contracts.registry.authoring.compat.compatibility_rule import NOTE
from cdc_contracts.registry.authoring.compat.json_schema.bundled_schemas import BundledSchema
from cdc_contracts.registry.authoring.compat.json_schema.closing import close_schema
from cdc_contracts.registry.authoring.compat.json_schema.opening import open_both_ways
from cdc_contracts.registry.authoring.compat.levels import Level, Policy
from cdc_contracts.registry.authoring.compat.version_comparison import compare_schemas
from cdc_contracts.registry.core.common.errors import InvalidSchema
from cdc_contracts.registry.core.schema.json_schemas.schema_checks import VALIDATORS
from cdc_contracts.registry.core.schema.json_schemas.schema_drafts import draft_of
from cdc_contracts.registry.core.schema.schema_documents import JSON, SchemaDocument

ALL = bool(os.environ.get("CDC_ALL_PAIRS"))
EVERY = 1 if ALL else 41
"""In the short run, every 41st pair of each file is compared: a fixed choice that meets every file."""
NAMES = {
    "draft4": "http://json-schema.org/draft-04/schema#",
    "draft6": "http://json-schema.org/draft-06/schema#",
    "draft7": "http://json-schema.org/draft-07/schema#",
    "draft2019-09": "https://json-schema.org/draft/2019-09/schema",
    "draft2020-12": "https://json-schema.org/draft/2020-12/schema",
}
DRAFTS = list(NAMES) if ALL else ["draft7", "draft2020-12"]


@pytest.fixture(scope="module")
def suite():
    named = os.environ.get("JSON_SCHEMA_TEST_SUITE")
    if named:
        return Path(named)
    version = importlib.metadata.version("jsonschema")
    kept = Path.home() / ".cache" / "cdc-contracts" / f"jsonschema-{version}"
    if not (kept / "json" / "tests").is_dir():
        kept.parent.mkdir(parents=True, exist_ok=True)
        # Not `:all:`, which would compile what the package is built with as well, for most of a minute.
        command = ["download", "-q", "--no-deps", "--no-binary", "jsonschema", "-d", str(kept.parent)]
        fetched = subprocess.run(
            [sys.executable, "-m", "pip", *command, f"jsonschema=={version}"], capture_output=True, check=False
        )
        if fetched.returncode:
            pytest.skip("the source distribution of jsonschema, which carries the suite, cannot be fetched")
        with tarfile.open(kept.parent / f"jsonschema-{version}.tar.gz") as packed:
            packed.extractall(kept.parent, filter="data")
    return kept / "json" / "tests"


def files_of(suite, draft):
    for path in sorted((suite / draft).glob("*.json")):
        cases = json.loads(path.read_text(encoding="utf-8"))
        schemas = []
        for case in cases:
            schema = case["schema"]
            schema = {**schema, "$schema": NAMES[draft]} if isinstance(schema, dict) else schema
            try:
                VALIDATORS[draft_of({"$schema": NAMES[draft]})](schema, offline=True, validate_formats=False)
            except (ValueError, jsonschema_rs.ReferencingError):
                continue  # refers to documents of a server that the suite runs
            if isinstance(schema, dict):
                schemas.append(schema)
        data = [test["data"] for case in cases for test in case["tests"]]
        yield path.name, schemas, data


def accepted(schema, data):
    validate = VALIDATORS[draft_of(schema)](schema, offline=True, validate_formats=False)
    return {number for number, datum in enumerate(data) if validate.is_valid(datum)}


def document(schema, name):
    return SchemaDocument(JSON, name, schema, json.dumps(schema))


@pytest.mark.parametrize("draft", DRAFTS)
def test_no_datum_of_the_suite_refutes_what_is_called_compatible(suite, draft, record_property):
    pairs = refuted = called = 0
    told = []
    for name, schemas, data in files_of(suite, draft):
        takes = [accepted(schema, data) for schema in schemas]
        sent = [
            accepted(close_schema(BundledSchema(schema)).value, data) & takes[at] for at, schema in enumerate(schemas)
        ]
        read = [accepted(open_both_ways(BundledSchema(schema))[0].value, data) for schema in schemas]
        for old, new in list(permutations(range(len(schemas)), 2))[::EVERY]:
            pairs += 1
            for policy in Policy:
                verdict = validate(schemas[old], schemas[new], Level.BACKWARD, policy)
                if verdict is None or verdict.compatible is not True:
                    continue
                called += 1
                tolerated = any(finding.severity == NOTE for finding in verdict.findings)
                if policy is Policy.CDC:
                    lost = (sent[old] - read[new]) | (sent[new] - read[old])
                else:
                    lost = set() if tolerated else takes[old] - takes[new]
                if lost:
                    refuted += 1
                    told.append((name, policy, schemas[old], schemas[new], data[min(lost)]))
    record_property("pairs", f"{draft}: {pairs} pairs, {called} verdicts of compatible, {refuted} refuted")
    assert pairs > 50
    assert called > 5
    assert told[:3] == []


@pytest.mark.parametrize("policy", [Policy.CONFLUENT_STRICT, Policy.CONFLUENT_LENIENT])
def test_the_other_levels_follow_from_both_directions(suite, policy):
    compared = 0
    for _, schemas, _ in files_of(suite, "draft2020-12"):
        for old, new in list(permutations(schemas, 2))[:: 1 if ALL else 701]:
            backward = validate(old, new, Level.BACKWARD, policy)
            forward = validate(old, new, Level.FORWARD, policy)
            full = validate(old, new, Level.FULL, policy)
            if backward is None or forward is None or full is None:
                continue
            compared += 1
            assert forward.compatible == validate(new, old, Level.BACKWARD, policy).compatible
            both = {backward.compatible, forward.compatible}
            assert full.compatible is (False if False in both else None if None in both else True)
    assert compared > 5


def validate(old, new, level, policy):
    try:
        return compare_schemas([document(old, "old")], document(new, "new"), level=level, policy=policy)
    except InvalidSchema:
        return None
