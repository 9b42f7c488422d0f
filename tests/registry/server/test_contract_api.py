"""`/cdc/v1`: contracts with their meaning, what two say differently, and whether one may follow the other."""

import patient
import pytest
from registry_sites import serving_site
from topics import CATALOGUE, VERSION_FOLDERS


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    with serving_site(f"sqlite:///{tmp_path_factory.mktemp('registry')}/registry.db") as served:
        yield f"{served}/cdc/v1"


def test_contracts_are_listed_as_on_the_command_line(address):
    listed = patient.get(f"{address}/contracts").json()["contracts"]
    assert len(listed) == len(VERSION_FOLDERS)
    assert [one for one in listed if one["reference"] == "dts/canal@2"] == [
        {
            "reference": "dts/canal@2",
            "system": "dts",
            "dialect": "canal",
            "version": 2,
            "applies": {"since": "2022-03-20", "counted_from": "instance-created-or-restarted", "zone": "+08:00"},
            "status": "current",
            "transport": "json",
            "told_apart_by": ["row of a DELETE in /data", "chains of updates of one key"],
        }
    ]
    versions = patient.get(f"{address}/contracts/dts/canal").json()["contracts"]
    assert [one["reference"] for one in versions] == [version.reference for version in CATALOGUE.versions("dts/canal")]


@pytest.mark.parametrize("selector", ["2", "latest", "2022-03-20"])
def test_one_contract_is_reported_whole(address, selector):
    found = patient.get(f"{address}/contracts/dts/canal/{selector}").json()
    newest = CATALOGUE.versions("dts/canal")[-1].reference
    assert found["reference"] == (newest if selector == "latest" else "dts/canal@2")
    assert found["contract"]["images"]["update"]["before"] == {"at": "/old", "completed_from": "/data"}
    assert found["contract"]["envelope"]["op"] == {"at": "/type"}  # from the version that it is based on
    assert found["schema"]["properties"]["type"]["enum"] == ["INSERT", "UPDATE", "DELETE", "INIT", "DDL"]
    assert found["avro_schema"]["type"] == "record"


def test_the_differences_of_two_contracts_are_described(address):
    found = patient.get(f"{address}/diff?left=dts/canal@1&right=dts/canal@2").json()
    assert [one for one in found["meaning"] if one["what"] == "update, before"] == [
        {
            "group": "images",
            "what": "update, before",
            "left": "the row in /data, completed from /old",
            "right": "the row in /old, completed from /data",
        }
    ]


def test_a_swap_of_images_is_incompatible_and_shown_by_a_message(address):
    found = patient.get(f"{address}/compat?old=dts/canal@1&new=dts/canal@2").json()
    assert (found["compatible"], found["policy"]) == (False, "cdc")
    read_differently = [one for one in found["findings"] if (one["proof"] or {}).get("kind") == "read-differently"]
    assert read_differently
    place = next(one["old_place"] for one in read_differently if one["path"] == "/images/update")
    assert (place["file"], place["line"]) == ("dts/canal/v1/contract.yaml", 27)


def test_a_contract_may_follow_itself(address):
    found = patient.get(f"{address}/compat?old=dts/canal@2&new=dts/canal@2").json()
    assert found == {"compatible": True, "level": "BACKWARD", "policy": "cdc", "findings": []}


def test_the_differences_of_unrelated_contracts_are_described_and_not_judged(address):
    answer = patient.get(f"{address}/compat?old=drs/json@2&new=dts/avro@1")
    assert (answer.status_code, answer.json()["error_code"]) == (422, 422)
    assert "`cdc-contracts compat` compares any two" in answer.json()["message"]
    assert patient.get(f"{address}/diff?left=drs/json@2&right=dts/avro@1").status_code == 200


def test_rules_are_listed(address):
    assert patient.get(f"{address}/rules/D07").json()["name"] == "value-form"
    assert {"D07", "L01"} <= {one["id"] for one in patient.get(f"{address}/rules").json()["rules"]}


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("/contracts/dts/kanal", "there is no contract `dts/kanal`\n  Did you mean dts/canal?"),
        ("/contracts/dts/canal/9", "dts/canal has no version 9"),
        ("/contracts/dts/canal/1.0.0", "no version of dts/canal applies at 1.0.0"),
        ("/diff?left=dts/canal@1&right=nonsense", "`nonsense` is not a reference to a contract"),
        ("/rules/X99", "there is no rule `X99`"),
    ],
)
def test_what_is_not_there_is_reported_with_what_is(address, path, says):
    answer = patient.get(address + path)
    assert (answer.status_code, answer.json()["error_code"]) == (404, 404)
    assert answer.json()["message"].startswith(says)
