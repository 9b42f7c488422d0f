"""Pairs of schemas in files, `NAME.old.json` and `NAME.new.json`, with what is to be said of them beside."""

import json
from pathlib import Path

import jsonschema
import jsonschema_rs
import pytest

from cdc_contracts.registry.authoring.compat.compatibility_verdict import (
    READ_DIFFERENTLY,
    REFUSED_BY_NEW,
    REFUSED_BY_OLD,
)
from cdc_contracts.registry.authoring.compat.json_schema.difference_findings import REFUSED
from cdc_contracts.registry.authoring.compat.json_schema.json_rule import json_rules
from cdc_contracts.registry.authoring.compat.levels import Level, Policy
from cdc_contracts.registry.authoring.compat.version_comparison import compare_schemas
from cdc_contracts.registry.core.schema.schema_documents import JSON, SchemaDocument

PAIRS = Path(__file__).parent / "pairs"
NAMES = sorted(path.name.removesuffix(".expect.json") for path in PAIRS.glob("*.expect.json"))


def read(name, side):
    path = PAIRS / f"{name}.{side}.json"
    text = path.read_text(encoding="utf-8")
    return SchemaDocument(JSON, side, json.loads(text), text, path.name)


def expected(name):
    return json.loads((PAIRS / f"{name}.expect.json").read_text(encoding="utf-8"))


def validate(name, level, policy):
    return compare_schemas([read(name, "old")], read(name, "new"), level=level, policy=policy)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", NAMES)
def test_a_pair_is_judged_as_its_file_says_at_each_level_by_each_policy(name):
    verdicts = expected(name)["verdicts"]
    for policy in (Policy.CONFLUENT_STRICT, Policy.CONFLUENT_LENIENT):
        wanted = verdicts[policy]
        for level in (Level.BACKWARD, Level.BACKWARD_TRANSITIVE, Level.FORWARD, Level.FORWARD_TRANSITIVE):
            assert validate(name, level, policy).compatible is wanted[level.value.removesuffix("_TRANSITIVE")], level
        both = wanted["BACKWARD"] and wanted["FORWARD"]
        assert validate(name, Level.FULL, policy).compatible is both
        assert validate(name, Level.NONE, policy).compatible is True
    for level in (Level.NONE, Level.BACKWARD, Level.FORWARD, Level.FULL_TRANSITIVE):
        assert validate(name, level, Policy.CDC).compatible is verdicts["cdc"]


@pytest.mark.parametrize("name", NAMES)
def test_the_finding_names_the_rule_and_both_places(name):
    wanted = expected(name)
    findings = validate(name, Level(wanted["level"]), Policy(wanted["policy"])).findings
    about = (wanted["rule"], wanted["path"], wanted["direction"])
    found = [finding for finding in findings if (finding.rule, finding.path, finding.direction) == about]
    assert len(found) == 1, [(finding.rule, finding.path, finding.direction) for finding in findings]
    finding = found[0]
    assert (finding.confluent_rule, finding.old, finding.new) == (
        wanted["confluent_rule"], wanted["old"], wanted["new"],
    )  # fmt: skip
    for side in ("old", "new"):
        place = getattr(finding, f"{side}_place")
        line = wanted[f"{side}_line"]
        assert (place.line if place else None) == line
        if place and place.pointer:
            assert place.file == f"{name}.{side}.json"
            written = read(name, side).text.splitlines()[place.line - 1][place.column - 1 :]
            assert written.startswith(f'"{place.pointer.rsplit("/", 1)[-1]}"')
    assert (finding.proof.kind if finding.proof else None) == wanted["proof"]


@pytest.mark.parametrize("name", NAMES)
def test_each_proof_holds_before_the_validators_themselves(name):
    sides = {side: read(name, side).document for side in ("old", "new")}
    shown = 0
    for policy in Policy:
        for finding in validate(name, Level.FULL, policy).findings:
            if finding.proof is None:
                continue
            shown += 1
            accepts = {
                side: {
                    jsonschema.Draft202012Validator(schema).is_valid(finding.proof.message),
                    jsonschema_rs.Draft202012Validator(schema).is_valid(finding.proof.message),
                }
                for side, schema in sides.items()
            }
            assert (
                accepts
                == {
                    REFUSED_BY_NEW: {"old": {True}, "new": {False}},
                    REFUSED_BY_OLD: {"old": {False}, "new": {True}},
                    READ_DIFFERENTLY: {"old": {True}, "new": {True}},
                }[finding.proof.kind]
            )
    assert shown or name in {"not-decided", "no-message-shows-it"}


def test_every_rule_has_a_pair():
    reported = {expected(name)["rule"] for name in NAMES}
    assert {rule.id for rule in json_rules()} - reported == set()


def test_rules_have_ids_of_their_own():
    ids = [rule.id for rule in json_rules()]
    assert len(set(ids)) == len(ids)
    assert REFUSED.id in ids
