"""Samples are found by their names, and the reference says of each shipped one what stands beside it."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from cdc_contracts.registry.authoring.lint import lint
from cdc_contracts.registry.core.common.errors import ContractError
from cdc_contracts.registry.core.contract.catalogue import Catalogue
from cdc_contracts.registry.core.generate.contract_samples import changes_document, find_samples, findings_document
from cdc_contracts.registry.core.validate.validation_context import open_validation

CATALOGUE = Catalogue([Path(__file__).parents[3] / "contracts"])
sys.path.insert(0, str(Path(__file__).parents[3]))

from hatch_build import pack_samples  # noqa: E402

OWN = Path(__file__).parents[1] / "lint" / "contracts"


@pytest.mark.parametrize("version", list(CATALOGUE.all_versions()), ids=str)
def test_every_sample_has_the_result_that_is_written_beside_it(version, part):
    samples = find_samples(version)
    assert samples.unpaired == ()
    validation = open_validation(CATALOGUE, version.reference, samples.reading_options())
    for sample in part(samples.messages, 4):
        validated = validation.validate(sample.value)
        expected = sample.expected()
        assert changes_document(validated) == expected, sample.file
        assert validated.verdict.outcome == ("conforming" if expected else "control"), sample.file
    for sample in part(samples.drifts, 4):
        assert findings_document(validation.validate(sample.value)) == sample.expected(), sample.file
    assert len(samples.messages) >= 12
    assert len(samples.drifts) >= 12


@pytest.fixture
def version(tmp_path):
    shutil.copytree(OWN, tmp_path, dirs_exist_ok=True)
    return Catalogue([tmp_path]).version("acme/plain@1")


def test_samples_are_found_by_their_names(version):
    samples = find_samples(version)
    assert [sample.name for sample in samples.messages] == ["add", "beat", "change", "drop"]
    assert [sample.name for sample in samples.drifts] == ["kind-unknown", "time-of-the-other-version"]
    assert [sample.drifts for sample in samples] == [False] * 4 + [True] * 2
    assert not samples.tables()


def test_samples_without_their_expectation_and_expectations_without_their_sample_are_unpaired(version):
    folder = version.folder / "samples"
    (folder / "alone.json").write_text("{}")
    (folder / "lost.change.json").write_text("[]")
    (folder / "notes.txt").write_text("?")
    (folder / ".hidden").write_text("")
    (folder / "drift" / "add.change.json").write_text("[]")
    samples = find_samples(version)
    assert sorted(file.name for file in samples.unpaired) == [
        "add.change.json",
        "alone.json",
        "lost.change.json",
        "notes.txt",
    ]
    assert len(samples.messages) == 4


def test_streams_are_left_to_the_audit(version):
    drift = version.folder / "samples" / "drift"
    (drift / "gap.jsonl").write_text("{}\n{}\n")
    (drift / "gap.findings.json").write_text("{}")
    samples = find_samples(version)
    assert samples.unpaired == ()
    assert [sample.name for sample in samples.drifts] == ["kind-unknown", "time-of-the-other-version"]


def test_values_that_are_no_json_are_samples_of_drift(version):
    drift = version.folder / "samples" / "drift"
    (drift / "cut.bin").write_bytes(b"{")
    (drift / "cut.findings.json").write_text('{"outcome": "unreadable", "findings": []}')
    assert ("cut", b"{") in [(one.name, one.value) for one in find_samples(version).drifts]


def test_tables_beside_samples_hold_for_all_of_them(version):
    tables = version.folder / "samples" / "tables"
    tables.mkdir()
    (tables / "orders.yaml").write_text("table: shop.orders\ncolumns: {id: {type: int}}\n")
    assert find_samples(version).tables().of("shop", None, "orders").types == {"id": "int"}


def test_an_expectation_that_is_no_json_is_reported_with_its_place(version):
    file = version.folder / "samples" / "add.change.json"
    file.write_text("[")
    with pytest.raises(ContractError) as error:
        find_samples(version).messages[0].expected()
    assert error.value.where == str(file)


def pack(root):
    """Replace the folders of samples by what a wheel has in their place."""
    scratch = root.parent / "packed"
    scratch.mkdir()
    packed = pack_samples(root, scratch)
    for file, place in packed.items():
        target = root / Path(place).relative_to("cdc_contracts/contracts")
        shutil.copy(file, target)
        shutil.rmtree(target.with_suffix(""))
    return packed


def test_packed_samples_are_those_of_the_folder_and_nothing_is_wrong_with_them(tmp_path):
    shutil.copytree(OWN, tmp_path / "one")
    folders = Catalogue([tmp_path / "one"])
    (tmp_path / "one/acme/plain/v1/samples/tables").mkdir()
    (tmp_path / "one/acme/plain/v1/samples/tables/orders.yaml").write_text("table: shop.orders\n")
    expected = [(str(one.file), one.value, one.expected()) for v in folders.all_versions() for one in find_samples(v)]
    assert len(expected) == 11
    assert len(pack(tmp_path / "one")) == 2
    found = [find_samples(version) for version in Catalogue([tmp_path / "one"]).all_versions()]
    assert [
        (str(one.file).replace("samples.zip", "samples"), one.value, one.expected())
        for samples in found for one in samples
    ] == expected  # fmt: skip
    assert [[file.name for file in samples.table_files] for samples in found] == [["orders.yaml"], []]
    assert [samples.unpaired for samples in found] == [(), ()]
    (tmp_path / "one/acme/plain/v1/samples.zip").write_bytes(b"PK")
    with pytest.raises(ContractError, match="not readable as a zip"):
        find_samples(Catalogue([tmp_path / "one"]).version("acme/plain@1"))


def test_lint_counts_packed_samples_and_names_a_zip_beside_the_folder(tmp_path):
    shutil.copytree(OWN, tmp_path / "one")
    (tmp_path / "one/acme/plain/v1/samples.zip").write_bytes(b"")
    assert [(one.rule, one.observed) for one in lint([tmp_path / "one"]).findings] == [("L05", "samples.zip")]
    (tmp_path / "one/acme/plain/v1/samples.zip").unlink()
    pack(tmp_path / "one")
    report = lint([tmp_path / "one"])
    assert (report.findings, report.checked["samples"]) == ((), 11)


def test_packing_the_same_samples_gives_the_same_bytes(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    first, second = pack_samples(OWN, tmp_path / "a"), pack_samples(OWN, tmp_path / "b")
    assert list(first.values()) == list(second.values())
    assert [Path(one).read_bytes() for one in first] == [Path(one).read_bytes() for one in second]
