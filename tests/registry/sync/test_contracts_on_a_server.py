"""Contracts of one's own on a server: their ids, the values of topics, and the way back."""

from __future__ import annotations

import json
import shutil

import pytest

from cdc_contracts.cli.app import main
from cdc_contracts.registry.authoring.sync.publications import open_own_versions
from cdc_contracts.registry.authoring.sync.registry_client import Access, RegistryClient
from cdc_contracts.registry.authoring.sync.stored_contracts import read_contracts
from cdc_contracts.registry.authoring.sync.subject_names import CATALOGUE_CONTEXT
from cdc_contracts.registry.core.common.memory_folders import folder_of
from cdc_contracts.registry.core.contract.bundle import bundle
from cdc_contracts.registry.core.contract.catalogue import Catalogue, shipped_catalogue
from cdc_contracts.registry.server.service.builtin_subjects import CONTEXT

PLAIN = {"schema": '{"type":"object"}', "schemaType": "JSON"}


def lock_of(folder):
    return [line.split()[:3] for line in (folder / "ids.lock").read_text().splitlines()[1:]]


def test_ids_are_given_once_and_a_contract_that_goes_keeps_them(contracts, call):
    new = "+ 1 acme/plain@1 JSON\n+ 2 acme/plain@1 AVRO\n+ 3 acme/plain@2 JSON\n+ 4 acme/plain@2 AVRO\n"
    assert call("ids", contracts) == (0, new, "")
    assert call("ids", contracts) == (0, "every schema has an id\n", "")
    shutil.copytree(contracts / "acme/plain/v2", contracts.parent / "v2")
    shutil.rmtree(contracts / "acme/plain/v2")
    gone = "- 3 acme/plain@2 JSON (retired)\n- 4 acme/plain@2 AVRO (retired)\n"
    assert call("ids", contracts) == (0, gone, "")
    shutil.copytree(contracts / "acme/plain/v1", contracts / "acme/other/v1")
    assert call("ids", contracts)[1].splitlines() == ["+ 5 acme/other@1 JSON", "+ 6 acme/other@1 AVRO"]


def test_ids_are_given_in_folders_of_contracts_only(tmp_path, monkeypatch, call):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    (tmp_path / "x.txt").write_text("no folder")
    for folder, reported in (
        ("notthere", "there is no folder notthere\n  Give a folder of contracts, or what `registry dump` wrote."),
        ("x.txt", "there is no folder x.txt\n  Give a folder of contracts, or what `registry dump` wrote."),
        ("empty", "empty contains nothing for a registry\n  Use contracts, subjects/ or registry.yaml."),
    ):
        assert call("ids", folder) == (2, "", f"error: {reported}\n")
    assert sorted(file.name for file in tmp_path.rglob("*")) == ["empty", "x.txt"]


def test_the_last_contract_of_a_folder_may_go(contracts, call):
    call("ids", contracts)
    shutil.rmtree(contracts / "acme")
    assert call("ids", contracts)[1].count("(retired)") == 4
    assert call("ids", contracts) == (0, "every schema has an id\n", "")


def test_a_schema_that_has_an_id_is_not_changed(contracts, call):
    call("ids", contracts)
    schema = contracts / "acme/plain/v1/envelope.schema.json"
    schema.write_text(schema.read_text().replace('"title"', '"$comment": "prose may change",\n  "title"', 1))
    assert call("ids", contracts)[0] == 0
    schema.write_text(schema.read_text().replace('"type": "object"', '"type": ["object"]', 1))
    code, _, err = call("ids", contracts)
    assert (code, "acme/plain@1 JSON has changed since it was given id 1" in err) == (2, True)


def test_contracts_and_the_values_of_topics_are_registered_under_the_ids_of_the_lock(
    contracts, server, call, ask, capsys
):
    call("ids", contracts)
    (contracts.parent / "cdc-contracts.yaml").write_text("contracts: [contracts]\n")
    assert main(["bind", "orders", "acme/plain@2"]) == 0
    capsys.readouterr()
    code, out, _ = call("apply", contracts, "--url", server)
    assert (code, [line for line in out.splitlines() if line.startswith("+")]) == (0, [
        "+ acme.plain 1 (id 1, acme/plain@1 JSON)",
        "+ acme.plain 2 (id 3, acme/plain@2 JSON)",
        "+ acme.plain.avro 1 (id 2, acme/plain@1 AVRO)",
        "+ acme.plain.avro 2 (id 4, acme/plain@2 AVRO)",
        "+ orders-value 1 (id 3, acme/plain@2 JSON)",
    ])  # fmt: skip
    assert ask("GET", "/subjects") == ["acme.plain", "acme.plain.avro", "orders-value"]
    assert ask("GET", "/schemas/ids/3/subjects") == ["acme.plain", "orders-value"]
    schema = json.loads(ask("GET", "/subjects/orders-value/versions/latest")["schema"])
    assert schema["$id"] == "urn:cdc-contracts:acme:plain:v2"
    assert call("plan", contracts, "--url", server, "--prune") == (0, "", "nothing to do\n")
    assert lock_of(contracts)[3:4] == [["3", "orders-value@1", "JSON"]]
    assert main(["lint", "contracts"]) == 0


def test_a_topic_bound_to_another_version_gets_one_more_and_an_incompatible_one_is_refused(here, server, call, ask):
    folder = here / "held"
    (folder / "subjects").mkdir(parents=True)
    (folder / "registry.yaml").write_text("global: {config: {compatibility: FULL}, mode: READWRITE}\n")
    settings = here / "cdc-contracts.yaml"
    settings.write_text("topics: {orders: oms-community/default@1}\n")
    assert call("push", folder, "--url", server)[0] == 0
    settings.write_text("topics: {orders: oms-community/default@2}\n")
    assert "`cdc-contracts diff oms-community/default@1" in call("plan", folder, "--url", server)[1]
    code, out, _ = call("push", folder, "--url", server)
    assert (code, out) == (0, "+ orders-value 2 (id 31, oms-community/default@2 JSON)\n")
    settings.write_text("topics: {orders: drs/json@2}\n")
    code, out, err = call("push", folder, "--url", server)
    assert (code, "! orders-value 3: incompatible at" in out, "nothing was written" in err) == (1, True, True)
    assert ask("GET", "/subjects/orders-value/versions") == [1, 2]
    assert call("plan", folder, "--url", server, "--no-topics")[0] == 1  # the level alone


def test_ids_that_the_server_gives_come_back_into_the_lock(contracts, server, call, ask):
    for number in range(3):
        ask("POST", f"/subjects/other-{number}/versions", {**PLAIN, "schema": json.dumps({"maxItems": number})})
    assert call("push", contracts, "--url", server)[0] == 0
    assert lock_of(contracts) == [
        ["4", "acme/plain@1", "JSON"], ["5", "acme/plain@2", "JSON"],
        ["6", "acme/plain@1", "AVRO"], ["7", "acme/plain@2", "AVRO"],
    ]  # fmt: skip
    assert call("push", contracts, "--url", server) == (0, "nothing to do\n", "")
    assert call("ids", contracts) == (0, "every schema has an id\n", "")


def test_what_is_newer_on_the_server_is_pulled_and_what_was_edited_here_is_kept(here, server, call, ask):
    folder = here / "held"
    ask("POST", "/subjects/orders-value/versions", PLAIN)
    assert call("pull", folder, "--url", server)[:2] == (0, "+ orders-value 1\n+ registry.yaml\n")
    assert call("pull", folder, "--url", server) == (0, "the server has nothing new\n", "")
    ask("PUT", "/config/orders-value", {"compatibility": "NONE"})
    ask("POST", "/subjects/orders-value/versions", {**PLAIN, "schema": '{"type":"string"}'})
    file = folder / "subjects/orders-value/v1.json"
    file.write_text('{"type":"object","maxProperties":9}')
    code, out, err = call("pull", folder, "--url", server)
    assert (code, out.splitlines()) == (1, [
        "+ orders-value 2", "+ registry.yaml",
        "! orders-value 1 is one schema here and a different schema on the server",
    ])  # fmt: skip
    assert "--force" in err
    assert "maxProperties" in file.read_text()
    assert (folder / "subjects/orders-value/v2.json").read_text() == '{"type":"string"}'
    assert call("pull", folder, "--url", server, "--force")[0] == 0
    assert file.read_text() == '{"type":"object"}'
    assert call("plan", folder, "--url", server, "--prune") == (0, "", "nothing to do\n")


def test_dump_writes_over_nothing_unless_forced_and_forgets_no_id(here, server, call, ask):
    folder = here / "held"
    ask("POST", "/subjects/orders-value/versions", PLAIN)
    ask("POST", "/subjects/visits-value/versions", {**PLAIN, "schema": '{"type":"string"}'})
    assert call("dump", folder, "--url", server)[0] == 0
    assert call("dump", folder, "--url", server)[0] == 2
    ask("DELETE", "/subjects/visits-value")
    ask("DELETE", "/subjects/visits-value?permanent=true")
    assert call("dump", folder, "--url", server, "--force")[0] == 0
    assert [one.name for one in sorted((folder / "subjects").glob("*-value"))] == ["orders-value"]
    assert (folder / "ids.lock").read_text().splitlines()[2].endswith(" retired")


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    """A server that the whole shipped catalogue was applied to."""
    from registry_servers import serving

    with serving(f"sqlite:///{tmp_path_factory.mktemp('published')}/store.db") as address:
        assert main(["registry", "apply", str(shipped_catalogue().roots[0]), "--url", address, "--no-topics"]) == 0
        yield address


def test_the_catalogue_comes_back_from_a_server_as_it_was(published):
    own = shipped_catalogue()
    with RegistryClient(Access(published)) as client:
        stored = read_contracts(client, tuple(own.all_versions()))
    assert stored.missing == []
    again = Catalogue([folder_of(stored.files)])
    assert again.subjects() == own.subjects()
    for version in own.all_versions():
        other = again.version(version.reference)
        assert (other.fingerprint, other.schema, other.avro_schema) == (
            version.fingerprint,
            version.schema,
            version.avro_schema,
        )
        for name in version.resolved.get("avro", {}).get("schemas", ()):
            assert other.file(name) is not None
    assert len(bundle(again).files) == 3 * len(tuple(own.all_versions())) + len(own.mapping_names()) + 2


def test_what_a_registry_does_not_have_is_said(contracts, server, call, ask):
    """A registry that drops metadata keeps schemas only."""
    from cdc_contracts.registry.authoring.sync.publications import published_texts

    versions = open_own_versions(contracts)
    texts = published_texts(versions[0])
    changed = json.dumps({**json.loads(texts["JSON"]), "maxProperties": 9})
    ask("POST", "/subjects/acme.plain/versions", {"schema": changed, "schemaType": "JSON"})
    ask("POST", "/subjects/acme.plain.avro/versions", {"schema": texts["AVRO"]})
    ask("POST", "/subjects/dts.unrelated/versions", PLAIN)
    with RegistryClient(Access(server)) as client:
        stored = read_contracts(client, versions)
    assert sorted(stored.missing) == [
        "the registry lacks the meaning of acme.plain 1, which is taken from here; its schema differs from the one here",
        "the registry lacks the meaning of acme.plain.avro 1, which is taken from here; its schema equals the one here",
    ]
    assert Catalogue([folder_of(stored.files)]).version("acme/plain@1").fingerprint == versions[0].fingerprint


def test_the_context_that_a_server_shows_its_contracts_in_is_none_of_a_folder():
    assert CATALOGUE_CONTEXT == CONTEXT


def test_a_level_that_no_file_asks_for_is_reported_with_its_reason(contracts, server, call):
    call("ids", contracts)
    why = "a new version of a contract may break the one before it; set another level in registry.yaml"
    out = call("plan", contracts, "--url", server)[1]
    assert f"~ acme.plain config unset -> compatibility=NONE ({why})" in out.splitlines()
    (contracts / "registry.yaml").write_text("subjects: {acme.plain: {config: {compatibility: FULL}}}\n")
    out = call("plan", contracts, "--url", server)[1]
    assert "~ acme.plain config unset -> compatibility=FULL" in out.splitlines()
