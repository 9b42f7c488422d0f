"""What a server holds is a folder, and the folder makes an empty server hold the same: to the byte."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from urllib.parse import quote

import patient
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from registry_servers import serving

from cdc_contracts.registry.authoring.sync.deployment import carry_out, prepare
from cdc_contracts.registry.authoring.sync.id_locks import Entry, Lock
from cdc_contracts.registry.authoring.sync.registry_client import Access, RegistryClient
from cdc_contracts.registry.authoring.sync.registry_contents import GLOBAL, HeldSchema, Holdings, ScopeSettings
from cdc_contracts.registry.authoring.sync.registry_folders import write_folder
from cdc_contracts.registry.authoring.sync.retrieval import dump_server
from cdc_contracts.registry.authoring.sync.schema_digests import schema_digest

PERSON = '{"type":"record","name":"Person","fields":[]}'
ORDER = '{"type":"record","name":"Order","fields":[{"name":"who","type":"Person"}]}'
RULES = {"domainRules": [{"name": "r", "kind": "CONDITION", "type": "CEL", "mode": "WRITE", "expr": "1 == 1"}]}


def files_of(root):
    return {file.relative_to(root).as_posix(): file.read_bytes() for file in sorted(root.rglob("*")) if file.is_file()}


def fill(address):
    """Do to a server what years do: odd names, gaps, deleted versions, references, settings."""
    with patient.Client(base_url=address) as client:

        def ask(method, *path, **body):
            answer = client.request(method, "/" + "/".join(quote(one, safe="") for one in path), json=body or None)
            assert answer.status_code == 200, answer.text
            return answer.json()

        def register(subject, schema, **more):
            return ask("POST", "subjects", subject, "versions", schema=schema, **more)

        register("orders-value", '{ "type" :\n\t"object",  "maxProperties": 1.50e2 }', schemaType="JSON")
        register("bestellungen/größe→値 %2F", '{"type":"object","title":"größe"}', schemaType="JSON")
        ask("PUT", "config", "evolving", compatibility="NONE")
        for number in range(4):
            register("evolving", json.dumps({"maxItems": number}), schemaType="JSON")
        ask("DELETE", "subjects", "evolving", "versions", "1")
        ask("DELETE", "subjects", "evolving", "versions", "2")
        client.delete("/subjects/evolving/versions/2?permanent=true")
        register("a copy", json.dumps({"maxItems": 3}), schemaType="JSON")
        register(":.team:orders-value", '{"type":"object"}', schemaType="JSON")
        ask("PUT", "config", ":.team:", compatibility="FULL")
        register("person", PERSON)
        register(
            "order", ORDER, references=[{"name": "Person", "subject": "person", "version": 1}],
            metadata={"properties": {"owner": "zoë", "since": "2026-01-01", "yes": "no"}}, ruleSet=RULES,
        )  # fmt: skip
        for subject in ("gone", "twice"):
            register(subject, '"string"')
            ask("DELETE", "subjects", subject)
        register("twice", '"string"')
        ask("PUT", "config", "gone", compatibility="FULL_TRANSITIVE")
        ask("PUT", "config", compatibility="BACKWARD_TRANSITIVE")
        ask("PUT", "mode", "orders-value", mode="READONLY")


def test_an_empty_server_holds_what_the_first_one_held(make_server, here, call):
    first, second = make_server(), make_server()
    fill(first)
    assert call("dump", "one", "--url", first)[:2] == (0, "one: 9 subjects, 12 versions\n")
    assert call("plan", "one", "--url", second)[0] == 1
    code, out, _ = call("apply", "one", "--url", second)
    assert (code, out.count("\n")) == (0, 17)
    assert call("plan", "one", "--url", second, "--prune") == (0, "", "nothing to do\n")
    assert call("dump", "two", "--url", second)[0] == 0
    one, two = files_of(here / "one"), files_of(here / "two")
    assert one == two
    assert sorted(one) == [
        "ids.lock",
        "registry.yaml",
        "subjects/%3A.team%3Aorders-value/v1.json",
        "subjects/.gitattributes",
        "subjects/a%20copy/v1.json",
        "subjects/bestellungen%2Fgr%C3%B6%C3%9Fe%E2%86%92%E5%80%A4%20%252F/v1.json",
        "subjects/evolving/v1.json",
        "subjects/evolving/v1.yaml",
        "subjects/evolving/v3.json",
        "subjects/evolving/v4.json",
        "subjects/gone/v1.avsc",
        "subjects/gone/v1.yaml",
        "subjects/order/v1.avsc",
        "subjects/order/v1.yaml",
        "subjects/orders-value/v1.json",
        "subjects/person/v1.avsc",
        "subjects/twice/v1.avsc",
        "subjects/twice/v1.yaml",
        "subjects/twice/v2.avsc",
    ]
    assert one["subjects/evolving/v1.yaml"] == b"deleted: true\n"
    assert b"1.50e2" in one["subjects/orders-value/v1.json"]
    assert one["registry.yaml"].decode() == (
        "contexts:\n  .team:\n    config:\n      compatibility: FULL\n"
        "global:\n  config:\n    compatibility: BACKWARD_TRANSITIVE\n  mode: READWRITE\n"
        "subjects:\n  evolving:\n    config:\n      compatibility: NONE\n"
        "  gone:\n    config:\n      compatibility: FULL_TRANSITIVE\n  orders-value:\n    mode: READONLY\n"
    )
    ids = [line.split(" ")[:2] for line in one["ids.lock"].decode().splitlines()[1:]]
    assert ids == [
        ["1", "%3A.team%3Aorders-value@1"], ["1", "orders-value@1"],
        ["2", "bestellungen%2Fgr%C3%B6%C3%9Fe%E2%86%92%E5%80%A4%20%252F@1"],
        ["3", "evolving@1"], ["5", "evolving@3"], ["6", "a%20copy@1"], ["6", "evolving@4"], ["7", "person@1"],
        ["8", "order@1"], ["9", "gone@1"], ["9", "twice@1"], ["9", "twice@2"],
    ]  # fmt: skip


NAMES = st.sampled_from(["orders-value", "a/b:c", "..", ".hidden", "größe→値", "%41", "A~b", "x" * 300, "true", "v1"])
CONTEXTS = st.sampled_from(["", "", ":.team:", ":.größe x:"])
LEVELS = st.sampled_from(["NONE", "FULL", "FORWARD_TRANSITIVE"])
TEXTS = [json.dumps({"maxItems": number, "title": title}, ensure_ascii=False, separators=(",", ":"))
         for number in range(3) for title in ("", "größe\u2028", "null")]  # fmt: skip


@st.composite
def holdings_of_any_kind(draw):
    """Subjects in contexts, with versions, gaps, deleted ones and shared ids, settings, and one that refers to another."""
    holdings, lock = Holdings(), Lock()
    first = draw(st.integers(1, 500_000))
    for subject in draw(st.lists(st.tuples(CONTEXTS, NAMES).map("".join), min_size=1, max_size=4, unique=True)):
        for version in draw(st.lists(st.integers(1, 9), min_size=1, max_size=3, unique=True)):
            index = draw(st.integers(0, len(TEXTS) - 1))
            schema = HeldSchema(subject, version, "JSON", TEXTS[index], first + 7 * index, deleted=draw(st.booleans()))
            holdings.add(schema)
        settings_ = draw(st.tuples(st.none() | LEVELS, st.none() | st.just("READONLY")))
        level, mode = settings_
        config = None if level is None else {"compatibility": level}
        if config or mode:
            holdings.settings[subject] = ScopeSettings(config, mode)
    if draw(st.booleans()):
        deleted = draw(st.booleans())
        holdings.add(HeldSchema("person", 4, "AVRO", PERSON, 900_001, deleted=deleted and draw(st.booleans())))
        reference = {"name": "Person", "subject": "person", "version": 4}
        holdings.add(HeldSchema("a order", 1, "AVRO", ORDER, 900_002, references=(reference,), deleted=deleted))
    holdings.settings[GLOBAL] = ScopeSettings({"compatibility": draw(LEVELS)}, "READWRITE")
    for schema in holdings.schemas.values():
        lock.add(Entry(schema.id, schema.key, schema_digest(schema.type, schema.text, schema.references)))
    return holdings, lock


@settings(max_examples=4, phases=[Phase.generate])
@given(holdings_of_any_kind())
def test_any_folder_is_what_is_dumped_once_it_is_applied(found):
    holdings, lock = found
    with tempfile.TemporaryDirectory() as folder, serving(f"sqlite:///{folder}/store.db") as address:
        first, second = Path(folder) / "first", Path(folder) / "second"
        write_folder(first, holdings, lock)
        with RegistryClient(Access(address)) as client:
            list(carry_out(client, prepare(client, first, {}, prune=False)))
            assert prepare(client, first, {}, prune=True).plan.changes_nothing
            dump_server(client, second, force=False)
        assert files_of(first) == files_of(second)
