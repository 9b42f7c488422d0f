"""Safe text: untrusted text made safe to display; invisible or misleading characters are escaped."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import Final

_UNSEEN: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_LONGEST: Final = 240
_LONGEST_SENTENCE: Final = 1_000


def visible(text: str, *, most: int | None = _LONGEST) -> str:
    """Return text on one line, without control, format or direction characters, cut after `most` characters.

    Names come from messages that anybody may have written: a line break, a terminal sequence or a character that turns
    the direction of the text must not look like a part of the report.
    """
    cut = len(text) - most if most is not None else 0
    if cut > 0:
        text = text[:most]
    if not text.isprintable():
        text = "".join(_escape(char) if unicodedata.category(char) in _UNSEEN else char for char in text)
    return f"{text}… ({cut:,} more characters)" if cut > 0 else text


def sentence(text: str) -> str:
    """Return a sentence that may hold names, made safe, and cut if it is too long to read."""
    return visible(text, most=_LONGEST_SENTENCE)


def visible_lines(text: str) -> list[str]:
    """Return the lines of a longer text, each made safe, none cut."""
    return [visible(line, most=None) for line in text.split("\n")]


def _escape(char: str) -> str:
    short = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}.get(char)
    return short or char.encode("unicode-escape", "surrogatepass").decode("ascii")


def list_first(texts: Sequence[str], most: int) -> str:
    """Return the first of some texts as a list, and how many more there are."""
    more = len(texts) - most
    return ", ".join(texts[:most]) + (f" and {more:,} more" if more > 0 else "")
