"""Writes `docs/catalogue/` from the contracts: `python docs/write_catalogue.py`."""

from pathlib import Path

from cdc_contracts.registry.catalogue import shipped_catalogue
from cdc_contracts.registry.pages import catalogue_pages

FOLDER = Path(__file__).parent / "catalogue"

if __name__ == "__main__":
    pages = catalogue_pages(shipped_catalogue())
    FOLDER.mkdir(exist_ok=True)
    for file in FOLDER.glob("*.md"):
        if file.name not in pages:
            file.unlink()
    for name, text in pages.items():
        (FOLDER / name).write_text(text, encoding="utf-8")
