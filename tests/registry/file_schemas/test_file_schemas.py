"""The schemas of the files that a person writes: fresh, as strict as the readers, and used by the real editor server."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from language_servers import Editor, language_server

from cdc_contracts.registry.core.common.subschemas import every_schema
from cdc_contracts.registry.core.common.yaml_documents import parse_document
from cdc_contracts.registry.file_schemas.published_schemas import FILE_SCHEMAS, FOLDER, SUFFIX, file_schema_texts
from cdc_contracts.registry.file_schemas.registry_settings import RegistryConfig, RegistryScope

ROOT = Path(__file__).parents[3]
CONTRACTS = ROOT / "contracts"
CHECK = Path(sys.executable).with_name("check-jsonschema")
FILES = {
    "contract": sorted(CONTRACTS.glob("*/*/v*/contract.yaml")),
    "mapping": sorted(CONTRACTS.glob("*/types/*.yaml")),
    "table": sorted(CONTRACTS.rglob("tables/*.yaml")),
    "errata": [CONTRACTS / "errata.yaml"],
    "documents": [CONTRACTS / "documents.yaml"],
}
V1, V2 = CONTRACTS / "dts/canal/v1/contract.yaml", CONTRACTS / "dts/canal/v2/contract.yaml"


@cache
def schema_of(name):
    return FILE_SCHEMAS[name]()


def takes(name, document):
    return Draft202012Validator(schema_of(name)).is_valid(document)


def read(file):
    return parse_document(file.read_text(encoding="utf-8"), str(file))


def test_the_files_are_what_the_models_say():
    written = [*FOLDER.glob(f"*{SUFFIX}"), *FOLDER.parent.glob(f"core/report/*{SUFFIX}")]
    reported = {os.path.relpath(path, FOLDER): path.read_text(encoding="utf-8") for path in written}
    assert reported == file_schema_texts(), (
        "write them: python -m cdc_contracts.registry.file_schemas.published_schemas"
    )


@pytest.mark.parametrize("name", FILE_SCHEMAS)
def test_every_key_is_explained(name):
    schema = schema_of(name)
    Draft202012Validator.check_schema(schema)
    objects = [one for one in every_schema(schema) if "properties" in one and "additionalProperties" in one]
    assert [key for one in objects for key, below in one["properties"].items() if not below.get("description")] == []


@pytest.mark.parametrize("name", FILES)
def test_every_file_of_the_catalogue_conforms(name, part):
    files = part(FILES[name], 3)
    assert files
    checked = subprocess.run(
        [CHECK, "--schemafile", FOLDER / f"{name}{SUFFIX}", *files], capture_output=True, text=True, check=False
    )  # fmt: skip
    assert checked.returncode == 0, checked.stdout


def test_every_file_of_the_catalogue_names_its_schema():
    for name, files in FILES.items():
        for file in files:
            first = file.read_text(encoding="utf-8").split("\n", 1)[0]
            found = re.fullmatch(r"# yaml-language-server: \$schema=(\S+)", first)
            assert found, file
            assert (file.parent / found[1]).resolve() == (FOLDER / f"{name}{SUFFIX}").resolve(), file


@pytest.mark.parametrize(
    "change",
    [
        {"envelop": {}},
        {"envelope": {"op": {"at": "/type"}, "event_tme": {"at": "/es"}}},
        {"envelope": {"event_time": {"at": "/es"}}},
        {"envelope": {"op": {"at": "/type"}, "event_time": {"form": "epoch-millis"}}},
        {"status": "currant"},
        {"ops": {"INSERT": "put"}},
        {"full_load": None},
        {"discriminators": [{"present": "/id", "absent": "/es"}]},
        {"discriminators": [{"presnt": "/id"}]},
        {"rules": ["columns-typd"]},
    ],
)
def test_what_no_contract_says_is_refused(change):
    assert takes("contract", read(V1))
    assert not takes("contract", read(V1) | change)


def test_a_version_may_say_only_what_differs_and_take_keys_back():
    patch = {"contract": "a/b@2", "based_on": "a/b@1"}
    for change in (
        {}, {"split_update": None}, {"envelope": {"position": {"monotonic": "strict"}}}, {"ops": {"INIT": None}},
        {"images": {"insert": {"after": {"at": "/data", "or": None}}}}, {"applies": {"since": "3.3.0", "until": None}},
    ):  # fmt: skip
        assert takes("contract", patch | change), change
    for change in ({"halvs": None}, {"discriminators": [{}]}, {"envelope": {"position": {"rise": "always"}}}):
        assert not takes("contract", patch | change), change
    assert not takes("contract", {"contract": "a/b@2"})


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("mapping", {"mapping": "m", "forms": {"text": ["CHAR"]}}, {"mapping": "m", "forms": {"texts": ["CHAR"]}}),
        ("mapping", {"mapping": "m", "based_on": "n", "forms": {"text": None}}, {"mapping": "m", "alias": {}}),
        ("table", {"table": "a.b", "columns": {"id": {"type": "int"}}}, {"table": "a.b", "columns": {"id": {}}}),
        (
            "table",
            {"table": "a.b", "columns": {"id": {"type": "int", "nullable": None}}},
            {"table": "a.b", "columns": {}},
        ),
        ("settings", {"topics": {"t": "dts/canal@2"}, "tables": None}, {"topic": {}}),
        ("settings", {"parameters": {"time_zone": "+08:00"}}, {"parameters": {"timezone": "+08:00"}}),
        (
            "settings",
            {"parameters": {"op_member": "op", "decimal.handling.mode": "string"}},
            {"parameters": {"op": "x"}},
        ),
        (
            "registry",
            {"global": {"config": {"compatibility": "full"}}},
            {"global": {"config": {"compatability": "full"}}},
        ),
        ("registry", {"subjects": {"a-value": {"mode": "IMPORT"}}}, {"subjects": {"a-value": {"mode": "WRITE"}}}),
        ("users", {"users": {"ann": {"token": "sha256$00", "rights": []}}}, {"users": {"ann": {"rights": []}}}),
        ("users", {"users": {}, "anonymous": None}, {"users": {"a:b": {"token": "t", "rights": []}}}),
        ("errata", [], [{"id": "E1"}]),
        ("documents", {"documents": {}}, {"documents": {"a.txt": {"title": "A", "vendor": "B", "product": "C"}}}),
    ],
)
def test_the_other_files_are_held_as_their_readers_hold_them(name, good, bad):
    assert takes(name, good)
    assert not takes(name, bad)


def test_the_words_of_a_registry_are_those_that_the_registry_knows():
    entities = pytest.importorskip("cdc_contracts.registry.server.protocol.entities")
    policies = pytest.importorskip("cdc_contracts.registry.server.store.policies")
    known = {field.alias or name for name, field in entities.ConfigUpdate.model_fields.items()}
    assert {field.alias or name for name, field in RegistryConfig.model_fields.items()} == known

    def words(model, name):
        return [value for value in str(model.model_fields[name].annotation).split("'")[1::2] if value.isupper()]

    assert words(RegistryConfig, "compatibility") == [level.value for level in policies.Level]
    assert words(RegistryConfig, "compatibility_policy") == list(policies.POLICY_NAMES)
    assert words(RegistryScope, "mode") == [mode.value for mode in policies.Mode]


@pytest.fixture(scope="module")
def editor(tmp_path_factory):
    command = language_server(tmp_path_factory.mktemp("node"))
    if isinstance(command, str):
        pytest.skip(command)
    started = Editor(command, ROOT)
    yield started
    started.close()


def test_an_editor_finds_nothing_wrong_with_the_catalogue(editor):
    for file in (V1, V2, FILES["mapping"][0], FILES["table"][0], *FILES["errata"]):
        assert editor.diagnose(file, file.read_text(encoding="utf-8")) == [], file


@pytest.mark.parametrize(
    ("file", "right", "wrong", "reported"),
    [
        (V1, "event_time:", "event_tme:", "Property event_tme is not allowed."),
        (V1, "order: integer", "order: number", 'Value is not accepted. Valid values: "integer", "opaque".'),
        (V2, "{before:", "{befor:", "Property befor is not allowed."),
        (CONTRACTS / "dts/types/dts-canal.yaml", "year-text:", "yeer-text:", "Property yeer-text is not allowed."),
        (CONTRACTS / "errata.yaml", "  decision: note", "  decison: note", "Property decison is not allowed."),
    ],
)
def test_an_editor_marks_the_line_of_a_misspelt_word(editor, file, right, wrong, reported):
    text = file.read_text(encoding="utf-8")
    line = next(number for number, one in enumerate(text.split("\n"), 1) if right in one)
    assert (line, reported) in editor.diagnose(file, text.replace(right, wrong, 1))


def test_an_editor_completes_keys_and_words_and_explains_them(editor):
    text = V1.read_text(encoding="utf-8")
    keys = editor.complete(V1, text + "|")
    assert keys["split_update"] == "How the two messages of a split update are joined."
    assert "envelope" not in keys, "it is there already"
    below = editor.complete(V1, text.replace("ops: {INSERT", "  |\nops: {INSERT"))
    assert below["checkpoint"].startswith("Where the point is up to which everything was sent")
    words = editor.complete(V1, text.replace("form: epoch-millis}", "form: |}", 1))
    assert {"epoch-millis", "epoch-seconds", "iso-local"} <= set(words)
    assert "How rows of the full load are written." in editor.explain(V1, text.replace("own-op", "own|-op"))
