"""The differences of two contracts in terms of contracts; the expected words are written by hand."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from cdc_contracts.registry.authoring.explain.contract_differences import compare
from cdc_contracts.registry.core.contract.catalogue import Catalogue

CATALOGUE = Catalogue([Path(__file__).parents[3] / "contracts"])
OWN = Path(__file__).parents[1] / "lint" / "contracts"
ONLY = "yes"


def reported(left, right, catalogue=CATALOGUE):
    found = compare(catalogue.version(left), catalogue.version(right))
    return [(one.group, one.what, one.left, one.right) for one in found.meaning]


def test_the_swap_of_images_is_reported_and_what_follows_from_it():
    assert reported("dts/canal@1", "dts/canal@2") == [
        ("applies", "until", "2022-03-20", None),
        ("applies", "status", "legacy", "current"),
        ("applies", "since", None, "2022-03-20"),
        ("images", "insert, after", "the row in /data, or in /old if there is none", "the row in /data"),
        ("images", "snapshot, after", "the row in /data, or in /old if there is none", "the row in /data"),
        ("images", "update, before", "the row in /data, completed from /old", "the row in /old, completed from /data"),
        ("images", "update, after", "the row in /old, completed from /data", "the row in /data"),
        ("images", "delete, before", "the row in /old", "the row in /data"),
        ("rules", "old-keys-in-data", None, ONLY),
        ("evidence", "row of a DELETE in /old", ONLY, None),
        ("evidence", "process time before 2022-03-20T00:00:00+08:00", ONLY, None),
        ("evidence", "row of a DELETE in /data", None, ONLY),
        ("undocumented", "insert-images", ONLY, None),
        ("undocumented", "init-images", ONLY, None),
        ("schema", "type is DELETE: /data", "null", "array, minItems 1, required"),
        ("schema", "type is DELETE: /old", "array, minItems 1, required", "null"),
        ("schema", "type is INSERT: /data", None, "array, minItems 1, required"),
        ("schema", "type is INSERT: /old", None, "null"),
        ("schema", "type is INIT: /data", None, "array, minItems 1, required"),
        ("schema", "type is INIT: /old", None, "null"),
    ]


@pytest.mark.parametrize("subject", ["oms-community/canal", "oms-community/default"])
def test_the_change_of_value_forms_is_described_by_source_type(subject):
    assert reported(f"{subject}@1", f"{subject}@2") == [
        ("applies", "until", "3.3.0", None),
        ("applies", "status", "legacy", "current"),
        ("applies", "since", None, "3.3.0"),
        ("value forms", "BIT", "bit-number", "bit-base64"),
        ("value forms", "TIME", "iso-time-minutes", "sql-time"),
        ("value forms", "DATETIME", "iso-datetime-minutes", "sql-datetime-zone"),
        ("value forms", "TIMESTAMP", "epoch-seconds-integer", "epoch-seconds.fraction"),
        *(("value forms", f"{kind}, trailing zeros", None, "left out") for kind in ("TIME", "DATETIME", "TIMESTAMP")),
        ("evidence", "TIMESTAMP written as epoch-seconds-integer", ONLY, None),
        ("evidence", "BIT written as bit-number", ONLY, None),
        ("evidence", "DATETIME written as iso-datetime-minutes", ONLY, None),
        ("evidence", "TIMESTAMP written as epoch-seconds.fraction", None, ONLY),
        ("evidence", "BIT written as bit-base64", None, ONLY),
        ("evidence", "DATETIME written as sql-datetime-zone", None, ONLY),
    ]


def test_the_other_way_round_left_and_right_change_places():
    forth = {(group, what): (left, right) for group, what, left, right in reported("dts/canal@1", "dts/canal@2")}
    back = {(group, what): (right, left) for group, what, left, right in reported("dts/canal@2", "dts/canal@1")}
    assert forth == back


@pytest.mark.parametrize("reference", ["dts/canal@1", "oms-community/default@2", "canonical/change@1"])
def test_a_contract_does_not_differ_from_itself(reference):
    version = CATALOGUE.version(reference)
    found = compare(version, version)
    assert (found.meaning, found.prose) == ((), ())


def test_prose_is_separate_from_meaning():
    found = compare(CATALOGUE.version("dts/canal@1"), CATALOGUE.version("dts/canal@2"))
    assert [one.what for one in found.prose] == [
        "message id", "message title", "/data description", "/old description",
    ]  # fmt: skip
    assert all(one.group == "prose" for one in found.prose)


@pytest.mark.parametrize(
    ("file", "old", "new", "expected"),
    [
        ("contract.yaml", "event_time: {at: /when,", "event_time: {at: /acme,",
         ("envelope", "event time", "/when, milliseconds since 1970 UTC", "/acme, milliseconds since 1970 UTC")),
        ("contract.yaml", "beat: heartbeat", "beat: begin", ("ops", "beat", "heartbeat", "begin")),
        ("contract.yaml", "beat: heartbeat", "beat: heartbeat, tick: mark", ("ops", "tick", None, "mark")),
        ("contract.yaml", "container: object", "container: list-of-one",
         ("images", "container", "object", "list-of-one")),
        ("contract.yaml", "types: {at: /types, as: name-to-type}", "types: none",
         ("columns", "types", "in /types",
          "not in the message: taken from a table contract, else a value is read by its JSON type")),
        ("contract.yaml", "columns-typed]", "columns-typed]\nnotes: [event-time-whole-seconds]",
         ("rules", "event-time-whole-seconds", None, "as a note")),
        ("contract.yaml", "{present: /acme}, ", "", ("discriminators", "/acme is present", ONLY, None)),
        ("contract.yaml", "full_load: as-insert", "full_load: own-op", ("other", "full_load", "as-insert", "own-op")),
        ("contract.yaml", "transport: json", "transport: avro", ("applies", "transport", "json", "avro")),
        ("envelope.schema.json", '"minimum": 1, ', "", ("schema", "/acme", "integer, minimum 1", "integer")),
        ("envelope.schema.json", '"db", "tab", "when"]', '"tab", "when"]',
         ("schema", "/db required", "always", "not always")),
        ("envelope.avsc", '{"name": "db", "type": "string"}', '{"name": "db", "type": ["null", "string"]}',
         ("avro", "/db", "string", "null or string")),
    ],
)  # fmt: skip
def test_one_edit_is_one_difference(file, old, new, expected, tmp_path):
    for name in ("before", "after"):
        shutil.copytree(OWN, tmp_path / name)
    edited = tmp_path / "after" / "acme" / "plain" / "v1" / file
    assert old in edited.read_text()
    edited.write_text(edited.read_text().replace(old, new, 1))
    before, after = (Catalogue([tmp_path / name]).version("acme/plain@1") for name in ("before", "after"))
    found = compare(before, after)
    assert [(one.group, one.what, one.left, one.right) for one in found.meaning] == [expected]
    assert found.prose == ()


def test_contracts_of_different_systems_can_be_compared():
    groups = {group for group, *_ in reported("dts/canal@2", "oms-community/default@1")}
    assert {"applies", "envelope", "ops", "images", "columns", "value forms", "rules", "discriminators"} <= groups


def test_fractions_without_their_last_zeros_are_reported(tmp_path):
    shutil.copytree(OWN, tmp_path / "own")
    mapping = tmp_path / "own/acme/types/acme.yaml"
    mapping.write_text(mapping.read_text(encoding="utf-8") + "no_trailing_zeros: [text]\n", encoding="utf-8")
    catalogue = Catalogue([Path(__file__).parents[3] / "contracts", tmp_path / "own"])
    found = [one for one in reported("acme/plain@1", "dts/canal@2", catalogue) if "zeros" in one[1]]
    assert found == [("value forms", "TEXT, trailing zeros", "left out", None)]
