"""What two contracts understand differently: each case a contract with a few lines changed, and what is found there.

A case is a file: `base` is a shipped contract (`old_base` that of the old side, where it is another), `old` and `new` what
is changed in it, `finds` everything that has to be found (`summary`: all but notes, by rule). Every proof is validated once more here, by the reference validator itself.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from cdc_contracts.registry.authoring.compat.compatibility_rule import compatibility_rules
from cdc_contracts.registry.authoring.compat.meaning.contract_facts import PROSE, VALUES, contract_sections
from cdc_contracts.registry.authoring.compat.meaning.mapping_differences import COMPARED, UNREAD
from cdc_contracts.registry.authoring.compat.meaning.meaning_comparison import compare_meaning, refusing_rules
from cdc_contracts.registry.authoring.explain.rulebook import rules
from cdc_contracts.registry.core.common.findings import ERROR
from cdc_contracts.registry.core.common.json_messages import Unreadable
from cdc_contracts.registry.core.contract.catalogue import Catalogue, shipped_catalogue
from cdc_contracts.registry.core.contract.column_model import MappingDocument
from cdc_contracts.registry.core.contract.model import Meaning
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.validate.drift_rule import CROSS_FIELD
from cdc_contracts.registry.core.validate.reference_validator import ReferenceValidator

CASES = sorted((Path(__file__).parent / "cases").glob("*.yaml"))
CATALOGUE = shipped_catalogue()


def patched(folder, name, base, patch):
    """A contract that is based on a shipped one, in a folder of its own."""
    place = folder / name / "acme"
    (place / "changed" / "v1").mkdir(parents=True)
    text = f"contract: acme/changed@1\nbased_on: {base}\n" + patch.get("contract", "")
    (place / "changed" / "v1" / "contract.yaml").write_text(text)
    if "types" in patch:
        (place / "types").mkdir()
        (place / "types" / "acme.yaml").write_text(patch["types"])
    return Catalogue([*CATALOGUE.roots, folder / name]).version("acme/changed@1")


def compared(case, folder):
    base = case.get("old_base", case["base"])
    old = patched(folder, "old", base, case["old"]) if "old" in case else CATALOGUE.version(base)
    return old, patched(folder, "new", case["base"], case.get("new", {}))


@pytest.mark.parametrize("file", CASES, ids=[file.stem for file in CASES])
def test_a_change_of_a_contract_is_found_and_shown(file, tmp_path):
    case = yaml.safe_load(file.read_text())
    old, new = compared(case, tmp_path)

    found = compare_meaning(old, new)
    if "summary" in case:
        heavy = [one for one in found if one.severity != "note"]
        assert {one.rule: one.severity for one in heavy} == case["summary"]
        for finding in heavy:
            judged_again(finding.proof, old, new, {})
        return

    assert [(one.rule, one.path, one.severity) for one in found] == [
        (one["rule"], one["path"], one["severity"]) for one in case["finds"]
    ]
    for finding, expected in zip(found, case["finds"], strict=True):
        agrees(finding, expected)
        if finding.proof is not None:
            judged_again(finding.proof, old, new, case.get("terms", {}))


def agrees(finding, expected):
    for side in ("old", "new"):
        if side in expected:
            assert getattr(finding, side) == expected[side]
    for side, place in (("place", finding.new_place), ("old_place", finding.old_place)):
        assert place.line >= 1
        if side in expected:
            assert place.file.endswith(expected[side]["file"])
            assert (place.line, place.column) == (expected[side]["line"], expected[side]["column"])
    assert (finding.proof is None) == (expected["severity"] != "breaking")
    if "proof" in expected:
        assert finding.proof.kind == expected["proof"]
    if "reads" in expected:
        assert [finding.proof.old, finding.proof.new] == expected["reads"]
    if "shows" in expected:
        ((place, (row,)),) = expected["shows"].items()
        assert row.items() <= finding.proof.message[place][0].items()


def judged_again(proof, old, new, parameters):
    """Validate the message of a proof anew: it has to come out as the proof says."""
    reading_options = ReadingOptions(parameters=parameters)
    validators = [ReferenceValidator(version, reading_options) for version in (old, new)]
    if "bytes" in proof.message:
        value = bytes.fromhex(proof.message["bytes"])
    else:
        value = validators[0].wire.write(json.dumps(proof.message))
    reported = []
    for validator in validators:
        try:
            version_verdict = validator.validate(validator.wire.open(value))
        except Unreadable:
            reported.append(None)
        else:
            refused = any(one.severity == ERROR for one in version_verdict.findings)
            reported.append(None if refused else version_verdict)
    match proof.kind:
        case "refused-by-new":
            assert reported[0] is not None
            assert reported[1] is None
            assert proof.old == "accepted"
        case "refused-by-old":
            assert reported[0] is None
            assert reported[1] is not None
            assert proof.new == "accepted"
        case _:
            assert None not in reported
            assert proof.old != proof.new


def test_every_rule_of_meaning_has_a_case():
    assert {file.name.partition("-")[0] for file in CASES} >= {
        rule.id for rule in compatibility_rules() if rule.id.startswith("C3")
    }


def test_no_key_of_a_contract_is_forgotten():
    compared, prose = {*contract_sections(), VALUES}, {*PROSE}
    assert compared | prose == {field.alias or name for name, field in Meaning.model_fields.items()}
    assert not compared & prose
    assert {field.alias or name for name, field in MappingDocument.model_fields.items()} == COMPARED | UNREAD
    assert not COMPARED & UNREAD


def test_rules_that_refuse_are_those_whose_breach_is_an_error():
    errors = {one.name for one in rules() if one.family == CROSS_FIELD and one.severity == ERROR}
    assert errors - {"split-updates-complete"} == refusing_rules()  # both halves: only a stream shows it


@pytest.mark.parametrize("version", list(CATALOGUE.all_versions()), ids=str)
def test_a_contract_means_what_it_means(version):
    assert compare_meaning(version, version) == ()
