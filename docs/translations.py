"""Translations: pages in Chinese, and which text of the pages in English they translate.

    python docs/translations.py [PAGE...]   # pages in Chinese that follow their originals; default: all

The last line of a page in Chinese has a digest of the text of each section of its original (blocks and line breaks
apart). Where a digest differs, the original was changed after the translation. This command renews the digests.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Final

DOCS: Final = Path(__file__).parent
ROOT: Final = DOCS.parent
COMMAND: Final = "python docs/translations.py"
_BLOCK: Final = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_COMMENT: Final = re.compile(r"<!--.*?-->", re.DOTALL)
_HEADING: Final = re.compile(r"^(#+) (.*)\n", re.MULTILINE)
_RECORD: Final = re.compile(r"\n<!-- translates: ([0-9a-f ]*) -->\n\Z")


@dataclass(frozen=True)
class Section:
    """One heading of a page with the text below it, without blocks and comments."""

    level: str
    heading: str
    text: str

    @property
    def digest(self) -> str:
        """What changes with the words of the section: eight hexadecimal digits."""
        words = " ".join(f"{self.level} {self.heading} {self.text}".split())
        return sha256(words.encode()).hexdigest()[:8]


def sections_of(page: Path) -> list[Section]:
    """Return the sections of a page, from top to bottom."""
    text = _COMMENT.sub("", _BLOCK.sub("", page.read_text(encoding="utf-8")))
    parts = _HEADING.split(text)
    return [Section(*part) for part in zip(parts[1::3], parts[2::3], parts[3::3], strict=True)]


def originals() -> dict[Path, Path]:
    """Return the original in English of each page in Chinese."""
    pages = {path: path.with_name(path.name.replace(".zh.md", ".md")) for path in sorted(DOCS.rglob("*.zh.md"))}
    return {ROOT / "README.zh-CN.md": ROOT / "README.md", **pages}


def changed_sections(chinese: Path, english: Path) -> list[str]:
    """Return the headings of the original whose text is not what the page in Chinese translates."""
    record = _RECORD.search(chinese.read_text(encoding="utf-8"))
    recorded = record[1].split() if record else []
    sections = sections_of(english)
    changed = [section.heading for section in sections if section.digest not in recorded]
    if not changed and recorded != [section.digest for section in sections]:
        return ["the order or number of sections"]
    return changed


def record_originals(pages: Iterable[Path]) -> None:
    """Write into pages in Chinese that they translate the present text of their originals."""
    english = originals()
    for page in pages:
        digests = " ".join(section.digest for section in sections_of(english[page]))
        text = _RECORD.sub("", page.read_text(encoding="utf-8")).rstrip("\n")
        page.write_text(f"{text}\n\n<!-- translates: {digests} -->\n", encoding="utf-8")


if __name__ == "__main__":
    named = [Path(name).resolve() for name in sys.argv[1:]]
    if unknown := [page.name for page in named if page not in originals()]:
        sys.exit(f"{', '.join(unknown)}: no page in Chinese with an original. Name one such as docs/first-steps.zh.md.")
    record_originals(named or originals())
