"""Every fact of a vendor's document is captured by what its entry names, and proven by the messages it names."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import pytest
from by_hand import row_of, without_rows
from coverage_pages import (
    DocumentedFact,
    FactExample,
    coverage_page,
    find_target,
    read_coverage,
)
from seeds import VARIABLE

from cdc_contracts import contract
from cdc_contracts.registry.core.common.errors import ContractError
from cdc_contracts.registry.core.common.findings import INFO
from cdc_contracts.registry.core.contract.catalogue import Catalogue
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.generate.contract_samples import Sample, Samples, find_samples
from cdc_contracts.registry.core.stats.partition_tallies import Source
from cdc_contracts.registry.core.stats.reference_tally import account
from cdc_contracts.registry.core.stats.run_findings import finalize
from cdc_contracts.registry.core.validate.validation_context import ValidationContext, open_validation

ROOT = Path(__file__).parents[1]
CATALOGUE = Catalogue([ROOT / "contracts"])
LISTS = {file.stem: read_coverage(file) for file in sorted((ROOT / "docs" / "coverage").glob("*.yaml"))}
FACTS = [fact for coverage in LISTS.values() for fact in coverage.facts]
BY_REFERENCE = {
    reference: [fact for fact in FACTS if reference in fact.of]
    for reference in dict.fromkeys(reference for fact in FACTS for reference in fact.of)
}
each_reference = pytest.mark.parametrize("reference", BY_REFERENCE)


@cache
def samples_of(reference: str) -> Samples:
    return find_samples(CATALOGUE.version(reference))


@cache
def scope_of(reference: str) -> ValidationContext:
    return open_validation(CATALOGUE, reference, samples_of(reference).reading_options())


def sample_of(reference: str, example: FactExample) -> Sample:
    part, _, name = example.sample.rpartition("/")
    found = samples_of(reference)
    [sample] = [one for one in ((*found.drifts, *found.streams) if part else found.messages) if one.name == name]
    return sample


def values_of(reference: str, example: FactExample) -> list[bytes]:
    """The messages of an example: of a stream of the samples, a line each."""
    sample, wire = sample_of(reference, example), scope_of(reference).wire
    if sample in samples_of(reference).streams:
        return sample.value.splitlines()
    return [one.edit(sample_of(reference, one).value, wire) for one in (example, *example.then)]


def accepts(reference: str, values: list[bytes], reading_options: ReadingOptions) -> bool:
    """Say whether a contract accepts messages: one by itself, several also by what they say together."""
    if len(values) == 1:
        verdict = open_validation(CATALOGUE, reference, reading_options).validate(values[0]).verdict
        only_notes = {finding.severity for finding in verdict.findings} <= {INFO}
        return verdict.outcome in ("conforming", "control") and only_notes
    return contract(reference).check_batch(values).verdict == "pass"


def others_of(fact: DocumentedFact, reference: str) -> list[str]:
    """The contracts that a fact tells a version from: those named, and versions of its subject that it is not of."""
    subject = reference.partition("@")[0]
    of_subject = [version.reference for version in CATALOGUE.versions(subject)]
    named = [version.reference for one in fact.told_from for version in CATALOGUE.resolve(one)]
    return [
        one for one in dict.fromkeys((*of_subject, *named)) if one not in fact.of or (one in named and one != reference)
    ]


def rules_broken(reference: str, example: FactExample) -> list[str]:
    """The rules that a message breaks under a contract, or a stream of messages, one a line."""
    sample, validation = sample_of(reference, example), scope_of(reference)
    values = values_of(reference, example)
    if len(values) == 1:
        return [finding.rule for finding in validation.validate(values[0]).verdict.findings]
    if example.then:
        return [finding.rule for finding in contract(reference).check_batch(values).findings]
    tally = account(validation, Source(sample.file.name, 0), list(enumerate(values)))
    finalize(tally, CATALOGUE)
    return [key.rule for key in tally.findings]


@each_reference
def test_facts_are_captured_by_what_is_there_and_proven_by_messages(reference, part):
    for fact in part(BY_REFERENCE[reference], 4):
        for target in fact.captured_by:
            assert find_target(CATALOGUE, reference, target) not in (None, ""), (fact.id, target)
        if fact.conforms:
            values = values_of(reference, fact.conforms)
            assert accepts(reference, values, samples_of(reference).reading_options()), (fact.id, values)
            assert fact.gives not in rules_broken(reference, fact.conforms), fact.id
        if fact.drifts:
            assert fact.gives in rules_broken(reference, fact.drifts), fact.id


@each_reference
def test_the_messages_of_a_fact_tell_a_version_from_each_other_one(reference):
    """The other refuses the message that conforms, or accepts the one that drifts."""
    reading_options, alike = samples_of(reference).reading_options(), []
    for fact in BY_REFERENCE[reference]:
        if fact.captured_by and (others := others_of(fact, reference)):
            right = values_of(reference, fact.conforms)
            wrong = values_of(reference, fact.drifts) if fact.drifts else None
            alike += [
                (fact.id, other)
                for other in others
                if accepts(other, right, reading_options) and not (wrong and accepts(other, wrong, reading_options))
            ]
    assert alike == []


@pytest.mark.parametrize("version", list(CATALOGUE.all_versions()), ids=str)
def test_the_list_of_its_document_names_a_contract(version):
    document = version.resolved["provenance"]["document"]
    [(name, coverage)] = [item for item in LISTS.items() if item[1].document == document]
    facts = {reference: fact for fact in coverage.facts for reference in fact.of}
    row_of(facts, version.reference, where=f"docs/coverage/{name}.yaml")


@pytest.mark.parametrize("name", LISTS)
def test_a_list_names_the_contracts_of_its_document_but_new_ones_and_counts_its_facts(name):
    coverage = LISTS[name]
    of_document = {
        version.reference
        for version in CATALOGUE.all_versions()
        if version.resolved["provenance"]["document"] == coverage.document
    }
    listed = {reference for fact in coverage.facts for reference in fact.of}
    assert listed <= of_document
    assert of_document.intersection(without_rows(CATALOGUE, listed)) == set()
    ids = [fact.id for fact in coverage.facts]
    assert ids == [f"{name.upper()}-{number:03}" for number in range(1, len(ids) + 1)]


@pytest.mark.parametrize("name", LISTS)
def test_the_page_of_a_list_is_up_to_date(name):
    """Where this fails: python docs/write_catalogue.py."""
    page = coverage_page(name, LISTS[name], CATALOGUE.source_documents[LISTS[name].document])
    assert (ROOT / "docs" / "coverage" / f"{name}.md").read_text(encoding="utf-8") == page


@pytest.mark.parametrize("name", LISTS)
def test_facts_are_stated_in_other_words_than_those_of_the_document(name):
    folder = os.environ.get(VARIABLE)
    if not folder:
        pytest.skip(f"{VARIABLE} names no folder of the vendors' documents")
    text = " ".join(Path(folder, LISTS[name].document).read_text(encoding="utf-8").split()).lower()
    assert [fact.id for fact in LISTS[name].facts if fact.fact.rstrip(".").lower() in text] == []


WHOLE = {"id": "ACME-001", "section": "Rows", "fact": "It is so.", "of": ["dts/canal@2"]}


@pytest.mark.parametrize(
    ("rest", "reported"),
    [
        ({}, "needs either captured_by or not_captured"),
        ({"captured_by": ["D04"], "not_captured": "It is not."}, "needs either captured_by or not_captured"),
        ({"captured_by": ["D04"], "conforms": "insert"}, "needs conforms, and either drifts or no_drift"),
        ({"captured_by": ["D04"], "no_drift": "None can."}, "needs conforms, and either drifts or no_drift"),
        ({"not_captured": "It is not.", "drifts": "insert"}, "needs both drifts and gives"),
    ],
)
def test_an_entry_that_is_not_whole_is_refused(rest, reported):
    with pytest.raises(ValueError, match=reported):
        DocumentedFact.model_validate(WHOLE | rest)


def test_a_list_that_is_not_whole_is_refused_with_the_place(tmp_path):
    file = tmp_path / "guide.yaml"
    file.write_text("document: guide.txt\nfact: []\n")
    with pytest.raises(ContractError, match="unknown key; do you mean `facts`") as error:
        read_coverage(file)
    assert error.value.where == str(file)


@pytest.mark.parametrize(
    "target", ["contract#/envelope/oop", "schema#/properties/zzz", "types/dts-canal#/forms/zzz", "form zzz", "E9999"]
)
def test_what_is_not_there_is_no_target(target):
    with pytest.raises(LookupError):
        find_target(CATALOGUE, "dts/canal@2", target)


def test_an_example_changes_and_removes_members_and_leaves_a_sample_alone_without_them():
    wire = scope_of("dts/canal@2").wire
    value = b'{"a": [{"b": 1}], "c": 2, "d": 12.10}'
    assert FactExample(sample="x").edit(value, wire) is value
    edited = FactExample(sample="x", change={"/a/0/b": None}, remove=("/c",)).edit(value, wire)
    assert edited == b'{"a": [{"b": null}], "d": 12.10}'
