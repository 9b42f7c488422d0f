"""Lint. Each file of lint/cases says how a small catalogue is broken, and everything that lint has to find then."""

from __future__ import annotations

import os
import re
import shutil
from itertools import zip_longest
from pathlib import Path

import pytest
import yaml
from topics import VERSION_FOLDERS

from cdc_contracts.registry.authoring.lint import lint, lint_input
from cdc_contracts.registry.authoring.lint.lint_rule import lint_rules
from cdc_contracts.registry.core.common.errors import UsageError
from cdc_contracts.registry.core.contract.catalogue import CANONICAL, Catalogue

HERE = Path(__file__).parent
SHIPPED = Path(__file__).parents[3] / "contracts"
CASES = sorted((HERE / "cases").glob("*.yaml"))


FEW = os.environ.get("CDC_CONTRACTS_LINT", "few") == "few"
"""Every broken contract is linted among all shipped ones only where CDC_CONTRACTS_LINT=all: it takes ten times as long."""
AMONG_SHIPPED = {
    "L24-not-true", "T02-type-that-no-document-shows", "T03-types-of-two-databases", "T08-zone-without-a-time",
    "T09-decimal-of-65-digits",
}  # fmt: skip
"""Cases that refer to shipped contracts or to types that their value mappings read."""


@pytest.fixture(scope="module")
def canonical_alone(tmp_path_factory):
    """The catalogue that every contract needs beside it: the canonical change."""
    root = tmp_path_factory.mktemp("canonical")
    system, _, dialect = CANONICAL.partition("/")
    for folder in (f"{system}/{dialect}", f"{system}/types"):
        if (SHIPPED / folder).is_dir():
            shutil.copytree(SHIPPED / folder, root / folder)
    return Catalogue([root])


def test_the_shipped_catalogue_holds_together_and_is_linted_where_nothing_else_is_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "contracts").mkdir()
    report = lint()
    assert report.findings == ()
    assert report.validated
    assert report.checked["contracts"] == len(VERSION_FOLDERS)
    assert report.checked["samples"] > 500


def test_a_system_of_ones_own_needs_no_code():
    report = lint([HERE / "contracts"])
    assert report.findings == ()
    assert report.checked == {"contracts": 2, "samples": 11, "mappings": 2, "tables": 0}


@pytest.mark.parametrize("case", CASES, ids=lambda path: path.stem)
def test_a_broken_contract_is_found(case, tmp_path, monkeypatch, canonical_alone):
    if FEW and case.stem not in AMONG_SHIPPED:
        monkeypatch.setattr(lint_input, "shipped_catalogue", lambda: canonical_alone)
    root = tmp_path / "contracts"
    shutil.copytree(HERE / "contracts", root)
    described = yaml.safe_load(case.read_text(encoding="utf-8"))
    for edit in described["edits"]:
        apply(edit, root)
    found = [shown(finding, root) for finding in lint([root]).findings]
    expected = sorted(described["finds"], key=lambda one: (one["file"], one.get("line", 0), one["rule"]))
    named = [
        {key: one[key] for key in (wanted or one)} for one, wanted in zip_longest(found, expected, fillvalue={}) if one
    ]
    assert named == expected


def test_every_rule_has_a_case():
    reported = {one["rule"] for case in CASES for one in yaml.safe_load(case.read_text(encoding="utf-8"))["finds"]}
    assert reported == {rule.id for rule in lint_rules()}


def test_ids_of_rules_are_in_order_and_none_is_there_twice():
    ids = [rule.id for rule in lint_rules()]
    assert all(re.fullmatch(r"[LT]\d\d", one) for one in ids)
    assert ids == sorted(set(ids))
    assert len({rule.name for rule in lint_rules()}) == len(lint_rules())


def test_a_version_that_is_one_new_folder_is_linted_with_what_is_shipped(tmp_path):
    add_third_version(tmp_path)
    report = lint([tmp_path])
    assert [(one.rule, one.severity, one.observed) for one in report.findings] == [
        ("L21", "warning", "none of ddl, delete, insert, snapshot, update")
    ]
    assert report.checked["contracts"] == 1


@pytest.mark.parametrize(
    ("path", "contracts", "mappings"),
    [
        ("", 2, 2),
        ("acme", 2, 2),
        ("acme/plain", 2, 0),
        ("acme/plain/v2", 1, 0),
        ("acme/plain/v2/contract.yaml", 1, 0),
        ("acme/types", 0, 2),
        ("acme/types/acme.yaml", 0, 1),
        ("errata.yaml", 0, 0),
    ],
)
def test_a_path_names_a_catalogue_or_a_part_of_it(path, contracts, mappings, monkeypatch, canonical_alone):
    monkeypatch.setattr(lint_input, "shipped_catalogue", lambda: canonical_alone)
    report = lint([HERE / "contracts" / path])
    assert (report.checked["contracts"], report.checked["mappings"], report.findings) == (contracts, mappings, ())


def test_only_what_the_path_names_is_reported(tmp_path):
    root = tmp_path / "contracts"
    shutil.copytree(HERE / "contracts", root)
    apply({"in": "acme/plain/v1/samples/add.json", "replace": '"id": 1', "with": '"id": "1"'}, root)
    assert lint([root / "acme/plain/v2"]).findings == ()
    assert [one.rule for one in lint([root / "acme/plain/v1"]).findings] == ["L17"]


def test_a_table_contract_is_linted_by_itself(tmp_path):
    file = tmp_path / "orders.yaml"
    file.write_text("table: shop.orders\ncolumns: {id: {type: bigint}}\nprimary_key: [id]\n")
    report = lint([file])
    assert (report.findings, report.checked["tables"]) == ((), 1)
    file.write_text("table: shop.orders\ncolumns: {id: {type: bigint}}\nsource_time_zone: Mars/Olympus\n")
    assert [(one.rule, one.line, one.path) for one in lint([file]).findings] == [("L25", 3, "/source_time_zone")]


def test_without_a_path_the_folder_contracts_is_linted_where_it_holds_some(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copytree(HERE / "contracts", tmp_path / "contracts")
    assert lint().checked["contracts"] == 2


@pytest.mark.parametrize("content", [None, {"readme.txt": "nothing"}])
def test_a_path_that_names_nothing_to_lint_is_refused(content, tmp_path):
    path = tmp_path / "folder"
    if content is not None:
        path.mkdir()
        for name, text in content.items():
            (path / name).write_text(text)
    with pytest.raises(UsageError):
        lint([path])


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("acme/plain/v1/contract.yaml", ""),
        ("acme/plain/v1/contract.yaml", "[]"),
        ("acme/plain/v1/contract.yaml", "contract: acme/plain@1\nprovenance: x\napplies: []\nops: 5\n"),
        ("acme/plain/v1/contract.yaml", "contract: acme/plain@1\nprovenance: {errata: [{x: y}]}\n"),
        ("acme/plain/v2/contract.yaml", "contract: {}\nbased_on: [acme/plain@1]\n"),
        ("acme/plain/v2/contract.yaml", "contract: acme/plain@2\nbased_on: acme/plain@2.0\n"),
        ("acme/types/acme-two.yaml", "mapping: acme-two\nbased_on: {}\n"),
        ("acme/types/acme.yaml", "mapping: acme\nforms: {text: TEXT, integer-number: {INT: 1}}\n"),
        ("acme/plain/v1/envelope.schema.json", '{"properties": {"old": {"$ref": ["x"]}}, "allOf": 1}'),
        ("acme/plain/v1/envelope.schema.json", "null"),
        ("acme/plain/v1/envelope.avsc", '["null", {"type": "enum", "name": "Absent", "symbols": {"a": 1}}]'),
        ("acme/plain/v1/envelope.avsc", "7"),
        ("acme/plain/v1/samples/add.json", "\x00"),
        ("acme/plain/v1/samples/add.change.json", '{"after": 1}'),
        ("acme/plain/v1/samples/drift/kind-unknown.findings.json", "null"),
        ("errata.yaml", "- E1\n- {id: {}}\n"),
    ],
)
def test_whatever_a_file_holds_lint_ends_with_findings(file, text, tmp_path):
    root = tmp_path / "contracts"
    shutil.copytree(HERE / "contracts", root)
    (root / file).write_text(text)
    assert any(finding.severity == "error" for finding in lint([root]).findings)


def add_third_version(root):
    folder = root / "dts" / "canal" / "v3"
    folder.mkdir(parents=True)
    folder.joinpath("contract.yaml").write_text(
        'contract: dts/canal@3\nbased_on: dts/canal@2\napplies: {since: "2031-05-01"}\nstatus: current\n'
    )


def apply(edit, root):
    if "in" in edit:
        file = root / edit["in"]
        file.parent.mkdir(parents=True, exist_ok=True)
        if "bytes" in edit:
            file.write_bytes(bytes.fromhex(edit["bytes"]))
        elif "text" in edit:
            file.write_text(edit["text"], encoding="utf-8")
        else:
            text = file.read_text(encoding="utf-8")
            old = edit.get("replace", edit.get("after"))
            assert text.count(old) >= 1, f"{old!r} is not in {file}"
            new = edit["with"] if "replace" in edit else f"{old}\n{edit['add']}"
            file.write_text(text.replace(old, new, 1), encoding="utf-8")
    elif "rename" in edit:
        (root / edit["rename"]).rename(root / edit["to"])
    elif "copy" in edit:
        shutil.copytree(root / edit["copy"], root / edit["to"])
    else:
        path = root / edit["remove"]
        shutil.rmtree(path) if path.is_dir() else path.unlink()


def shown(finding, root):
    return {
        "rule": finding.rule,
        "severity": finding.severity,
        "file": Path(finding.file).relative_to(root).as_posix(),
        "line": finding.line,
        "path": finding.path,
        "expected": finding.expected,
        "observed": finding.observed,
    }
