"""The vendors' documents: what each is called, where it stands, and that the texts that were read are those here."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest
from seeds import COMMUNITY, DRS, DTS, ENTERPRISE, STREAMX, VARIABLE

from cdc_contracts.registry.core.common.errors import ContractError
from cdc_contracts.registry.core.contract.catalogue import Catalogue
from cdc_contracts.registry.core.contract.errata import read_errata, read_errata_file
from cdc_contracts.registry.core.contract.source_documents import describe_source, read_documents_file

CATALOGUE = Catalogue([Path(__file__).parents[3] / "contracts"])
GUIDE = (
    "documents:\n  guide.txt:\n    title: Guide\n    vendor: Acme\n    product: Plain\n    sha256: " + "0" * 64 + "\n"
)


def test_every_contract_and_every_erratum_comes_from_a_document_that_is_listed():
    known = CATALOGUE.source_documents
    assert {COMMUNITY, ENTERPRISE, DRS, STREAMX, DTS} <= set(known)
    cited = [version.resolved["provenance"] for version in CATALOGUE.all_versions()]
    assert {name for one in cited for name in (one["document"], *one.get("by_kind", {}).values())} == set(known)
    errata = read_errata(CATALOGUE)
    assert {erratum.document for erratum in errata.values()} <= set(known)
    assert {one for document in known.values() for one in document.errata} <= set(errata)


@pytest.mark.parametrize("name", [COMMUNITY, ENTERPRISE, DRS, STREAMX, DTS])
def test_the_text_that_was_read_is_the_one_of_the_digest(name):
    folder = os.environ.get(VARIABLE)
    if not folder:
        pytest.skip(f"{VARIABLE} names no folder of the vendors' documents")
    assert hashlib.sha256(Path(folder, name).read_bytes()).hexdigest() == CATALOGUE.source_documents[name].sha256


def test_a_source_is_given_by_title_section_and_address():
    assert CATALOGUE.version("dts/canal@2").source == (
        "Data storage formats in message queues (Data Transmission Service), Canal Json, "
        "https://www.alibabacloud.com/help/en/dts/user-guide/data-formats-of-a-kafka-cluster"
    )


def test_an_unlisted_document_is_named_by_its_file(tmp_path):
    assert describe_source({"document": "guide.txt", "section": "Rows"}, {}) == "guide.txt, Rows"
    assert describe_source({}, {}) is None
    (tmp_path / "documents.yaml").write_text(GUIDE)
    listed = read_documents_file(tmp_path / "documents.yaml").documents
    assert describe_source({"document": "guide.txt", "section": "Rows"}, listed) == "Guide (Plain), Rows"


@pytest.mark.parametrize(
    ("wrong", "reported"),
    [
        (GUIDE.replace("vendor", "vendr"), "unknown key; do you mean `vendor`?"),
        (GUIDE.replace("0" * 64, "abc"), "sha256"),
        (GUIDE + "    address: page 7\n", "address"),
        ("documents: []\n", "expected a mapping"),
    ],
)
def test_a_list_that_is_not_whole_is_refused_with_the_place(tmp_path, wrong, reported):
    file = tmp_path / "documents.yaml"
    file.write_text(wrong)
    with pytest.raises(ContractError) as error:
        read_documents_file(file)
    assert reported in str(error.value)
    assert error.value.where == str(file)


@pytest.mark.parametrize(
    ("wrong", "reported"),
    [
        (("E7", "F7"), "F7: id"),
        (("note", "wait"), "E7: decision"),
        (("why: it is rare", "why: ''"), "E7: why"),
        ((", why: it is rare", ""), "E7: why: is missing"),
        (("- {", " a: {"), "not a YAML list"),
        (("}", "}\n- {id: E7, document: d, says: a, shows: b, decision: note, why: it is}"), "E7 occurs twice"),
    ],
)
def test_a_file_of_errata_that_is_not_as_it_should_be_says_where(tmp_path, wrong, reported):
    file = tmp_path / "errata.yaml"
    text = "- {id: E7, document: d, says: a, shows: b, decision: note, why: it is rare}"
    file.write_text(text)
    assert [entry.id for entry in read_errata_file(file)] == ["E7"]
    file.write_text(text.replace(*wrong))
    with pytest.raises(ContractError, match=reported):
        read_errata_file(file)
