"""Near relatives of the catalogue: what there is to try detection on."""

from __future__ import annotations

import json
import re
from pathlib import Path

FOLDER = Path(__file__).parent / "relatives"
FILES = sorted(path for path in FOLDER.glob("**/*") if path.suffix in (".jsonl", ".bin"))


def test_every_file_is_described_and_every_description_has_its_file():
    reported = set()
    for line in (FOLDER / "README.md").read_text(encoding="utf-8").splitlines():
        if line.startswith("| `"):
            reported |= set(re.findall(r"`([^`]+)`", line.split("|")[1]))
    assert reported == {path.name.removesuffix(".jsonl") for path in FILES}
    assert len(FILES) >= 40


def test_every_line_is_one_json_text():
    for path in FILES:
        if path.suffix == ".jsonl":
            lines = path.read_bytes().splitlines()
            assert 1 <= len(lines) <= 30, path.name
            for line in lines:
                json.loads(line)


def test_one_message_alone_is_taken_for_no_contract():
    from topics import CATALOGUE

    from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
    from cdc_contracts.registry.core.validate.candidates import open_validations, weigh

    validations = open_validations(CATALOGUE, ReadingOptions())
    fitting = set()
    for path in FILES:
        if path.parent == FOLDER:
            values = path.read_bytes().splitlines() if path.suffix == ".jsonl" else [path.read_bytes()]
            if any(one.fits for value in values for one in weigh(value, validations)):
                fitting.add(path.stem)
    assert fitting == set()
