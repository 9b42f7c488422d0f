"""Tokens: the words of a DDL text, each with its line; strings, comments and quotes are left to sqlglot.

Its parser is not used. It refuses whole statements over clauses that say nothing of columns (`NOT NULL ENABLE`,
`SUPPLEMENTAL LOG DATA`, `float unsigned`), and rewrites the names of types.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

PLAIN: Final = "plain"
QUOTED: Final = "quoted"
TEXT: Final = "text"
NUMBER: Final = "number"
SIGN: Final = "sign"

_PIECE: Final = re.compile(r"\S+")
_BEGINS: Final = re.compile(r"from \d+:(\d+)")
_WORDLIKE: Final = re.compile(r"[\w$#]")
_EXECUTED: Final = re.compile(r"/\*M?!\d{0,6}(.*?)\*/", re.DOTALL)
_PROGRAMS: Final = ("EVENT", "FUNCTION", "PACKAGE", "PROCEDURE", "TRIGGER", "TYPE")
_OTHERS: Final = ("INDEX", "TABLE", "VIEW")


class DdlError(Exception):
    """A place in a DDL text that cannot be read: what is wrong, and on which line."""

    def __init__(self, what: str, line: int) -> None:
        super().__init__(what)
        self.what = what
        self.line = line


class Word(NamedTuple):
    """One word: its text without quotes, its kind, its line from 1, the text as written, and if it begins a line.

    `means` is the text in capitals where it is not quoted, else empty.
    """

    text: str
    kind: str
    line: int
    written: str
    leads: bool
    means: str

    def says(self, *words: str) -> bool:
        """Return whether this is one of some words or signs, not quoted; words are given in capitals."""
        return self.means in words

    @property
    def is_name(self) -> bool:
        """Whether it may be a name; with ANSI_QUOTES, MySQL writes names in double quotes."""
        return self.kind in (PLAIN, QUOTED) or (self.kind == TEXT and self.written.startswith('"'))


@dataclass
class Words:
    """Words that are read one after the other."""

    words: Sequence[Word]
    at: int = 0

    def __bool__(self) -> bool:
        return self.at < len(self.words)

    @property
    def line(self) -> int:
        """The line of the next word, or of the last where none is left."""
        return self.words[min(self.at, len(self.words) - 1)].line if self.words else 1

    def peek(self, ahead: int = 0) -> Word | None:
        """Return a word to come, None after the last."""
        at = self.at + ahead
        return self.words[at] if at < len(self.words) else None

    def sees(self, *phrase: str) -> bool:
        """Return whether the next words are these, not quoted."""
        words, at = self.words, self.at
        if at + len(phrase) > len(words):
            return False
        return all(words[at + ahead].means == wanted for ahead, wanted in enumerate(phrase))

    def takes(self, *phrase: str) -> bool:
        """Move past these words if they come next, and return whether they did."""
        seen = self.sees(*phrase)
        self.at += len(phrase) if seen else 0
        return seen

    def take(self, what: str) -> Word:
        """Return the next word. Raises DdlError if there is none."""
        word = self.peek()
        if word is None:
            raise DdlError(f"the text ends where {what} is expected", self.line)
        self.at += 1
        return word

    def take_name(self, what: str) -> Word:
        """Return the next word, which has to be a name. Raises DdlError if it is not."""
        word = self.take(what)
        if not word.is_name or not word.text:
            raise DdlError(f"`{word.written}` found where {what} is expected", word.line)
        return word

    def take_group(self) -> Words:
        """Return the words between the next bracket and the one that closes it.

        Raises DdlError if none does.
        """
        opening = self.take("a bracket")
        depth, begin = 1, self.at
        while depth:
            word = self.peek()
            if word is None:
                raise DdlError("a bracket is not closed", opening.line)
            depth += word.says("(") - word.says(")")
            self.at += 1
        return Words(self.words[begin : self.at - 1])

    def split(self) -> Iterator[Words]:
        """Yield the rest, split at the commas outside brackets."""
        begin, depth = self.at, 0
        for at in range(self.at, len(self.words)):
            word = self.words[at]
            depth += word.says("(") - word.says(")")
            if depth == 0 and word.says(","):
                yield Words(self.words[begin:at])
                begin = at + 1
        yield Words(self.words[begin:])


def read_words(text: str, grammar: str) -> list[Word]:
    """Return the words of a text in the SQL of a grammar.

    Raises DdlError if it cannot be cut into words.
    """
    from sqlglot.dialects.dialect import Dialect
    from sqlglot.errors import SqlglotError

    try:
        tokens = Dialect.get_or_raise(grammar).tokenize(text)
    except (SqlglotError, ValueError, IndexError, RecursionError) as error:
        raise DdlError("a quote or comment is not closed", _line_of(error, text)) from error
    words: list[Word] = []
    line, at = 1, 0
    for token in tokens:
        gap = text.count("\n", at, token.start)
        leads = gap > 0 or not words
        line, at = line + gap, token.start
        written = text[token.start : token.end + 1]
        kind = _kind_of(token.token_type.name, written)
        if kind != PLAIN:
            words.append(Word(token.text, kind, line, written, leads, written if kind == SIGN else ""))
            continue
        for piece in _PIECE.findall(written):  # `PRIMARY KEY` is one token
            words.append(Word(piece, kind, line, piece, leads, piece.upper()))
            leads = False
    return words


def _kind_of(name: str, written: str) -> str:
    if name == "IDENTIFIER":
        return QUOTED
    if name.endswith("STRING"):
        return TEXT
    if name == "NUMBER":
        return NUMBER
    return PLAIN if _WORDLIKE.match(written) else SIGN


def statements_of(words: Sequence[Word]) -> Iterator[Words]:
    """Yield what stands between semicolons."""
    begin = 0
    for at in [*(number for number, word in enumerate(words) if word.says(";")), len(words)]:
        yield Words(words[begin:at])
        begin = at + 1


def statements_run(text: str, grammar: str) -> Iterator[Words]:
    """Yield the statements of a DDL message, in the SQL of a grammar, but for procedures that it defines.

    What stands in a comment that MySQL executes belongs to them. Raises DdlError as `read_words` does.
    """
    closed, end, rest = text.rpartition("*/")  # after the last one every search would go on to the end
    for statement in statements_of(read_words(_EXECUTED.sub(r" \1 ", closed + end) + rest, grammar)):
        if _defines_program(statement):
            return
        yield statement


def _defines_program(words: Words) -> bool:
    """Return whether semicolons that follow stand in the body of a procedure or the like."""
    if not (words.sees("CREATE") or words.sees("ALTER")):
        return False
    kind = next((word for word in words.words if word.says(*_PROGRAMS, *_OTHERS)), None)
    return kind is not None and kind.says(*_PROGRAMS)


def _line_of(error: BaseException, text: str) -> int:
    """Return the line where an open quote begins, as far as the error of the tokenizer shows it: it has the offset."""
    cause: BaseException | None = error
    while cause is not None:
        found = _BEGINS.search(str(cause))
        if found:
            return text.count("\n", 0, int(found[1])) + 1
        cause = cause.__cause__
    return 1
