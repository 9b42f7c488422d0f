"""CREATE TABLE statements of a DDL file as table contracts, with the changes by later statements."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from cdc_contracts.registry.core.contract.table_contracts import TableColumn, TableContract
from cdc_contracts.registry.core.tables.ddl.alter_table import alter
from cdc_contracts.registry.core.tables.ddl.column_definitions import (
    is_column,
    name_of,
    read_column,
    read_name,
    read_traits,
)
from cdc_contracts.registry.core.tables.ddl.contract_drafts import Drafts, Problem, TableDraft, read_constraint
from cdc_contracts.registry.core.tables.ddl.grammars import GRAMMARS, Grammar
from cdc_contracts.registry.core.tables.ddl.search_path import read_search_path
from cdc_contracts.registry.core.tables.ddl.tokens import TEXT, DdlError, Word, Words, read_words

MOST_CHARACTERS: Final = 32 * 1024 * 1024

_OF_TABLES: Final = frozenset({"GLOBAL", "TEMPORARY", "PRIVATE", "SHARDED", "DUPLICATED", "IMMUTABLE", "BLOCKCHAIN",
                               "EXTERNAL", "OR", "REPLACE", "TEMP", "LOCAL", "UNLOGGED"})  # fmt: skip
_HEADS: Final = ("CREATE", "ALTER", "COMMENT")
_FROM_SELECT: Final = (("AS", "SELECT"), ("AS", "WITH"), ("AS", "TABLE"), ("AS", "VALUES"), ("AS", "EXECUTE"))
_TWO_WORDS: Final = frozenset({"CREATE", "ALTER", "DROP", "INSERT", "LOCK", "UNLOCK", "REPLACE"})


@dataclass(frozen=True)
class Definitions:
    """What a text defines: its tables in order, what could not be read, what was left out, and what was skipped.

    `passed` counts the statements that define no table, by their first words.
    """

    tables: tuple[TableContract, ...]
    problems: tuple[Problem, ...] = ()
    left_out: tuple[Problem, ...] = ()
    passed: Mapping[str, int] = field(default_factory=dict)


def read_create_table(text: str, dialect: str, database: str | None = None) -> Definitions:
    """Return the table contracts of a text in the SQL of `mysql`, `oracle` or `postgres`.

    A table without a database is in the one that USE named last, else in `database`. Where databases have schemas, one
    without a schema is in the first of the search path.
    Raises KeyError if there is no such dialect of SQL; whatever else is wrong is reported as a problem.
    """
    grammar = GRAMMARS[dialect]
    drafts, passed = Drafts(grammar, database), Counter[str]()
    if len(text) > MOST_CHARACTERS:
        drafts.refuse(1, f"longer than {MOST_CHARACTERS:,} characters", "Dump the tables without their rows.")
        return drafts_as_definitions(drafts, passed)
    try:
        words = read_words(_without_data(text, grammar), dialect)
    except DdlError as error:
        drafts.refuse(error.line, error.what, "Nothing in the file was read; correct it there.")
        return drafts_as_definitions(drafts, passed)
    for statement in _statements(words):
        try:
            _read_statement(statement, drafts, passed)
        except DdlError as error:
            drafts.refuse(error.line, error.what, "The statement was not read; export it as the database prints it.")
    return drafts_as_definitions(drafts, passed)


def _without_data(text: str, grammar: Grammar) -> str:
    """Return a text with empty lines for what is no SQL."""
    return grammar.data.sub(lambda found: "\n" * found[0].count("\n"), text) if grammar.data else text


def drafts_as_definitions(drafts: Drafts, passed: Mapping[str, int]) -> Definitions:
    """Return the drafts as definitions."""
    return Definitions(tuple(drafts.contracts()), tuple(drafts.problems), tuple(drafts.left_out), dict(passed))


def _statements(words: list[Word]) -> Iterator[Words]:
    """Yield the statements: they end with `;`, with `/` on a line of its own, or where another begins a line."""
    begin = 0
    for at, word in enumerate(words):
        alone = word.says("/") and word.leads and (at + 1 == len(words) or words[at + 1].leads)
        if word.says(";") or alone:
            if at > begin:
                yield Words(words[begin:at])
            begin = at + 1
        elif word.leads and at > begin and word.says(*_HEADS) and _defines(words, at):
            yield Words(words[begin:at])
            begin = at
    if begin < len(words):
        yield Words(words[begin:])


def _defines(words: list[Word], at: int) -> bool:
    """Return whether a statement about a table begins here, so that one without an end before it hides none."""
    ahead = Words(words[at : at + 6])
    if ahead.sees("ALTER", "TABLE") or ahead.sees("COMMENT", "ON"):
        return True
    return ahead.sees("CREATE") and _goes_to_table(ahead)


def _goes_to_table(words: Words) -> bool:
    """Move past CREATE … TABLE if it comes next, and return whether it did."""
    begin = words.at
    words.takes("CREATE")
    while (word := words.peek()) is not None and word.says(*_OF_TABLES):
        words.at += 1
    if words.takes("TABLE"):
        return True
    words.at = begin
    return False


def _read_statement(words: Words, drafts: Drafts, passed: Counter[str]) -> None:
    first = words.take("a statement")
    words.at -= 1
    if words.sees("CREATE") and _goes_to_table(words):
        if any(word.says("TEMPORARY", "TEMP") for word in words.words[: words.at]):
            passed["CREATE TEMPORARY TABLE"] += 1
        else:
            _read_table(words, drafts, first.line)
    elif words.takes("ALTER", "TABLE"):
        alter(words, drafts, first.line)
    elif words.takes("COMMENT", "ON"):
        _read_comment(words, drafts)
    elif words.takes("USE"):
        drafts.database = name_of(words.take_name("a database"), drafts.grammar)
    elif not drafts.grammar.schemas or not _read_of_schemas(words, drafts):
        words.at = 0
        length = 2 if first.text.upper() in _TWO_WORDS else 1
        passed[" ".join(word.text.upper() for word in words.words[:length] if word.is_name)[:40] or first.text] += 1


def _read_of_schemas(words: Words, drafts: Drafts) -> bool:
    """Follow what names or changes types, or says in which schemas they are, and return whether that was all."""
    schemas = read_search_path(words, drafts.grammar)
    if schemas is not None:
        drafts.schemas = schemas
        return False
    return drafts.types.define(words, drafts.schemas) or drafts.types.alter(words, drafts.schemas)


def _read_table(words: Words, drafts: Drafts, line: int) -> None:
    logged = not any(word.says("UNLOGGED") for word in words.words[: words.at])
    words.takes("IF", "NOT", "EXISTS")
    draft = TableDraft(drafts.read_name(words), line, logged=logged)
    if words.sees("LIKE") or words.sees("(", "LIKE"):
        raise DdlError(f"{draft.name} is created LIKE another table", line)
    if _takes_columns(words):
        raise DdlError(f"{draft.name} takes its columns from a SELECT", line)
    if words.takes("PARTITION", "OF"):
        _read_partition(words, draft, drafts)
        drafts.add(draft)
        return
    if words.sees("OF"):
        raise DdlError(f"{draft.name} takes its columns from a type", line)
    if not words.sees("("):
        raise DdlError(f"{draft.name} has no column list", line)
    elements = words.take_group()
    draft.comment = _comment_of_table(words)
    begins = any(words.sees(*head) for head in (("AS",), ("SELECT",))) or words.sees("IGNORE") or words.sees("REPLACE")
    if begins or _takes_columns(words):
        raise DdlError(f"{draft.name} takes its columns from a SELECT", line)
    _read_parents(words, draft, drafts)
    inherited = dict(draft.columns)
    for part in elements.split():
        if part:
            _read_element(part, draft, drafts, inherited)
    drafts.add(draft)


def _takes_columns(words: Words) -> bool:
    """Return whether the rest of CREATE TABLE has a SELECT that says the columns."""
    rest = Words(words.words, words.at)
    while rest:
        if any(rest.sees(*one) for one in _FROM_SELECT):
            return True
        if rest.sees("("):
            rest.take_group()
        else:
            rest.at += 1
    return False


def _read_partition(words: Words, draft: TableDraft, drafts: Drafts) -> None:
    """Give a partition the columns and the key of its table, without comments, and what it says of them itself."""
    parent = _read_parent(words, draft, drafts)
    draft.columns = {
        name: column.model_copy(update={"comment": None}) for name, column in parent.columns.items()
    }  # fmt: skip
    if words.sees("("):
        for part in words.take_group().split():
            if not is_column(part, drafts.grammar):
                read_constraint(part, draft, drafts.grammar)
                continue
            name = draft.find(name_of(part.take_name("the name of a column"), drafts.grammar))
            traits = read_traits(part, drafts.grammar)
            if name is not None:
                draft.refine(name, nullable=traits.nullable, default=traits.default)
            if name is not None and traits.primary:
                draft.set_key((name,))
    parent.adopt(draft, partition=True)


def _read_parents(words: Words, draft: TableDraft, drafts: Drafts) -> None:
    """Give a table that inherits the columns of its parents, which come first, without their comments."""
    if not words.takes("INHERITS"):
        return
    for part in words.take_group().split():
        parent = _read_parent(part, draft, drafts)
        for name, column in parent.sent_columns.items():
            other = draft.columns.get(name, column)
            draft.columns[name] = column.model_copy(update={"comment": None})
            draft.refine(name, nullable=other.nullable, default=other.default)
        parent.adopt(draft, partition=False)


def _read_parent(words: Words, draft: TableDraft, drafts: Drafts) -> TableDraft:
    line = words.line
    name = drafts.read_known(words)
    parent = drafts.find(name)
    if parent is None:
        raise DdlError(f"{draft.name} has its columns from {name}: no such table before it", line)
    return parent


def _read_element(words: Words, draft: TableDraft, drafts: Drafts, inherited: dict[str, TableColumn]) -> None:
    """Read a column or a constraint; a column that is inherited may be said again, with NOT NULL of its own."""
    if words.sees("LIKE"):
        raise DdlError(f"{draft.name} is created LIKE another table", words.line)
    if not is_column(words, drafts.grammar):
        read_constraint(words, draft, drafts.grammar)
        return
    definition = read_column(words, drafts.grammar)
    if inherited.pop(definition.name, None) is None:
        drafts.add_column(draft, definition)
        return
    draft.refine(definition.name, nullable=definition.column.nullable, default=definition.column.default)
    if definition.primary:
        draft.set_key((definition.name,))


def _comment_of_table(words: Words) -> str | None:
    """Return the comment among the clauses after a table's columns."""
    rest = Words(words.words, words.at)
    while rest:
        if rest.sees("("):
            rest.take_group()
        elif rest.takes("COMMENT"):
            rest.takes("=")
            word = rest.peek()
            if word is not None and word.kind == TEXT:
                return word.text or None
        else:
            rest.at += 1
    return None


def _read_comment(words: Words, drafts: Drafts) -> None:
    """Read `COMMENT ON TABLE name IS 'text'`, and the same of a column."""
    if words.takes("TABLE"):
        draft = drafts.find(drafts.read_known(words))
        if draft is not None and words.takes("IS"):
            draft.comment = _read_comment_text(words)
    elif words.takes("COLUMN"):
        names = read_name(words, drafts.grammar)
        draft = drafts.find(drafts.qualify(names[:-1]))
        column = draft.find(names[-1]) if draft is not None else None
        if draft is not None and column is not None and words.takes("IS"):
            comment = {"comment": _read_comment_text(words)}
            draft.columns[column] = draft.columns[column].model_copy(update=comment)


def _read_comment_text(words: Words) -> str | None:
    """Return the text of a comment; NULL takes it away."""
    word = words.take("a comment")
    return None if word.says("NULL") else word.text or None
