"""Contracts as any registry client reads them: in their own context, with ids that stay, and nobody can change them."""

import json
import shutil

import patient
import pytest
from confluent_kafka.schema_registry import Schema, SchemaRegistryClient
from confluent_kafka.schema_registry.error import SchemaRegistryError
from registry_sites import serving_site
from topics import CATALOGUE

from cdc_contracts.registry.core.common.errors import UsageError
from cdc_contracts.registry.server.service.builtin_subjects import fill_builtin_subjects

CANAL = ":.cdc-contracts:dts.canal"
EXTENDED = {"Confluent-Accept-Unknown-Properties": "true"}


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    with serving_site(f"sqlite:///{tmp_path_factory.mktemp('registry')}/registry.db") as served:
        yield served


@pytest.fixture(scope="module")
def client(address):
    with SchemaRegistryClient({"url": address}) as made:
        yield made


def test_every_contract_is_a_subject_for_each_language(client):
    subjects = client.get_subjects()
    assert len(subjects) == 2 * len(CATALOGUE.subjects())
    assert {CANAL, f"{CANAL}.avro", ":.cdc-contracts:oms-community.default-extend-column-type"} <= set(subjects)
    assert client.get_contexts() == [".", ".cdc-contracts"]


def test_versions_of_a_subject_are_versions_of_the_contract(client):
    versions = client.get_versions(CANAL)
    assert versions == [version.number for version in CATALOGUE.versions("dts/canal")]
    old, new = (client.get_version(CANAL, number) for number in (1, 2))
    assert (old.schema_id, new.schema_id) == (13, 15)
    assert (old.schema.schema_type, new.schema.schema_type) == ("JSON", "JSON")
    assert json.loads(new.schema.schema_str)["title"] == "Alibaba Cloud DTS, Canal JSON, version 2 (from 2022-03-20)"
    assert client.get_latest_version(CANAL).version == versions[-1]
    avro = client.get_version(f"{CANAL}.avro", 2)
    assert (avro.schema_id, avro.schema.schema_type) == (16, "AVRO")
    assert json.loads(avro.schema.schema_str)["contract"] == "dts/canal@2"


def test_a_schema_is_found_by_id_guid_and_text(client, address):
    assert client.get_schema(15, subject_name=CANAL).schema_str == client.get_version(CANAL, 2).schema.schema_str
    found = client.lookup_schema(CANAL, client.get_version(CANAL, 1).schema)
    assert (found.schema_id, found.version) == (13, 1)
    guid = patient.get(f"{address}/subjects/{CANAL}/versions/1", headers=EXTENDED).json()["guid"]
    assert patient.get(f"{address}/schemas/guids/{guid}/ids").json() == [{"context": ".cdc-contracts", "id": 13}]
    assert patient.get(f"{address}/schemas/ids/15/versions?subject={CANAL}").json() == [
        {"subject": CANAL, "version": 2}
    ]
    assert patient.get(f"{address}/schemas/ids/15").status_code == 404


def test_the_contract_is_sent_to_clients_that_accept_unknown_keys(address):
    plain = patient.get(f"{address}/subjects/{CANAL}/versions/2").json()
    assert set(plain) == {"subject", "version", "id", "schemaType", "schema"}
    reported = patient.get(f"{address}/subjects/{CANAL}/versions/2", headers=EXTENDED).json()["metadata"]["properties"]
    meaning = json.loads(reported.pop("cdc-contracts.meaning"))
    assert meaning["contract"]["ops"]["INIT"] == "snapshot"
    fingerprint = reported.pop("cdc-contracts.fingerprint")
    assert len(fingerprint) == 64
    assert reported == {
        "cdc-contracts.contract": "dts/canal@2",
        "cdc-contracts.status": "current",
        "cdc-contracts.applies": "from 2022-03-20",
        "cdc-contracts.document": "Data storage formats in message queues (Data Transmission Service), Canal Json, https://www.alibabacloud.com/help/en/dts/user-guide/data-formats-of-a-kafka-cluster",
    }


def test_nobody_changes_a_contract(client, address):
    for attempt in (
        lambda: client.register_schema(CANAL, Schema('"int"', "AVRO")),
        lambda: client.register_schema(":.cdc-contracts:new", Schema('"int"', "AVRO")),
        lambda: client.delete_subject(CANAL),
        lambda: client.delete_version(CANAL, 1),
        lambda: client.set_compatibility(subject_name=CANAL, level="NONE"),
    ):
        with pytest.raises(SchemaRegistryError) as refused:
            attempt()
        assert (refused.value.http_status_code, refused.value.error_code) == (422, 42205)
    for path in (f"/mode/{CANAL}", "/mode/:.cdc-contracts:"):
        for mode in ("READWRITE", "IMPORT"):
            answer = patient.put(f"{address}{path}?force=true", json={"mode": mode})
            assert (answer.status_code, answer.json()["error_code"]) == (422, 42205)
    assert patient.delete(f"{address}/contexts/.cdc-contracts").json()["error_code"] == 42211
    assert patient.get(f"{address}/mode/:.cdc-contracts:").json() == {"mode": "READONLY"}
    versions = client.get_versions(CANAL)
    assert versions == [version.number for version in CATALOGUE.versions("dts/canal")]


def test_registering_elsewhere_goes_on_as_before(client):
    assert client.register_schema("orders-value", Schema('"int"', "AVRO")) == 1
    assert client.get_subjects(subject_prefix="orders") == ["orders-value"]
    client.delete_subject("orders-value")


def test_a_schema_may_refer_to_a_contract(address):
    body = {
        "schemaType": "JSON",
        "schema": json.dumps({"type": "object", "properties": {"change": {"$ref": "canal"}}}),
        "references": [{"name": "canal", "subject": CANAL, "version": 2}],
    }
    number = patient.post(f"{address}/subjects/wrapped-value/versions", json=body).json()["id"]
    assert patient.get(f"{address}/subjects/{CANAL}/versions/2/referencedby").json() == [number]


def test_a_reader_finds_out_whether_a_schema_fits_a_contract(client):
    ours = client.get_version(CANAL, 2).schema
    assert client.test_compatibility(CANAL, ours, 2)
    assert not client.test_compatibility(CANAL, Schema('{"type": "string"}', "JSON"), 2)


def own_folder(tmp_path, name="mine"):
    """A folder of one contract of its own."""
    source = fill_builtin_subjects.__globals__["shipped_catalogue"]().version("dataworks/streamx@1").folder
    folder = tmp_path / name
    shutil.copytree(source, folder / "acme" / "streamx" / "v1")
    shutil.copytree(source.parent.parent / "types", folder / "acme" / "types")
    contract = folder / "acme" / "streamx" / "v1" / "contract.yaml"
    contract.write_text(contract.read_text().replace("dataworks/streamx@1", "acme/streamx@1"))
    return folder


def test_contracts_of_your_own_have_a_context_of_their_own(tmp_path):
    from cdc_contracts.registry.authoring.sync.id_numbering import number_contracts

    folder = own_folder(tmp_path)
    with pytest.raises(UsageError, match="acme/streamx@1 JSON has no id"):
        fill_builtin_subjects([folder], catalogue=False)
    number_contracts(folder)
    with serving_site(f"sqlite:///{tmp_path}/registry.db", folders=[folder]) as served:
        assert patient.get(f"{served}/subjects?subjectPrefix=:.cdc-contracts.mine:").json() == [
            ":.cdc-contracts.mine:acme.streamx",
            ":.cdc-contracts.mine:acme.streamx.avro",
        ]
        found = patient.get(f"{served}/cdc/v1/contracts/acme/streamx/1").json()
        assert found["reference"] == "acme/streamx@1"
    schema = folder / "acme" / "streamx" / "v1" / "envelope.schema.json"
    changed = json.loads(schema.read_text())
    schema.write_text(json.dumps({**changed, "maxProperties": 99}))
    with pytest.raises(UsageError, match="has changed since it was given id 1"):
        fill_builtin_subjects([folder], catalogue=False)


def test_without_the_catalogue_an_empty_registry_is_empty(tmp_path):
    with (
        serving_site(f"sqlite:///{tmp_path}/registry.db", shipped=False) as served,
        patient.Client(base_url=served) as client,
    ):
        for listed in ("/subjects", "/subjects?subjectPrefix=:*:&deleted=true", "/schemas"):
            assert client.get(listed).json() == []
        assert client.get("/contexts").json() == ["."]
        assert client.get(f"/subjects/{CANAL}/versions").json()["error_code"] == 40401
        assert client.get("/schemas/ids/13?subject=:.cdc-contracts:").json()["error_code"] == 40403
        assert client.get("/cdc/v1/contracts").json() == {"contracts": []}
        assert client.get("/ui").status_code == 200
        assert client.post("/subjects/s/versions", json={"schema": '"int"'}).json() == {"id": 1}


def test_without_the_catalogue_contracts_of_your_own_are_served(tmp_path):
    from cdc_contracts.registry.authoring.sync.id_numbering import number_contracts

    folder = own_folder(tmp_path)
    number_contracts(folder)
    with serving_site(f"sqlite:///{tmp_path}/registry.db", folders=[folder], shipped=False) as served:
        subjects = patient.get(f"{served}/subjects").json()
        assert subjects == [":.cdc-contracts.mine:acme.streamx", ":.cdc-contracts.mine:acme.streamx.avro"]
        assert [one["reference"] for one in patient.get(f"{served}/cdc/v1/contracts").json()["contracts"]] == [
            "acme/streamx@1"
        ]


def test_two_folders_of_one_name_are_refused(tmp_path):
    (tmp_path / "a" / "mine").mkdir(parents=True)
    (tmp_path / "b" / "mine").mkdir(parents=True)
    with pytest.raises(
        UsageError, match=r"two folders of contracts would both be served as context .cdc-contracts.mine"
    ):
        fill_builtin_subjects([tmp_path / "a" / "mine", tmp_path / "b" / "mine"], catalogue=False)
