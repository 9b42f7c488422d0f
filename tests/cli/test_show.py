"""`show` explains a contract to someone who has never read the vendor's page."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import jsonschema_rs
import pytest

from cdc_contracts.cli.app import main
from cdc_contracts.registry.core.common.yaml_documents import parse_document
from cdc_contracts.registry.core.contract.catalogue import Catalogue
from cdc_contracts.registry.core.generate.contract_samples import find_samples

CATALOGUE = Catalogue([Path(__file__).parents[2] / "contracts"])
REFERENCES = [*(version.reference for version in CATALOGUE.all_versions()), "canonical/change@1"]


@pytest.fixture(autouse=True)
def _eighty_columns(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")


def shown(capsys, *arguments):
    assert main(["show", *arguments]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return out


def test_an_explanation_names_everything_a_reader_needs(capsys):
    out = shown(capsys, "dts/canal@1")
    words = " ".join(out.split())
    assert out.startswith("dts/canal@1: Alibaba Cloud DTS, Canal JSON, version 1 (before 2022-03-20)\n")
    for reported in [
        "Applies before 2022-03-20, in zone +08:00; what counts is when the instance was created, or last restarted",
        "Source Data storage formats in message queues (Data Transmission Service), Canal Json, https://www.alibabacloud.com/help/en/dts/user-guide/",
        "Document Alibaba Cloud, edition 2026-02-07",
        "dts/canal@2 from 2022-03-20",
        "/es integer always Time of the change in the source, whole seconds as milliseconds since 1970 UTC.",
        "DELETE delete the row in /old",
        "event time /es milliseconds since 1970 UTC",
        "TIMESTAMP sql-datetime-instant",
        "DATE sql-date A date, `YYYY-MM-DD`. (nonexistent times are kept as sent)",
        "primary-key-in-image The primary key columns are columns of the completed image.",
        "timestamp_zone the time zone of TIMESTAMP values without one",
        "E84 enforce Text: Before 2022-03-20 old holds the row after a change",
    ]:
        assert reported in words


def test_two_images_stand_side_by_side_for_an_update(capsys):
    reported = json.loads(shown(capsys, "dts/canal@1", "--json"))
    update = next(one for one in reported["operations"] if one["op"] == "update")
    assert update == {
        "code": "UPDATE",
        "op": "update",
        "before": "the row in /data, completed from /old",
        "after": "the row in /old, completed from /data",
    }


def test_it_is_shown_when_a_member_is_required(capsys):
    reported = json.loads(shown(capsys, "oms-community/canal@2", "--json"))
    required = {one["at"]: one["required"] for one in reported["members"]}
    assert (required["/table"], required["/data"]) == ("always", "type is INSERT, DELETE, ROW, UPDATE")
    assert required["/mysqlType"] == "isDdl is false"


JSON_VERSIONS = [version for version in CATALOGUE.all_versions() if version.meaning.transport == "json"]


@pytest.mark.one_in(5, any_subject=True)
@pytest.mark.parametrize("version", JSON_VERSIONS, ids=lambda version: version.reference)
def test_a_member_that_some_sample_needs_is_not_reported_as_dispensable(version, capsys):
    reported = json.loads(shown(capsys, version.reference, "--json"))
    dispensable = {one["at"] for one in reported["members"] if one["required"] == "no"}
    takes = jsonschema_rs.validator_for(version.schema).is_valid
    refused = set()
    for sample in find_samples(version).messages:
        message = json.loads(sample.value)
        for at in dispensable - refused:
            without, (*above, name) = copy.deepcopy(message), at.split("/")[1:]
            place = without
            for part in above:
                place = place.get(part) if isinstance(place, dict) else None
            if isinstance(place, dict) and name in place:
                del place[name]
                refused |= {at} if takes(message) and not takes(without) else set()
    assert refused == set()


@pytest.mark.one_in(6, any_subject=True)
@pytest.mark.parametrize("reference", REFERENCES)
def test_every_contract_can_be_explained(reference, capsys):
    out = shown(capsys, reference)
    lines = [line for line in out.splitlines() if not line.startswith("  {")]  # messages are whole, to be copied
    assert max(len(line) for line in lines if "https://" not in line) <= 80
    reported = json.loads(shown(capsys, reference, "--json"))
    assert reported["reference"] == reference
    assert all(member["meaning"] for member in reported["members"])
    assert all(form["says"] for form in reported["forms"])
    assert all(says for _, says in reported["rules"])


def test_a_bare_subject_shows_the_latest_and_names_the_others(capsys):
    out = shown(capsys, "oms-community/canal")
    assert out.startswith("oms-community/canal@2: ")
    assert "oms-community/canal@1  before 3.3.0" in out


@pytest.mark.parametrize("reference", REFERENCES)
def test_resolved_prints_the_whole_contract_and_reads_back(reference, capsys):
    out = shown(capsys, reference, "--resolved")
    assert parse_document(out, "out") == CATALOGUE.version(reference).resolved
    assert json.loads(shown(capsys, reference, "--resolved", "--json")) == CATALOGUE.version(reference).resolved
    assert "based_on" not in out


def test_numbers_of_types_are_shown_with_the_types_that_they_stand_for(capsys):
    reported = json.loads(shown(capsys, "dts/avro@1", "--json"))
    types = {one for form in reported["forms"] for one in form["types"]}
    assert {"3 (int)", "246 (decimal)", "252 (blob, text)", "253 (varchar, varbinary)", "254 (char, binary)"} <= types
    assert "17" in types  # of newer servers; no statement names it


def test_the_schemas_can_be_had_as_they_are(capsys):
    folder = CATALOGUE.version("dts/canal@2").folder
    reported = json.loads(shown(capsys, "dts/canal@2", "--schema", "json"))
    assert reported == json.loads(folder.joinpath("message.schema.json").read_text())
    assert reported["$id"] == "urn:cdc-contracts:dts:canal:v2"
    reported = json.loads(shown(capsys, "dts/canal@2", "--schema", "avro"))
    assert reported == json.loads(folder.joinpath("message.avsc").read_text())
    assert reported["namespace"] == "cdc_contracts.dts_canal.v2"


def test_the_schema_of_a_report_can_be_had(capsys):
    reported = json.loads(shown(capsys, "report", "--schema", "json"))
    assert reported["properties"]["verdict"]["enum"] == ["pass", "drift", "inconclusive"]
    assert main(["show", "report"]) == 2
    assert "--schema json" in capsys.readouterr().err
