"""The catalogue: what references stand for, how versions build on each other, and that a dialect is data only."""

from __future__ import annotations

import shutil
import zipfile
from pathlib import Path

import pytest
from topics import NEWEST_CANAL

from cdc_contracts.registry.core.common.errors import ContractError, UsageError
from cdc_contracts.registry.core.contract.catalogue import Catalogue, shipped_catalogue, span

ROOT = Path(__file__).parents[3]
SHIPPED = Catalogue([ROOT / "contracts"])
OWN = Path(__file__).parents[1] / "lint" / "contracts"
NUMBER = int(NEWEST_CANAL.partition("@")[2])
LATER = "".join(f", @{version.number} {span(version)}" for version in SHIPPED.versions("dts/canal")[2:])


@pytest.mark.parametrize(
    ("text", "references"),
    [
        ("dts/canal", [f"dts/canal@{number}" for number in range(1, NUMBER + 1)]),
        ("dts/canal@1", ["dts/canal@1"]),
        ("dts/canal@latest", [NEWEST_CANAL]),
        ("dts/canal@2022-03-19", ["dts/canal@1"]),
        ("dts/canal@2022-03-20", ["dts/canal@2"]),
        ("dts/canal@2025-01-01", ["dts/canal@2"]),
        ("dts/canal@1999-01-01", ["dts/canal@1"]),
        ("oms-community/canal@3.2.99", ["oms-community/canal@1"]),
        ("oms-community/canal@3.3.0", ["oms-community/canal@2"]),
        ("oms-community/canal@3.3", ["oms-community/canal@2"]),
        ("oms-community/canal@3.10.0", ["oms-community/canal@2"]),
        ("canonical/change", ["canonical/change@1"]),
    ],
)
def test_a_reference_stands_for_versions(text, references):
    assert [version.reference for version in SHIPPED.resolve(text)] == references
    assert SHIPPED.version(text).reference == references[-1]


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("dts/cana", "Did you mean dts/canal?"),
        ("oms-comunity/canal", "Did you mean oms-community/canal?"),
        ("xyzzy/quux", "`cdc-contracts list` shows all."),
        ("dts/canal@99", f"Did you mean {NEWEST_CANAL}?"),
        ("dts/canal@0", f"Did you mean {NEWEST_CANAL}?"),
        ("dts/canal@3.3.0", f"Known are @1 before 2022-03-20, @2 from 2022-03-20{LATER}."),
        ("oms-community/canal@2022-03-20", "Known are @1 before 3.3.0, @2 from 3.3.0."),
    ],
)
def test_an_unknown_reference_is_refused_with_the_nearest(text, hint):
    with pytest.raises(UsageError) as error:
        SHIPPED.resolve(text)
    assert error.value.hint == hint
    assert error.value.exit_code == 2


def test_the_canonical_change_is_no_subject():
    assert SHIPPED.canonical.reference == "canonical/change@1"
    assert "canonical/change" not in SHIPPED.subjects()
    assert {"dts/canal", "oms-community/canal", "oms-community/default"} <= set(SHIPPED.subjects())


def test_what_a_version_applies_to_is_described():
    assert [span(version) for version in SHIPPED.versions("dts/canal")[:2]] == ["before 2022-03-20", "from 2022-03-20"]


def test_a_version_says_only_what_differs_from_its_base():
    one, two = SHIPPED.versions("dts/canal")[:2]
    assert two.base is one
    assert two.resolved["envelope"] == one.resolved["envelope"]
    assert one.resolved["applies"]["until"] == "2022-03-20"
    assert two.resolved["applies"] == {
        "since": "2022-03-20",
        "counted_from": "instance-created-or-restarted",
        "zone": "+08:00",
    }
    assert two.resolved["images"] == {
        "container": "list-of-rows",
        "insert": {"after": {"at": "/data"}},
        "snapshot": {"after": {"at": "/data"}},
        "update": {"before": {"at": "/old", "completed_from": "/data"}, "after": {"at": "/data"}},
        "delete": {"before": {"at": "/data"}},
    }
    assert "based_on" not in two.resolved


def test_a_schema_is_inherited_until_a_version_brings_its_own():
    one, two = SHIPPED.versions("dts/canal")[:2]
    assert two.avro_schema == one.avro_schema
    assert two.schema["$id"] == "urn:cdc-contracts:dts:canal:v2"
    assert two.file("envelope.avsc") == one.folder.joinpath("envelope.avsc")


def test_a_mapping_says_only_what_differs_from_its_base():
    new, old = SHIPPED.mapping("oms-mysql"), SHIPPED.mapping("oms-mysql-pre330")
    types = ["bigint(20) unsigned", "Integer", "BOOL", "timestamp(6)", "bit(8)", "time", "datetime", "json"]
    assert [new.form_of(one) for one in types] == [
        "integer-number", "integer-number", "bool-0-1", "epoch-seconds.fraction", "bit-base64", "sql-time",
        "sql-datetime-zone", "undocumented-text",
    ]  # fmt: skip
    assert [old.form_of(one) for one in types] == [
        "integer-number", "integer-number", "bool-0-1", "epoch-seconds-integer", "bit-number", "iso-time-minutes",
        "iso-datetime-minutes", "undocumented-text",
    ]  # fmt: skip
    with pytest.raises(ContractError) as error:
        SHIPPED.mapping("oms-mysq")
    assert error.value.hint == "Did you mean oms-mysql?"


def test_a_folder_of_ones_own_adds_to_what_is_shipped():
    both = Catalogue([*shipped_catalogue().roots, OWN])
    assert set(both.subjects()) == {*shipped_catalogue().subjects(), "acme/plain"}
    assert both.version("acme/plain").mapping_names() == ("acme-two",)


def test_one_folder_more_is_read_and_what_was_resolved_of_the_others_stays():
    both = SHIPPED.with_root(OWN)
    assert {*both.subjects()} - {*SHIPPED.subjects()} == {"acme/plain"}
    assert {*both.mapping_names()} - {*SHIPPED.mapping_names()} == {"acme", "acme-two"}
    assert both.version("dts/canal@2") is SHIPPED.version("dts/canal@2")
    assert both.version("acme/plain@2").fingerprint == Catalogue([OWN]).version("acme/plain@2").fingerprint
    assert both.roots == (*SHIPPED.roots, OWN)


def test_a_version_more_of_a_subject_is_known_to_the_others_of_it(tmp_path):
    shutil.copytree(ROOT / "contracts/dts/canal/v2", tmp_path / "dts/canal/v999")
    both = SHIPPED.with_root(tmp_path)
    assert len(both.versions("dts/canal")) == NUMBER + 1
    assert {one.catalogue.versions("dts/canal")[-1].number for one in both.versions("dts/canal")} == {999}
    assert len(SHIPPED.versions("dts/canal")) == NUMBER


@pytest.mark.parametrize("replaced", ["dts/canal/v2/contract.yaml", "dts/types/dts-canal.yaml"])
def test_where_a_folder_replaces_a_version_or_a_mapping_all_are_resolved_anew(replaced, tmp_path):
    (tmp_path / replaced).parent.mkdir(parents=True)
    shutil.copy(ROOT / "contracts" / replaced, tmp_path / replaced)
    both = SHIPPED.with_root(tmp_path)
    assert both.version("dts/canal@1").catalogue is both
    assert both.version("dts/canal@2").folder == (tmp_path if "v2" in replaced else ROOT / "contracts") / "dts/canal/v2"
    assert both.mapping_file("dts-canal").is_relative_to(tmp_path) == ("types" in replaced)


def test_a_new_version_is_one_new_folder(tmp_path):
    folder = tmp_path / "dts" / "canal" / f"v{NUMBER + 1}"
    folder.mkdir(parents=True)
    folder.joinpath("contract.yaml").write_text(
        f"contract: dts/canal@{NUMBER + 1}\nbased_on: dts/canal@2\nstatus: legacy\n"
    )
    both = Catalogue([ROOT / "contracts", tmp_path])
    assert [version.number for version in both.versions("dts/canal")] == list(range(1, NUMBER + 2))
    assert both.version("dts/canal").meaning.status == "legacy"
    assert both.version("dts/canal").schema == both.version("dts/canal@2").schema
    assert len(SHIPPED.versions("dts/canal")) == NUMBER


@pytest.mark.parametrize(
    ("based_on", "what"),
    [("acme/plain@4", "names no version"), ("acme/plain", "names no version"), ("acme/plain@2", "cyclic")],
)
def test_a_base_that_leads_nowhere_is_refused(based_on, what, tmp_path):
    shutil.copytree(OWN, tmp_path, dirs_exist_ok=True)
    contract = tmp_path / "acme/plain/v1/contract.yaml"
    contract.write_text(f"based_on: {based_on}\n" + contract.read_text())
    with pytest.raises(ContractError, match=what):
        _ = Catalogue([tmp_path]).version("acme/plain@2").resolved


def test_the_fingerprint_changes_with_whatever_decides_and_with_nothing_else(tmp_path):
    def fingerprint(edit=None):
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        shutil.copytree(OWN, folder)
        if edit:
            name, old, new = edit
            file = folder / name
            assert old in file.read_text()
            file.write_text(file.read_text().replace(old, new))
        return Catalogue([folder]).version("acme/plain@2").fingerprint

    same = fingerprint()
    assert same == fingerprint()
    assert same == fingerprint(("acme/plain/v1/samples/beat.json", '"acme": 1', '"acme": 2'))
    assert same == fingerprint(("acme/types/acme.yaml", "aliases:", "# a comment\naliases:"))
    for edit in [
        ("acme/types/acme.yaml", "TEXT", "TXT"),
        ("acme/plain/v1/contract.yaml", "beat: heartbeat", "beat: begin"),
        ("acme/plain/v1/envelope.schema.json", '"minimum": 1', '"minimum": 2'),
        ("acme/plain/v1/envelope.avsc", '"long"', '"int"'),
    ]:
        assert fingerprint(edit) != same


def test_contracts_are_read_from_a_zip(tmp_path):
    archive = tmp_path / "contracts.zip"
    with zipfile.ZipFile(archive, "w") as packed:
        for file in sorted(OWN.rglob("*")):
            if file.is_file():
                packed.write(file, file.relative_to(OWN).as_posix())
    catalogue = Catalogue([zipfile.Path(archive)])
    assert [str(version) for version in catalogue.all_versions()] == ["acme/plain@1", "acme/plain@2"]
    assert catalogue.version("acme/plain").fingerprint == Catalogue([OWN]).version("acme/plain").fingerprint
