"""What may become of published contracts: each case a small catalogue before and after, and what is found.

A case is a file: `copies`, `removes` and `edits` are made in a copy of a small catalogue of our own, `finds` is everything that
has to be found, by reference.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import yaml

from cdc_contracts.registry.authoring.compat.compatibility_rule import CompatibilityRule, family_of
from cdc_contracts.registry.authoring.compat.publication import compare_published
from cdc_contracts.registry.core.common.rule_modules import PUBLICATION_RULES, find_records
from cdc_contracts.registry.core.contract.catalogue import Catalogue, shipped_catalogue

HERE = Path(__file__).parent
CASES = sorted((HERE / "publication").glob("*.yaml"))
OWN = HERE.parent / "lint" / "contracts"


@pytest.mark.parametrize("file", CASES, ids=[file.stem for file in CASES])
def test_what_becomes_of_a_published_contract_is_reported(file, tmp_path):
    case = yaml.safe_load(file.read_text())
    for name in ("before", "after"):
        shutil.copytree(OWN, tmp_path / name)
    for old, new in case.get("copies", {}).items():
        shutil.copytree(tmp_path / "after" / old, tmp_path / "after" / new)
    for path in case.get("removes", ()):
        shutil.rmtree(tmp_path / "after" / path)
    for edit in case.get("edits", ()):
        edited = tmp_path / "after" / edit["in"]
        text = edited.read_text()
        assert text.count(edit["replace"]) >= 1
        edited.write_text(text.replace(edit["replace"], edit["with"], 1))
    found = compare_published(Catalogue([tmp_path / "before"]), Catalogue([tmp_path / "after"]))

    assert [(one.rule, one.severity, one.new_version, one.path) for one in found] == [
        (one["rule"], one["severity"], one["version"], one.get("path", "")) for one in case["finds"]
    ]
    for finding, expected in zip(found, case["finds"], strict=True):
        if "proof" in expected:
            assert finding.proof.kind == expected["proof"]
        if "also" in expected:
            assert list(finding.also) == expected["also"]
        if "line" in expected:
            assert finding.new_place.line == expected["line"]


def test_every_rule_of_publication_has_a_case():
    assert {file.name.partition("-")[0] for file in CASES} >= {
        rule.id for rule in find_records(PUBLICATION_RULES, CompatibilityRule) if family_of(rule.id) == "publication"
    }


def test_the_catalogue_compared_with_itself_is_as_it_was():
    assert compare_published(shipped_catalogue(), shipped_catalogue()) == ()
