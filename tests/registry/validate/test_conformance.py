"""Every sample of every contract, validated by the reference: a sample added to a folder is a test added here.

`NAME.json` conforms and decodes to `NAME.change.json`; `drift/NAME.*` gives exactly `NAME.findings.json`. Table
contracts in `samples/tables` hold for all samples beside them.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest

from cdc_contracts.registry.core.common.json_messages import Unreadable
from cdc_contracts.registry.core.contract.catalogue import shipped_catalogue
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.contract.table_contracts import TableContracts, read_table_contracts
from cdc_contracts.registry.core.validate.validation_context import ValidationContext, open_validation

CATALOGUE = shipped_catalogue()
VERSIONS = list(CATALOGUE.all_versions())
MESSAGE_ENDINGS = (".json", ".avro", ".bin")
ANSWER_ENDINGS = (".change.json", ".findings.json")


def samples_below(folder: Path) -> list[Path]:
    found = sorted(folder.iterdir()) if folder.is_dir() else []
    return [file for file in found if file.suffix in MESSAGE_ENDINGS and not file.name.endswith(ANSWER_ENDINGS)]


def samples_of(part: str) -> list:
    return [
        pytest.param(version.reference, file, id=f"{version.reference}/{file.stem}")
        for version in VERSIONS
        for file in samples_below(Path(str(version.folder)) / "samples" / part)
    ]


@cache
def scope_of(reference: str) -> ValidationContext:
    tables = Path(str(CATALOGUE.version(reference).folder)) / "samples" / "tables"
    contracts = read_table_contracts(tables) if tables.is_dir() else TableContracts()
    names = [document["table"] for document in contracts.documents()]
    return open_validation(
        CATALOGUE, reference, ReadingOptions(tables=contracts, table=names[0] if len(names) == 1 else None)
    )


@pytest.mark.parametrize(("reference", "file"), samples_of(""))
def test_a_sample_conforms_and_decodes_to_its_changes(reference, file):
    expected = json.loads(file.with_suffix(".change.json").read_text(encoding="utf-8"))

    validated = scope_of(reference).validate(file.read_bytes())

    verdict = validated.verdict
    assert verdict.outcome == ("conforming" if expected else "control"), verdict.findings
    assert [change.as_document(undecided=verdict.undecided) for change in validated.changes] == expected
    assert (validated.control is not None) == (not expected)


@pytest.mark.parametrize(("reference", "file"), samples_of("drift"))
def test_a_drifted_sample_gives_exactly_its_findings(reference, file):
    expected = json.loads(file.with_suffix(".findings.json").read_text(encoding="utf-8"))

    validated = scope_of(reference).validate(file.read_bytes())

    assert validated.verdict.outcome == expected["outcome"]
    assert [
        {
            "rule": finding.rule,
            "class": finding.name,
            "severity": finding.severity,
            "path": finding.path,
            "expected": finding.expected,
            "observed": finding.observed,
        }
        for finding in validated.verdict.findings
    ] == expected["findings"]
    assert bool(validated.changes) == (expected["outcome"] == "conforming")
    assert (validated.control is not None) == (expected["outcome"] == "control")


@pytest.mark.one_in(2)
@pytest.mark.parametrize("version", VERSIONS, ids=str)
def test_what_is_refused_early_is_refused_by_all_findings_too_and_nothing_else_is(version):
    """Detection and claims of other subjects stop at the first error; a verdict has all of them."""
    validators = scope_of(version.reference).validators
    refused = set()
    for part in ("", "drift"):
        for file in samples_below(Path(str(version.folder)) / "samples" / part):
            try:
                message = validators[-1].wire.open(file.read_bytes())
            except Unreadable:
                continue
            for validator in validators:
                whole = validator.validate(message)
                early = validator.validate_unless_refused(message)
                assert early == (whole if early is not None or whole.fits else None), file.name
                assert validator.fits(message) is whole.fits, file.name
                refused.add(early is None)
    assert refused == {True, False}


@pytest.mark.parametrize("version", VERSIONS, ids=str)
def test_a_version_has_samples_of_every_op_and_a_sample_of_drift(version):
    folder = Path(str(version.folder)) / "samples"
    sent = set()
    for file in samples_below(folder):
        for change in json.loads(file.with_suffix(".change.json").read_text(encoding="utf-8")):
            sent.add(change["op"])
        control = scope_of(version.reference).validate(file.read_bytes()).control
        if control is not None:
            sent.add(control.kind)

    constrained = set(version.meaning.ops.values()) | {flag.means for flag in version.meaning.envelope.op.flags}
    joined = {"update" if op.startswith("update-") else op for op in constrained}
    assert sent == joined
    assert samples_below(folder / "drift")


@pytest.mark.parametrize("version", VERSIONS, ids=str)
def test_no_answer_of_a_sample_is_left_without_its_message(version):
    folder = Path(str(version.folder)) / "samples"
    for part in (folder, folder / "drift"):
        messages = {file.stem for file in samples_below(part)}
        streams = {file.stem for file in part.glob("*.jsonl")}
        answers = {file.name.removesuffix(ending) for file in part.iterdir() for ending in ANSWER_ENDINGS
                   if file.name.endswith(ending)}  # fmt: skip
        assert answers == messages | streams
