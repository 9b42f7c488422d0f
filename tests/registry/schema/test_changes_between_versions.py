"""Two schema files alone show what a product changed: a message of one version that the other refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from both_paths import CATALOGUE

from cdc_contracts.cli.app import main


def compared(subject, capsys):
    versions = [CATALOGUE.version(f"{subject}@{number}") for number in (1, 2)]
    files = [str(Path(str(version.folder)) / "message.schema.json") for version in versions]
    code = main(["compat", *files, "--json"])
    return code, json.loads(capsys.readouterr().out)["findings"]


def proofs(findings):
    reported = [one["proof"]["message"] for one in findings if one["proof"]]
    return [json.loads(one) if isinstance(one, str) else one for one in reported]


def test_the_timestamps_of_3_3_0_are_reported_by_a_message(capsys):
    code, findings = compared("oms-community/canal", capsys)
    assert code == 1
    rows = [message["data"] for message in proofs(findings)]
    assert [{"at": 1718000000}] in rows  # as it was: seconds as a number
    assert [{"at": "1718000000.5"}] in rows  # as it is: text with a fraction


def test_the_swap_of_2022_is_reported_by_a_message(capsys):
    code, findings = compared("dts/canal", capsys)
    assert code == 1
    places = {(one["type"], one["data"] is None, one["old"] is None) for one in proofs(findings)}
    assert {("DELETE", True, False), ("DELETE", False, True)} <= places


@pytest.mark.parametrize("subject", ["oms-community/dataworks", "oms-community/default-extend-column-type"])
def test_other_dialects_with_types_show_the_timestamps_too(subject, capsys):
    code, findings = compared(subject, capsys)
    assert code == 1
    assert len(proofs(findings)) == 2
