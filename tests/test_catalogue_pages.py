"""The pages of the catalogue are those of the contracts as they are now."""

from pathlib import Path

import pytest
from catalogue_pages import INDEX, catalogue_pages, page_name, vocabulary_page
from format_evidence import CAPTURES, captures_of
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


def test_a_page_says_what_each_option_of_the_producer_changes_and_how_that_looks(pages):
    table = pages["debezium-json.md"].partition("### What options change, debezium-mysql\n")[2].partition("###")[0]
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines() if line.startswith("| `")
    ]
    decimals = {row[1]: row[4] for row in rows if row[0] == "`decimal.handling.mode`"}
    assert decimals == {"`precise`": '`"AxY="`', "`string`": '`"12.10"`', "`double`": "`12.5`"}
    written = {(row[1], row[2]) for row in rows if row[0] == "`time.precision.mode`"}
    assert ("`adaptive_time_microseconds`, `connect`, `microseconds`, `nanoseconds`", "DATE") in written
    assert ("`nanoseconds`", "DATETIME") in written


def test_the_index_says_of_which_releases_messages_were_captured(pages):
    rests = {
        cells[1].partition("]")[0].strip(" ["): cells[4].strip()
        for cells in (line.split("|") for line in pages[INDEX].splitlines() if line.startswith("| ["))
    }
    assert rests["canal/flat"] == "real runs of 1.1.7"
    assert rests["debezium/flat"] == "real runs of 1.9.7, 3.5.0"
    assert rests["debezium/json"] == "real runs of 1.9.7, 2.3.4, 2.5.4, 2.7.4, 3.0.8, 3.3.0, 3.5.0, 3.6.1"
    assert (rests["ticdc/debezium"], rests["dts/canal"]) == ("source code", "documents")


def test_every_capture_is_evidence_of_one_subject():
    files = [file for subject in CATALOGUE.subjects() for file in captures_of(subject)]
    assert sorted(files) == sorted(CAPTURES.glob("*/*/*/*.jsonl.xz"))


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
