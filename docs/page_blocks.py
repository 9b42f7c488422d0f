"""Page blocks: the blocks of a page of the documentation, and what a reader types from them.

A block of shell or Python is carried out in the folder of its page, in order, and what a `console` block or a block of
text below Python shows is compared. A
comment above a block says otherwise: `<!-- needs: WHAT -->` is what a block cannot be carried out without, and
`<!-- file: NAME -->` makes a file of a block.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

_BLOCK = re.compile(
    r"(?:^ *<!-- (?P<note>needs|file): (?P<what>[^\n]+?) -->\n)?"
    r"^(?P<indent> *)```(?P<language>\w+)\n(?P<text>.*?)^ *```$",
    re.MULTILINE | re.DOTALL,
)
_PROMPT = re.compile(r"^\$ ", re.MULTILINE)
_STEP = re.compile(
    r"(?:[^\n]*\\\n)*[^\n]*<<'(?P<end>\w+)'[^\n]*\n(?:.*\n)*?(?P=end)\n"  # lines up to the end of a text
    r"|for [^\n]*\n(?:.*\n)*?done\n"
    r"|(?:[^\n]*\\\n)*[^\n]*(?:\n|\Z)"
)
_OUTPUT = re.compile(r"\n*```text\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Step:
    """What a reader types at once: a line with what continues it. `shown` is the output on the page, if it has one."""

    typed: str
    shown: str | None


@dataclass(frozen=True)
class Block:
    """One block of a page; `file` is the name of the file that it is, `needs` what it cannot be carried out without.

    `shown` is the output of a block of Python, if a block of text below has it.
    """

    page: Path
    line: int
    language: str
    text: str
    file: str | None
    needs: str | None
    shown: str | None = None

    @property
    def steps(self) -> list[Step]:
        """What is typed, one after the other; nothing for a block that is no shell."""
        if self.language == "console":
            parts = [_STEP.match(part) for part in _PROMPT.split(self.text)[1:]]
            return [Step(part[0], part.string[part.end() :]) for part in parts if part is not None]
        if self.language == "sh":
            lines = [found[0] for found in _STEP.finditer(self.text)]
            return [Step(line, None) for line in lines if line.strip() and not line.startswith("#")]
        if self.language == "python" and self.file is None:
            return [Step(f"python - <<'END'\n{self.text}END\n", self.shown)]
        return []


def blocks_of(page: Path) -> list[Block]:
    """Return the blocks of a page, from top to bottom."""
    text = page.read_text(encoding="utf-8")
    return [
        Block(
            page,
            text.count("\n", 0, found.start()) + 1,
            found["language"],
            re.sub(rf"^{found['indent']}", "", found["text"], flags=re.MULTILINE),
            found["what"] if found["note"] == "file" else None,
            found["what"] if found["note"] == "needs" else None,
            _output_below(text, found) if found["language"] == "python" else None,
        )
        for found in _BLOCK.finditer(text)
    ]


def _output_below(page: str, block: re.Match[str]) -> str | None:
    """Return the block of text that follows a block at once."""
    found = _OUTPUT.match(page, block.end())
    return found[1] if found else None


def agrees(printed: str, shown: str) -> bool:
    """Whether what was printed is what is shown; a line `...` stands for any lines, and `…` for any text in a line."""
    parts = re.split(r"^\.\.\.\n", shown, flags=re.MULTILINE)
    pattern = ".*".join("[^\\n]*".join(map(re.escape, part.split("…"))) for part in parts)
    return re.fullmatch(pattern, printed, re.DOTALL) is not None
