"""The pages of the catalogue are those of the contracts as they are now."""

from pathlib import Path

import pytest
from catalogue_pages import INDEX, catalogue_pages, page_name, vocabulary_page
from vocabulary_page import vocabulary

from cdc_contracts.registry.core.contract.catalogue import shipped_catalogue

FOLDER = Path(__file__).parents[1] / "docs" / "catalogue"
CATALOGUE = shipped_catalogue()


@pytest.fixture(scope="module")
def pages():
    return catalogue_pages(CATALOGUE)


def test_docs_catalogue_is_up_to_date(pages):
    """Where this fails: python docs/write_catalogue.py."""
    assert {file.name: file.read_text(encoding="utf-8") for file in FOLDER.glob("*.md")} == pages


def test_every_subject_has_a_page_and_a_line_in_the_index(pages):
    assert {*pages} == {INDEX, *map(page_name, CATALOGUE.subjects())}
    assert all(f"[{subject}]({page_name(subject)})" in pages[INDEX] for subject in CATALOGUE.subjects())


def test_a_page_says_what_differs_between_versions(pages):
    page = pages["dts-canal.md"]
    assert "What differs from dts/canal@2:" in page
    assert "/old" in page.partition("## dts/canal@1")[2]


def test_docs_vocabulary_is_up_to_date():
    """Where this fails: python docs/write_catalogue.py."""
    assert (FOLDER.parent / "vocabulary.md").read_text(encoding="utf-8") == vocabulary_page(CATALOGUE)


def test_every_word_of_the_vocabulary_is_used_by_some_contract():
    unused = {word for title, entries in vocabulary(CATALOGUE) for word, _, count in entries if not count}
    assert unused == {
        "epoch-millis.fraction-number",  # the number form of a template that no sample has (E35)
        "avro-character",  # for mappings whose types tell text and bytes apart
        "avro-bytes",
        "avro-zoned",  # no type of MySQL has a zone
        "epoch-micros-instant",  # for records whose schema stands in a registry
        "epoch-nanos-instant",
        "hex-0x",  # for products that write bytes so
        "decimal-text-of-scale",  # for products that cut the digits of a zero
    }
