"""Both schemas beside every contract: there, whole, each its own, and what its contract says."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from both_paths import CATALOGUE
from topics import VERSION_FOLDERS

from cdc_contracts.cli.app import main
from cdc_contracts.registry.core.contract.catalogue import shipped_catalogue
from cdc_contracts.registry.core.schema.message_schemas.schema_files import stale_files

EVERY = [*CATALOGUE.all_versions(), CATALOGUE.canonical]
GROUPS = (
    "op-codes",
    "images-by-op",
    "row-counts",
    "releases",
    "ddl-flag",
    "lengths-of-types",
    "codes",
    "positions",
    "times",
    "column-counts",
    "kept-rows",
    "told-forms",
    "whole-rows-in-",
    "types-",
)
"""Definitions that ask something of members which are described elsewhere."""
RESERVED = {
    "abstract", "and", "as", "assert", "async", "await", "boolean", "break", "byte", "case", "catch", "char", "class",
    "const", "continue", "def", "default", "del", "do", "double", "elif", "else", "enum", "except", "extends", "final",
    "finally", "float", "for", "from", "global", "goto", "if", "implements", "import", "in", "instanceof", "int",
    "interface", "is", "lambda", "long", "native", "new", "nonlocal", "not", "null", "or", "package", "pass", "private",
    "protected", "public", "raise", "record", "return", "short", "static", "strictfp", "super", "switch",
    "synchronized", "this", "throw", "throws", "transient", "true", "false", "try", "var", "void", "volatile", "while",
    "with", "yield", "func", "go", "type", "val", "when", "object", "fun", "mod", "use", "fn", "match", "trait",
}  # fmt: skip
"""Words that Java, Kotlin, Python, Go, C# or Rust keep for themselves."""


def held(version, name):
    return version.folder.joinpath(name).read_text(encoding="utf-8")


def test_every_version_has_both_schemas_as_they_are_written_from_its_contract():
    assert [(version.reference, stale_files(version, missing=True)) for version in EVERY] == [
        (version.reference, {}) for version in EVERY
    ]


@pytest.mark.parametrize("name", ["message.schema.json", "message.avsc"])
def test_no_two_versions_share_a_schema(name):
    texts = {held(version, name) for version in EVERY}
    assert len(texts) == len(EVERY) == len(VERSION_FOLDERS) + 1  # and the canonical change


@pytest.mark.parametrize("version", EVERY, ids=str)
def test_a_schema_says_which_version_it_is_and_what_that_holds_for(version):
    system, dialect = version.subject.split("/")
    reported, avro = (json.loads(held(version, name)) for name in ("message.schema.json", "message.avsc"))
    assert reported["$id"] == f"urn:cdc-contracts:{system}:{dialect}:v{version.number}"
    assert f"version {version.number}" in reported["title"]
    assert version.resolved["title"] in reported["title"]
    assert f"Contract {version.reference}, {version.resolved['status']}." in reported["description"]
    for bound in ("since", "until"):
        assert version.resolved.get("applies", {}).get(bound, "") in reported["description"]
    assert avro["contract"] == version.reference
    assert avro["doc"] == f"{reported['title']}. {reported['description']}"
    if version.resolved.get("transport") == "avro":
        assert avro["namespace"] == "com.alibaba.dts.formats.avro"  # the names on the wire are the vendor's
    else:
        own = f"{system}_{dialect}".replace("-", "_")
        assert avro["namespace"] == f"cdc_contracts.{own}.v{version.number}"


@pytest.mark.parametrize("version", EVERY, ids=str)
def test_no_name_in_avro_is_a_reserved_word(version):
    def names(schema):
        if isinstance(schema, list):
            for branch in schema:
                yield from names(branch)
        elif isinstance(schema, dict):
            yield from schema.get("namespace", "").split(".") if "namespace" in schema else ()
            yield from (name for key in ("symbols",) for name in schema.get(key, ()))
            for field in schema.get("fields", ()):
                yield from names(field["type"])
            yield from names(schema.get("items"))
            yield from names(schema.get("values"))

    reported = list(names(json.loads(held(version, "message.avsc"))))
    assert reported
    assert [name for name in reported if name in RESERVED] == []


def unsaid_members(whole, schema, path):
    """Yield the members of a JSON Schema without a description, their own or of what they refer to."""
    for name, below in schema.get("properties", {}).items():
        named = below.get("$ref", "").rpartition("/")[2]
        said = {**whole["$defs"].get(named, {}), **below} if named else below
        if not said.get("description"):
            yield f"{path}/{name}"
        yield from unsaid_members(whole, said, f"{path}/{name}") if not named else ()
        yield from unsaid_members(whole, said.get("items", {}), f"{path}/{name}/0") if not named else ()


def unsaid_fields(schema, path):
    """Yield the records, enums and fields of an Avro schema without a doc."""
    for branch in schema if isinstance(schema, list) else ():
        yield from unsaid_fields(branch, path)
    if isinstance(schema, dict):
        if schema.get("type") in ("record", "enum") and not schema.get("doc"):
            yield f"{path}:{schema['name']}"
        for field in schema.get("fields", ()):
            yield from (f"{path}/{field['name']}",) if not field.get("doc") else ()
            yield from unsaid_fields(field["type"], f"{path}/{field['name']}")
        yield from unsaid_fields(schema.get("items"), f"{path}/0")
        yield from unsaid_fields(schema.get("values"), f"{path}/*")


@pytest.mark.parametrize("version", EVERY, ids=str)
def test_every_member_and_field_says_what_it_holds(version):
    reported = json.loads(held(version, "message.schema.json"))
    assert list(unsaid_members(reported, reported, "")) == []
    assert [one for name in reported.get("$defs", {}) for one in unsaid_members(reported, reported["$defs"][name], name)
            if not name.startswith(GROUPS)] == []  # fmt: skip
    assert list(unsaid_fields(json.loads(held(version, "message.avsc")), "")) == []


@pytest.mark.parametrize("version", EVERY, ids=str)
def test_every_reference_leads_to_a_definition_and_every_value_form_is_one(version):
    text = held(version, "message.schema.json")
    reported = json.loads(text)
    assert set(re.findall(r'"#/\$defs/([^"]+)"', text)) <= reported.get("$defs", {}).keys()
    for mapping in version.mapping_names() if version in EVERY[:-1] else ():
        for form, types in CATALOGUE.resolved_mapping(mapping).get("forms", {}).items():
            defined = [
                one
                for name, one in reported["$defs"].items()
                if name in (plain := form.replace(".", "-"), f"{plain}-of-{mapping}")
            ]
            assert len(defined) == 1
            assert defined[0]["description"]
            assert len(defined[0]["examples"]) == 1
            assert types


@pytest.mark.nightly
def test_a_foreign_validator_of_schemas_takes_them_all():
    files = [str(version.folder.joinpath("message.schema.json")) for version in EVERY]
    done = subprocess.run(
        [sys.executable, "-m", "check_jsonschema", "--check-metaschema", *files],
        check=False, capture_output=True, text=True,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, ""), done.stdout


def test_files_are_written_once_and_a_stale_one_is_found_and_renewed(tmp_path, capsys):
    folder = tmp_path / "contracts/acme/orders/v1"
    folder.mkdir(parents=True)
    text = "contract: acme/orders@1\nbased_on: dts/canal@2\ntitle: Orders of Acme\n"
    (folder / "contract.yaml").write_text(text)
    root = str(tmp_path / "contracts")
    assert main(["schema", "--write", root]) == 0
    assert capsys.readouterr().out == "".join(
        f"wrote {folder / name}\n" for name in ("message.schema.json", "message.avsc")
    )
    assert json.loads((folder / "message.schema.json").read_text())["$id"] == "urn:cdc-contracts:acme:orders:v1"
    assert main(["schema", "--write", root]) == 0
    assert capsys.readouterr().out == ""
    main(["lint", root])
    assert "L30" not in capsys.readouterr().out
    (folder / "contract.yaml").write_text(text + "status: legacy\n")
    assert main(["lint", root]) == 1
    reported = capsys.readouterr().out
    assert reported.count("L30 message-schemas-fresh") == 2
    assert "cdc-contracts schema --write" in reported
    assert main(["schema", "--write", root]) == 0
    main(["lint", root])
    assert "L30" not in capsys.readouterr().out


def test_what_cannot_be_written_is_reported_and_leaves_nothing_half_written(tmp_path, capsys):
    assert main(["schema"]) == 2
    assert main(["schema", "dts/canal@2", "--write", str(tmp_path)]) == 2
    assert main(["schema", "--write", str(tmp_path / "none")]) == 2
    assert main(["schema", "--write", str(tmp_path)]) == 2
    assert main(["schema", "dts/cannal@2"]) == 2
    assert main(["schema", "dts/canal@2", "--format", "xml"]) == 2
    assert "Traceback" not in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_the_schemas_are_in_the_package():
    (root,) = shipped_catalogue().roots
    assert root.joinpath("dts/canal/v2/message.schema.json").is_file()


def test_a_mapping_with_a_value_form_that_does_not_exist_is_refused_as_lint_refuses_it(tmp_path, capsys):
    shutil.copytree(Path(__file__).parents[1] / "lint/contracts", tmp_path / "own")
    mapping = tmp_path / "own/acme/types/acme.yaml"
    mapping.write_text(mapping.read_text(encoding="utf-8").replace("text: [TEXT]", "txt: [TEXT]"), encoding="utf-8")
    assert main(["schema", "--write", str(tmp_path / "own")]) == 2
    reported = capsys.readouterr().err
    assert "forms.txt: there is no value form `txt` (types/acme.yaml)" in reported
    assert "Did you mean text?" in reported
    assert main(["lint", str(tmp_path / "own"), "--format", "json"]) == 1
    found = json.loads(capsys.readouterr().out)["findings"]
    assert [(one["rule"], one["path"], one["observed"]) for one in found] == [("L03", "/forms/txt", "txt")]
