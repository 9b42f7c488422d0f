"""Column definitions in DDL: the name, the type as the database stores it, NULL and key constraints."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from cdc_contracts.registry.core.contract.table_contracts import TableColumn
from cdc_contracts.registry.core.tables.ddl.grammars import MYSQL, ORACLE, Grammar, TypeGrammar
from cdc_contracts.registry.core.tables.ddl.tokens import NUMBER, PLAIN, TEXT, DdlError, Word, Words

_LONGEST_FLOAT: Final = 24
"""The highest precision in bits that is stored as a float of 32 bits."""
_EXACT: Final = ("DECIMAL", "NUMBER", "NUMERIC")
_WHOLE_IF_ONE: Final = 1
_PLAIN_TEXT: Final = re.compile(r"[eE]?'(?:[^'\\]|''|\\['\\])*'", re.DOTALL)
"""A text with no other escapes than those of a quote and a backslash."""
_BEHIND_DEFAULT: Final = (
    "NOT", "NULL", "COMMENT", "PRIMARY", "UNIQUE", "KEY", "CHECK", "REFERENCES", "COLLATE", "ON", "CONSTRAINT",
    "GENERATED", "AUTO_INCREMENT", "ENABLE", "DISABLE", "VISIBLE", "INVISIBLE", "COLUMN_FORMAT", "STORAGE", ",",
)  # fmt: skip
"""What may stand behind a default that is one constant."""
_QUOTED: Final = re.compile(r'("(?:[^"]|"")*")')


@dataclass(frozen=True)
class Definition:
    """A column, and whether it is the primary key by itself; a virtual one is computed when it is read."""

    name: str
    column: TableColumn
    primary: bool
    virtual: bool
    line: int


@dataclass
class Traits:
    """What follows the type of a column."""

    nullable: bool = True
    primary: bool = False
    unique: bool = False
    generated: bool = False
    stored: bool = False
    default: str | None = None
    comment: str | None = None


_TRAITS: Final = (
    (("NOT", "NULL", "DISABLE"), "nullable", True),
    (("NOT", "NULL"), "nullable", False),
    (("AS", "IDENTITY"), "nullable", False),
    (("AS",), "generated", True),
    (("STORED",), "stored", True),
    (("PERSISTENT",), "stored", True),
    (("UNIQUE", "KEY"), "unique", True),
)
"""The properties of a column by the words after its type; the first that matches counts."""


def name_of(word: Word, grammar: Grammar) -> str:
    """Return a name as the database stores it."""
    return grammar.fold(word.text) if word.kind == PLAIN else word.text


def read_name(words: Words, grammar: Grammar) -> tuple[str, ...]:
    """Return the name that comes next by its parts. Raises DdlError if none does."""
    parts = [words.take_name("a name")]
    while words.takes("."):
        parts.append(words.take_name("a name"))
    return tuple(name_of(part, grammar) for part in parts)


def is_sent(definition: Definition, grammar: Grammar) -> bool:
    """Return whether changes of a column are logged: some databases compute virtual ones when they are read."""
    return not definition.virtual or grammar.logs_virtual


def is_column(words: Words, grammar: Grammar) -> bool:
    """Return whether the next part of a table is a column, and no key or constraint."""
    return not any(words.sees(*phrase) for phrase in grammar.elements)


def read_column(words: Words, grammar: Grammar) -> Definition:
    """Return the column that some words define; a virtual one need not say its type.

    Raises DdlError if they define none.
    """
    first = words.take_name("the name of a column")
    name = name_of(first, grammar)
    untyped = grammar.name == ORACLE.name and (words.sees("AS", "(") or words.sees("GENERATED", "ALWAYS", "AS", "("))
    stored, serial = ("", False) if untyped else read_type(words, grammar)
    traits = read_traits(words, grammar)
    nullable = traits.nullable and not traits.primary and not serial
    virtual = traits.generated and not traits.stored
    column = TableColumn(type=stored, nullable=nullable, default=traits.default, comment=traits.comment)
    return Definition(name, column, traits.primary, virtual, first.line)


def read_type(words: Words, grammar: Grammar) -> tuple[str, bool]:
    """Return a type as the database names it, and whether it is one that cannot be NULL by itself."""
    begin = words.take_name("the type of a column")
    if begin.says("NOT", "NULL", "DEFAULT", "PRIMARY", "UNIQUE", "COMMENT", "CONSTRAINT", "GENERATED", "AS"):
        raise DdlError("a column has no type", begin.line)
    words.at -= 1
    phrase = next((one for one in grammar.types.phrases if words.sees(*one)), None)
    if phrase is not None:
        words.takes(*phrase)
        base = " ".join(phrase)
    else:
        base = read_type_name(words, grammar)
    arguments = _arguments(words) if words.sees("(") else None
    endings = []
    while ending := next((one for one in grammar.types.endings if words.sees(*one)), None):
        words.takes(*ending)
        more = _arguments(words) if words.sees("(") else None
        endings.append(" ".join(ending) + _bracketed(more))
    stored = _as_stored(base, arguments, endings, grammar.types)
    return stored + _dimensions(words, grammar.types), base in grammar.types.serials


def read_type_name(words: Words, grammar: Grammar) -> str:
    """Return a name of a type; one that a user made may name its schema.

    What is not quoted is in capitals; quotes stay where the name is another one without them.
    """
    parts = [words.take("a type")]
    while words.takes("."):
        parts.append(words.take_name("a type"))
    if len(parts) > 1 and parts[0].text.upper() == grammar.types.catalogue:
        parts = parts[1:]
    return ".".join(_type_name(part, grammar) for part in parts)


def _type_name(word: Word, grammar: Grammar) -> str:
    if word.kind == PLAIN:
        return word.text.upper()
    plain = word.text == grammar.fold(word.text) and word.text not in grammar.types.always_quoted
    return word.text.upper() if plain else word.written


def _dimensions(words: Words, types: TypeGrammar) -> str:
    """Return `[]` where a type is one of arrays: the database keeps neither their dimensions nor their lengths."""
    if not types.arrays:
        return ""
    found = words.takes("ARRAY")
    while words.takes("["):
        found = True
        while not words.takes("]"):
            words.take("a bracket")
    return "[]" if found else ""


def _arguments(words: Words) -> list[str]:
    """Return the parameters of a type, texts as they are written."""
    return [_argument(part.words) for part in words.take_group().split()]


def _argument(words: Sequence[Word]) -> str:
    """Return one of them; only the scale of an exact number may be negative, and its sign belongs to it."""
    between = "" if words and words[0].says("-") else " "
    return between.join(_text(one) if one.kind == TEXT else one.text.upper() for one in words)


def _text(word: Word) -> str:
    """Return a text in the quotes that the database prints, which takes others too."""
    if not word.written.startswith('"'):
        return word.written
    inside = word.text.replace("\\", "\\\\").replace("'", "''")
    return f"'{inside}'"


def _as_stored(base: str, arguments: list[str] | None, endings: list[str], types: TypeGrammar) -> str:
    if not endings and base in types.around:
        base, ending = types.around[base]
        endings = [ending]
    if arguments is None and base in types.bare:
        named = types.bare[base]
    elif types.wide_float and "FLOAT" in (base, types.synonyms.get(base)) and _is_double(arguments):
        named = types.wide_float
    else:
        base = types.synonyms.get(base, base)
        arguments = None if base in types.unsized else _completed(base, arguments)
        named = base + _bracketed(arguments) if arguments is not None else types.bare.get(base, base)
    if "ZEROFILL" in endings:
        endings = ["UNSIGNED", "ZEROFILL"]
    words = [named, *(ending for ending in dict.fromkeys(endings) if ending != "SIGNED")]
    return " ".join(_spelled(word, types) for word in words)


def _completed(base: str, arguments: list[str] | None) -> list[str] | None:
    """Return the arguments as they are stored: a number with a precision and no scale is an integer."""
    if base not in _EXACT or arguments is None:
        return arguments
    if arguments == ["*"]:
        return None
    precision = "38" if arguments[0] == "*" else arguments[0]
    return [precision, arguments[1] if len(arguments) > _WHOLE_IF_ONE else "0"]


def _is_double(arguments: list[str] | None) -> bool:
    return (
        arguments is not None and len(arguments) == 1 and arguments[0].isdigit() and int(arguments[0]) > _LONGEST_FLOAT
    )


def _bracketed(arguments: list[str] | None) -> str:
    return "" if arguments is None else f"({','.join(arguments)})"


def _spelled(word: str, types: TypeGrammar) -> str:
    """Return a word of a type in the case of the database; the members of an ENUM keep theirs."""
    name, bracket, rest = word.partition("(")
    quoted = "'" in rest or '"' in rest
    parts = (part if part.startswith('"') else types.spell(part) for part in _QUOTED.split(name))
    return "".join(parts) + bracket + (rest if quoted else types.spell(rest))


def read_traits(words: Words, grammar: Grammar) -> Traits:
    """Return the constraints of a column after its type; expressions in brackets are skipped."""
    traits = Traits()
    while words:
        said = next(((name, value) for phrase, name, value in _TRAITS if words.takes(*phrase)), None)
        if said is not None:
            setattr(traits, *said)
        elif words.takes("SET", "DEFAULT"):
            pass  # what a foreign key does with the column
        elif words.takes("DEFAULT"):
            traits.nullable = traits.nullable and not words.takes("ON", "NULL")
            traits.default = read_constant(words, grammar)
        elif any(words.takes(*phrase) for phrase in grammar.primary):
            traits.primary = True
        elif words.sees("("):
            words.take_group()
        elif words.takes("COMMENT"):
            text = words.peek()
            traits.comment = text.text if text is not None and text.kind == TEXT else None
        else:
            words.at += 1
    return traits


def read_constant(words: Words, grammar: Grammar) -> str | None:
    """Return the constant that comes next: a text without its quotes, a number, or true or false.

    None for NULL, for what a database computes for each row, and for what databases read in ways of their own: bits,
    hexadecimal numbers, and texts with escapes other than those of a quote or a backslash.
    """
    begin = words.at
    sign = "-" if words.takes("-") else ""
    word = words.peek()
    if word is not None and _is_constant(word, grammar, signed=bool(sign)):
        words.at += 1
        while words.takes("::"):
            read_type(words, grammar)
        following = words.peek()
        if following is None or following.says(*_BEHIND_DEFAULT):
            return sign + word.text
    words.at = begin
    return None


def _is_constant(word: Word, grammar: Grammar, *, signed: bool) -> bool:
    if word.kind == NUMBER or signed:
        return word.kind == NUMBER
    return word.says("TRUE", "FALSE") or (word.kind == TEXT and _is_plain_text(word.written, grammar))


def _is_plain_text(written: str, grammar: Grammar) -> bool:
    """Return whether a text is no bits or hexadecimal digits, and has no escape but those of a quote or a backslash."""
    if grammar.name == MYSQL.name or written[:1] in ("e", "E"):
        return _PLAIN_TEXT.fullmatch(written) is not None
    return written[:1] in ("'", "q", "Q")
