"""Flat messages of Alibaba Canal (`flat_messages/`): a contract describes them, so that a relative no longer has to."""

import json
import shutil
from pathlib import Path

import pytest
from detected_topics import detect_messages, sampled

from cdc_contracts.registry.core.contract.catalogue import Catalogue, shipped_catalogue
from cdc_contracts.registry.core.detect.relatives import read_relatives

FLAT = Path(__file__).parent / "flat_messages"
RELATIVES = Path(__file__).parent / "relatives"
CONTRACTS = Path(__file__).parents[3] / "contracts"
VERSIONS = {
    "1.1.4-mixed": 2,
    "1.1.5-several-rows-a-message": 2,
    "1.1.6-mysql-8-types": 2,
    "1.1.7-gtid-empty": 3,
    "1.1.8-gtid": 3,
    "upper-case-types-after-ddl": 2,
    "ddl-of-every-type": 2,
    "inserts-of-integers-only": 2,
    "updates-only-of-integers": 2,
    "deletes-only": 2,
    "text-blob-enum-json": 2,
    "table-without-key": 2,
}
OWN = """
contract: acme/{name}@1
based_on: dts/canal@2
title: Acme
applies: {{since: "1", counted_from: product-version}}
ops: {{INIT: , DDL: , CREATE: ddl, ALTER: ddl, TRUNCATE: truncate}}
images: {{snapshot: }}
columns: {{types: {{without_parameters: false}}}}
rules: [image-present-for-op, columns-typed, primary-key-in-image]
discriminators: {tests}
version_evidence: []
"""


def lines_of(path):
    return [line for line in path.read_bytes().split(b"\n") if line]


def own_contract(folder, name, tests):
    """A catalogue that has, besides the shipped contracts, one that a user wrote for messages like those of DTS."""
    version = folder / "acme" / name / "v1"
    version.mkdir(parents=True)
    (version / "contract.yaml").write_text(OWN.format(name=name, tests=tests))
    schema = json.loads((CONTRACTS / "dts/canal/v2/envelope.schema.json").read_text())
    schema["properties"]["type"]["enum"] = ["INSERT", "UPDATE", "DELETE", "CREATE", "ALTER", "TRUNCATE"]
    schema["allOf"] = []
    (version / "envelope.schema.json").write_text(json.dumps(schema))
    return [folder]


def contracts_without_canal(folder):
    """The folder of the shipped contracts, without those of Canal and of TiCDC, whose values are Canal's."""
    shutil.copytree(CONTRACTS, folder, ignore=shutil.ignore_patterns("samples"))
    for system in ("canal", "ticdc"):
        shutil.rmtree(folder / system)
    return folder


def test_every_file_has_the_version_that_its_release_writes():
    assert {path.stem for path in FLAT.glob("*.jsonl")} == set(VERSIONS)


@pytest.mark.parametrize(("name", "number"), VERSIONS.items(), ids=VERSIONS)
def test_flat_messages_are_told_from_those_of_other_products(name, number):
    found = detect_messages(lines_of(FLAT / f"{name}.jsonl"))

    assert (found.verdict, found.subject) == ("certain", "canal/flat")
    assert found.version.number == number


@pytest.mark.parametrize("path", sorted(RELATIVES.glob("*.jsonl")), ids=lambda path: path.stem)
def test_the_contract_claims_no_message_of_a_near_relative(path):
    found = detect_messages(lines_of(path))

    assert not [one for one in found.candidates if one.contract.startswith("canal/flat@") and one.records]


@pytest.mark.parametrize("reference", ["dts/canal@1", "dts/canal@2", "drs/json@2", "drs/json-c@2", "oms/canal@1"])
def test_the_contract_does_not_claim_topics_of_products_with_the_same_members(reference):
    assert detect_messages(sampled(reference, 60)).subject != "canal/flat"


def test_a_message_that_only_the_product_writes_is_evidence_for_its_contract():
    found = detect_messages(lines_of(FLAT / "1.1.4-mixed.jsonl"))

    marks = {(one.winner, one.loser) for one in found.evidence if one.kind == "mark-of-a-relative"}
    assert ("canal/flat@2", "dts/canal@2") in marks


def drifted_insert(number):
    """The message of an insert whose `old` is a list, which Canal never sends, with types as Canal alone writes them."""
    row = {"id": str(number), "label": "pot"}
    message = {
        "data": [row], "database": "store", "es": 1718000460000, "id": number + 7, "isDdl": False,
        "mysqlType": {"id": "INT", "label": "VARCHAR(10)"}, "old": [], "pkNames": ["id"], "sql": "",
        "sqlType": {"id": 4, "label": 12}, "table": "items", "ts": 1718000460286, "type": "INSERT",
    }  # fmt: skip
    return json.dumps(message, separators=(",", ":")).encode()


def test_a_drifted_message_that_only_the_product_writes_is_of_no_other_product():
    found = detect_messages([drifted_insert(number) for number in range(12)])

    assert (found.verdict, found.subject, found.nearest) == ("not-in-catalogue", None, "canal/flat@2")


def test_drifted_messages_among_others_of_the_product_are_no_mixture():
    conforming = [drifted_insert(number).replace(b'"old":[]', b'"old":null') for number in range(12)]

    found = detect_messages([*conforming, *(drifted_insert(number) for number in range(12, 15))])

    assert (found.verdict, found.subject) == ("likely", "canal/flat")


def test_a_relative_ends_with_the_contract_that_it_names_and_only_with_that(tmp_path):
    (canal,) = [one for one in read_relatives(shipped_catalogue()) if one.until_contract == "canal/flat"]
    without = Catalogue([contracts_without_canal(tmp_path / "contracts")])

    assert canal.is_outside(without)
    assert not canal.is_outside(shipped_catalogue())
    found = detect_messages(lines_of(FLAT / "1.1.4-mixed.jsonl"), without)
    assert (found.verdict, found.evidence[0].winner) == ("not-in-catalogue", canal.name)


def test_a_relative_that_names_a_contract_names_one_that_is_shipped():
    named = {one.until_contract for one in read_relatives(shipped_catalogue())} - {None}

    assert named
    assert named <= set(shipped_catalogue().subjects())


@pytest.mark.parametrize(
    ("own", "messages", "tests"),
    [
        ("canal", FLAT / "1.1.4-mixed.jsonl", "[{present: /id}, {present: /pkNames}]"),
        ("tidb", RELATIVES / "described" / "ticdc-canal-json-integers-only.jsonl", "[{present: /es}, {absent: /gtid}]"),
    ],
)
def test_a_contract_of_ones_own_is_not_ambiguous_against_the_product_that_it_describes(tmp_path, own, messages, tests):
    shipped = contracts_without_canal(tmp_path / "contracts")
    catalogue = Catalogue([shipped, *own_contract(tmp_path / "own", own, tests)])

    found = detect_messages(lines_of(messages), catalogue)

    assert (found.verdict, found.subject) == ("certain", f"acme/{own}")
