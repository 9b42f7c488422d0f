"""What is wrong in a file that a person wrote is told in words: which key, what is wrong with it, what would do."""

from __future__ import annotations

from pathlib import Path

import pytest

from cdc_contracts.cli.app import main


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("contracts: notthere", "contracts: expected a list, as in [ONE, TWO]; found text"),
        ("contracts: [{}]", "contracts.0: expected text; found a mapping"),
        ("topics: foo", "topics: expected a mapping, as in {NAME: VALUE}; found text"),
        ("topics: {orders: 1}", "topics.orders: expected text; found a number"),
        ("topcs: {orders: dts/canal@2}", "topcs: unknown key; do you mean `topics`?"),
        (
            "wholly: other",
            "wholly: unknown key; there are bootstrap_servers, contracts, environments, families, kafka_config, parameters, schema_registry, tables, topics, versions",
        ),
        ("- 1", "not a YAML mapping"),
        (b"topics: {a: \xff}", "cannot be read: expected text in UTF-8"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_settings_that_are_wrong_are_reported_by_key(tmp_path, capsys, text, told):
    (tmp_path / "cdc-contracts.yaml").write_bytes(text if isinstance(text, bytes) else text.encode())
    assert main(["bind", "--list"]) == 2
    out, err = capsys.readouterr()
    assert (out, err) == ("", f"error: {told} ({tmp_path / 'cdc-contracts.yaml'})\n")


@pytest.mark.parametrize("text", ["", "\n", "# nothing yet\n", "---\n"])
def test_empty_settings_are_no_settings(tmp_path, capsys, text):
    (tmp_path / "cdc-contracts.yaml").write_text(text)
    assert main(["bind", "--list"]) == 0
    assert main(["sample", "dts/canal@2", "-n", "20"]) == 0
    (tmp_path / "a.jsonl").write_text(capsys.readouterr().out)
    assert main(["check", "a.jsonl", "--contract", "dts/canal@2"]) == 0
    assert main(["bind", "orders", "dts/canal@2"]) == 0


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("columns: {id: {type: int, nulable: false}}", "columns.id.nulable: unknown key; do you mean `nullable`?"),
        (
            "columns: {id: {type: int, size: 9}}",
            "columns.id.size: unknown key; there are comment, default, nullable, type",
        ),
        ("columns: {id: int}", "columns.id: expected a mapping, as in {NAME: VALUE}; found text"),
        ("columns: {id: {type: int, nullable: never}}", "columns.id.nullable: expected true or false; found text"),
        ("columns: {id: {nullable: true}}", "columns.id.type: is missing"),
    ],
    ids=lambda value: value[:40],
)
def test_table_contracts_that_are_wrong_are_reported_by_key(tmp_path, capsys, text, told):
    (tmp_path / "a.jsonl").write_text("{}\n")
    (tmp_path / "t.yaml").write_text(f"table: shop.orders\n{text}\n")
    assert main(["check", "a.jsonl", "--contract", "dts/canal@2", "--tables", "t.yaml"]) == 2
    assert capsys.readouterr().err == f"error: {told} (t.yaml)\n"


def test_contracts_of_the_settings_are_known_to_every_command(tmp_path, capsys):
    own = Path(__file__).parents[1] / "registry/lint/contracts"
    (tmp_path / "cdc-contracts.yaml").write_text(f"contracts: [{own}]\n")
    for command in (
        ["show", "acme/plain@1"],
        ["diff", "acme/plain@1", "acme/plain@2"],
        ["schema", "acme/plain@1"],
        ["compat", "acme/plain@1", "acme/plain@1"],
        ["list", "--contracts", str(own)],  # named twice
    ):
        assert main(command) == 0, capsys.readouterr().err
    assert "acme" in capsys.readouterr().out
    (tmp_path / "a.jsonl").write_bytes(b"\n".join(path.read_bytes().replace(b"\n", b"") for path in samples_of(own)))
    assert main(["detect", "a.jsonl"]) in (0, 4)
    assert "acme/plain" in capsys.readouterr().out


def samples_of(own):
    return [path for path in sorted(own.glob("acme/plain/v2/samples/*.json")) if ".change." not in path.name]
