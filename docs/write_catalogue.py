"""Writes the catalogue, the vocabulary and the pages of coverage in `docs/`: `python docs/write_catalogue.py`."""

from pathlib import Path

from catalogue_pages import catalogue_pages, vocabulary_page
from coverage_pages import coverage_page, read_coverage

from cdc_contracts.registry.core.contract.catalogue import shipped_catalogue

FOLDER = Path(__file__).parent / "catalogue"
VOCABULARY = Path(__file__).parent / "vocabulary.md"
COVERAGE = Path(__file__).parent / "coverage"

if __name__ == "__main__":
    catalogue = shipped_catalogue()
    pages = catalogue_pages(catalogue)
    VOCABULARY.write_text(vocabulary_page(catalogue), encoding="utf-8")
    FOLDER.mkdir(exist_ok=True)
    for file in FOLDER.glob("*.md"):
        if file.name not in pages:
            file.unlink()
    for name, text in pages.items():
        (FOLDER / name).write_text(text, encoding="utf-8")
    for file in sorted(COVERAGE.glob("*.yaml")):
        coverage = read_coverage(file)
        page = coverage_page(file.stem, coverage, catalogue.source_documents[coverage.document])
        file.with_suffix(".md").write_text(page, encoding="utf-8")
