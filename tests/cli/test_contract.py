"""`contract new` writes a folder that lints clean, asks what messages do not show, and refuses what cannot be said."""

from __future__ import annotations

import io
import json
import re
import shutil
import sys
from pathlib import Path

import jsonschema
import pytest
import yaml
from home_made import flat, listed, written
from topics import rendered

from cdc_contracts.cli.app import main
from cdc_contracts.registry.core.common import atomic_files
from cdc_contracts.registry.core.common.errors import UnavailableError
from cdc_contracts.registry.core.contract.bundle import bundle
from cdc_contracts.registry.core.contract.catalogue import Catalogue


@pytest.fixture
def messages(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, made in (("flat", flat()), ("listed", listed())):
        (tmp_path / f"{name}.jsonl").write_bytes(b"\n".join(written(made)) + b"\n")
    return tmp_path


def test_a_contract_is_drafted_checked_and_used(messages, capsys):
    assert main(["contract", "new", "acme/flat", "flat.jsonl"]) == 0
    told = capsys.readouterr()
    assert told.out.startswith("contracts/acme/flat/v1: acme/flat@1, to which all 30 messages conform\n")
    assert "contracts/acme/flat/v1/contract.yaml:4: which releases or dates does it hold for" in told.out
    assert told.err == "lint: no findings\n"
    lines = (messages / "contracts/acme/flat/v1/contract.yaml").read_text().split("\n")
    asked = [line for line in told.out.split("\n") if line.startswith("contracts/acme/flat/v1/contract.yaml:")]
    assert all("# QUESTION: " in lines[int(line.split(":")[1]) - 1] for line in asked)
    assert main(["lint", "contracts"]) == 0
    capsys.readouterr()
    assert main(["check", "flat.jsonl", "--contracts", "contracts"]) == 0
    assert "30 conforming" in capsys.readouterr().err


def test_an_editor_finds_the_schema_of_each_drafted_file_and_catalogues_pass_over_it(messages):
    assert main(["contract", "new", "acme/flat", "flat.jsonl"]) == 0
    assert main(["lint", "contracts"]) == 0
    assert main(["contract", "new", "acme/flat", "flat.jsonl", "--like", "acme/flat@1"]) == 1  # `since` is a question
    files = sorted(Path("contracts/acme").rglob("*.yaml"))
    assert [one.name for one in files] == ["contract.yaml", "contract.yaml", "acme-flat.yaml"]
    for file in files:
        given, _, schema = file.read_text().split("\n", 1)[0].partition("=")
        assert given == "# yaml-language-server: $schema"
        document = yaml.safe_load(file.read_text())
        jsonschema.validate(document, json.loads((file.parent / schema).read_text()))
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(document | {"no_key_of_ours": 1}, json.loads((file.parent / schema).read_text()))
    (messages / "plain").mkdir()
    shutil.copytree("contracts/acme", messages / "plain/acme")
    one, other = (bundle(Catalogue([messages / name])).digest for name in ("contracts", "plain"))
    assert one == other


def write_texts(name, *images):
    """Write changes whose rows are JSON texts, as before and after."""
    ops = {(False, True): "c", (True, True): "u", (True, False): "d"}
    messages = [{"op": ops[before is not None, after is not None], "before": before, "after": after, "tbl": "t"}
                for before, after in images]  # fmt: skip
    Path(name).write_bytes(b"\n".join(written(messages)) + b"\n")


def test_rows_that_are_json_texts_are_drafted_checked_and_compared_with_the_nearest_contract(messages, capsys):
    ann, bob = '{"id": 1, "name": "Ann", "tags": ["a"]}', '{"id": 1, "name": "Bob", "tags": []}'
    write_texts("texts.jsonl", (None, ann), (ann, bob), (bob, None))
    assert main(["contract", "new", "acme/texts", "texts.jsonl"]) == 0
    told = capsys.readouterr()
    assert told.out.startswith("contracts/acme/texts/v1: acme/texts@1, to which all 3 messages conform\n")
    assert "The nearest contract is debezium/mongodb@1, which differs\n" in told.out
    assert told.err == "lint: no findings\n"
    assert main(["check", "texts.jsonl", "--contracts", "contracts"]) == 0
    assert "3 conforming" in capsys.readouterr().err


def test_a_text_that_holds_no_row_is_refused_with_its_place_and_a_remedy(messages, capsys):
    write_texts("texts.jsonl", (None, '{"id": 1}'), ('{"id": 1}', "null"))
    assert main(["contract", "new", "acme/texts", "texts.jsonl"]) == 4
    said = "/after holds JSON objects as texts, but in 1 of 2 messages a text that holds none (texts.jsonl:2)"
    assert capsys.readouterr().err.split("\n")[:2] == [
        f"error: no contract can express these messages: {said}",
        "  An image that is a text holds one JSON object; where there is no row, it is null. Leave the others out.",
    ]


def test_messages_of_a_topic_are_read_with_their_offsets(messages, capsys, broker, make_topic):
    values = (messages / "flat.jsonl").read_bytes().splitlines()
    topic = make_topic([(1, value) for value in values], partitions=2)
    assert main(["contract", "new", "acme/flat", "topic", topic, "-b", broker.bootstrap, "--messages", "50"]) == 0
    text = (messages / "contracts/acme/flat/v1/contract.yaml").read_text()
    assert f"in 30 of 30 messages, first in {topic}/1@0" in text
    assert f"document: {topic}" in text


def test_the_same_messages_are_not_drafted_twice_unless_the_next_version_is_asked_for(messages, capsys):
    assert main(["contract", "new", "acme/flat", "flat.jsonl"]) == 0
    before = sorted(Path("contracts").rglob("*"))
    capsys.readouterr()
    assert main(["contract", "new", "acme/flat", "flat.jsonl"]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err == (
        "error: all 30 messages conform to acme/flat@1, so nothing was drafted (contracts/acme/flat/v1)\n"
        "  Edit that version; --like acme/flat@1 drafts the next one.\n"
    )
    assert sorted(Path("contracts").rglob("*")) == before
    main(["contract", "new", "acme/flat", "flat.jsonl", "--like", "acme/flat@1"])
    assert "based_on: acme/flat@1" in Path("contracts/acme/flat/v2/contract.yaml").read_text()


def test_the_first_contract_is_drafted_into_a_folder_that_the_settings_name_already(messages, capsys):
    (messages / "cdc-contracts.yaml").write_text("contracts: [contracts]\n")
    assert main(["contract", "new", "acme/flat", "flat.jsonl"]) == 0
    assert main(["contract", "new", "acme/flat", "flat.jsonl"]) == 2
    assert "conform to acme/flat@1, so nothing was drafted" in capsys.readouterr().err


@pytest.mark.nightly
def test_a_second_contract_beside_the_first_is_distinguished_from_it(messages, capsys, monkeypatch):
    assert main(["contract", "new", "acme/flat", "flat.jsonl"]) == 0
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO((messages / "listed.jsonl").read_bytes())))
    assert main(["contract", "new", "acme/listed", "-", "--keep-values"]) == 0
    assert "warning: the samples contain data" in capsys.readouterr().err
    assert main(["lint", "contracts"]) == 0


@pytest.mark.nightly
def test_a_version_that_follows_another_has_the_next_number(messages, capsys):
    assert main(["contract", "new", "acme/flat", "flat.jsonl"]) == 0
    (messages / "later.jsonl").write_bytes(b"\n".join(written({**one, "shard": 3} for one in flat())))
    assert main(["contract", "new", "acme/flat", "later.jsonl", "--like", "acme/flat@1"]) == 1
    told = capsys.readouterr()
    assert "acme/flat@2, to which all 30 messages conform" in told.out
    assert "error L08" in told.out
    file = messages / "contracts/acme/flat/v2/contract.yaml"
    file.write_text(file.read_text().replace("{since: ,", '{since: "2.0",'))
    assert main(["schema", "--write", "contracts"]) == 0
    assert main(["lint", "contracts"]) == 0


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["acme/plain", "cells.jsonl"], 4, "error: no contract can express these messages: /after holds lists of objects"),
        (["plain", "flat.jsonl"], 2, "error: `plain` is not SYSTEM/DIALECT\n  Use lower-case letters"),
        (["acme/types", "flat.jsonl"], 2, "error: `acme/types`: types is reserved, and no contract is found there\n"),
        (["tables/plain", "flat.jsonl"], 2, "error: `tables/plain`: tables is reserved"),
        (["acme/plain", "nothing.jsonl"], 3, "error: there is no such file"),
        (["acme/plain", "text.jsonl"], 4, "error: not a message in JSON: "),
        (["acme/plain", "many.json"], 4, "(many.json:1)\n  A .json file is one message, or has a message in each line.\n"),
        (["acme/plain", "packed.avro"], 4, "error: messages in Avro (packed.avro:1)\n  Contracts are drafted from JSON messages.\n"),
        (["acme/plain", "empty.jsonl"], 4, "error: there is no message to draft a contract from"),
        (["acme/plain", "flat.jsonl", "--like", "dts/canl@2"], 2, "error: there is no contract `dts/canl`"),
        (["acme/plain", "flat.jsonl", "-b", "localhost:1"], 2, "error: "),
        (["acme/plain", "topic"], 2, "error: a topic is needed"),
    ],
    ids=lambda given: given if isinstance(given, str) else "",
)  # fmt: skip
def test_what_cannot_be_drafted_is_said_and_nothing_is_written(arguments, code, says, messages, capsys):
    (messages / "cells.jsonl").write_text('{"op":"I","after":[{"name":"id","value":1}]}\n')
    (messages / "text.jsonl").write_text("no JSON\n")
    (messages / "empty.jsonl").write_text("")
    (messages / "many.json").write_bytes((messages / "flat.jsonl").read_bytes().replace(b":", b":\n"))
    (messages / "packed.avro").write_bytes(b"Obj\x01\x02\x16avro.schema")
    assert main(["contract", "new", *arguments]) == code
    told = capsys.readouterr()
    assert says in told.err
    assert told.out == ""
    assert not (messages / "contracts").exists()


def test_a_json_file_may_have_a_message_in_each_line(messages, capsys):
    (messages / "lines.json").write_bytes((messages / "flat.jsonl").read_bytes())
    assert main(["contract", "new", "acme/lines", "lines.json"]) == 0
    assert "all 30 messages conform" in capsys.readouterr().out


def test_one_message_and_one_sample_are_in_the_singular(messages, capsys):
    (messages / "one.jsonl").write_bytes(written(flat())[0])
    assert main(["contract", "new", "acme/one", "one.jsonl"]) == 0
    assert capsys.readouterr().out.startswith(
        "contracts/acme/one/v1: acme/one@1, to which the one message conforms\n"
        "contracts/acme/one/v1/samples: 1 sample, with rewritten values\n"
    )


def test_where_a_file_cannot_be_written_no_other_is_left(messages, capsys, monkeypatch):
    write = atomic_files.write_whole

    def refuse_schemas(target, content):
        if target.suffix == ".avsc":
            raise UnavailableError("it cannot be written: No space left on device", where=str(target))
        write(target, content)

    monkeypatch.setattr(atomic_files, "write_whole", refuse_schemas)
    assert main(["contract", "new", "acme/flat", "flat.jsonl"]) == 3
    assert "No space left on device" in capsys.readouterr().err
    assert [file for file in Path("contracts").rglob("*") if file.is_file()] == []


def test_a_draft_says_which_contract_is_nearest_and_in_what_it_differs(tmp_path, monkeypatch, capsys):
    """Messages of Maxwell whose op code stands elsewhere and has other letters."""
    monkeypatch.chdir(tmp_path)
    messages = [json.loads(value) for value in rendered("maxwell/json@2", 60, seed=3)]
    letters = {"insert": "I", "update": "U", "delete": "D"}
    kinds = [letters.get(one.pop("type")) for one in messages]
    lines = [json.dumps({**one, "kind": kind}) for one, kind in zip(messages, kinds, strict=True) if kind]
    (tmp_path / "m.jsonl").write_text("\n".join(lines) + "\n")
    assert main(["contract", "new", "acme/kinds", "m.jsonl", "--to", "own"]) == 0
    shown = capsys.readouterr().out
    assert "The nearest contract is maxwell/json@2, which differs" in shown
    assert re.search(r"envelope +op +/type +→ +/kind", shown)
    assert re.search(r"ops +insert +insert +→ +-", shown)
    assert main(shown.partition("all: cdc-contracts ")[2].partition("\n")[0].split()) == 0
    assert re.search(r"op +/type +→ +/kind", capsys.readouterr().out)
