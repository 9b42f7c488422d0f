"""DDL messages of a topic: the columns that a statement adds, and the tables that it empties or changes otherwise.

Never fails, whatever the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from cdc_contracts.registry.core.contract.table_contracts import TableColumn
from cdc_contracts.registry.core.tables.ddl.alter_table import actions_of, added_columns
from cdc_contracts.registry.core.tables.ddl.column_definitions import is_sent, read_name
from cdc_contracts.registry.core.tables.ddl.grammars import GRAMMARS, Grammar, as_written
from cdc_contracts.registry.core.tables.ddl.tokens import TEXT, DdlError, Words, read_words, statements_run

MOST_CHARACTERS: Final = 32 * 1024
"""Longer statements are not read: an ALTER TABLE is hardly ever so long, and reading one may take a second."""
_ALTERS: Final = re.compile(r"\balter\b", re.IGNORECASE)
_ADDS: Final = re.compile(r"\badd\b", re.IGNORECASE)
_CONCERNS: Final = re.compile(r"\b(?:truncate|drop|rename|exchange|replace)\b", re.IGNORECASE)
_OF_COLUMNS: Final = ("COLUMN", "INDEX", "KEY", "CONSTRAINT", "PARTITION", "SUBPARTITION")
_OF_PARTITIONS: Final = (("TRUNCATE", "PARTITION"), ("TRUNCATE", "SUBPARTITION"), ("DROP", "PARTITION"),
                         ("DROP", "SUBPARTITION"), ("EXCHANGE", "PARTITION"), ("EXCHANGE", "SUBPARTITION"))  # fmt: skip


@dataclass(frozen=True)
class AddedColumns:
    """Columns that were added to a table, whose name may have a database or schema in front."""

    table: tuple[str, ...]
    columns: Mapping[str, TableColumn]


@dataclass(frozen=True)
class Additions:
    """What a DDL message adds, in order; `reason` says why something of it could not be read."""

    added: tuple[AddedColumns, ...] = ()
    reason: str | None = None


def read_added_columns(text: str | None, dialect: str | None = None) -> Additions:
    """Return the columns that a text adds by ALTER TABLE … ADD, in the SQL of a grammar.

    Without a dialect the names stay as they are written, quoted or not. Never raises: a text that cannot be read, or
    is longer than `MOST_CHARACTERS`, adds nothing and has a reason.
    """
    if not text or not _ALTERS.search(text) or not _ADDS.search(text):
        return Additions()
    if len(text) > MOST_CHARACTERS:
        return Additions(reason=f"longer than {MOST_CHARACTERS:,} characters")
    grammar = GRAMMARS.get(dialect or "") or as_written(text)
    try:
        return _read_additions(text, grammar)
    except DdlError as error:
        return Additions(reason=error.what)
    except Exception as error:  # noqa: BLE001  the text is anybody's, and no message may stop a run
        return Additions(reason=f"cannot be read: {type(error).__name__}")


def _read_additions(text: str, grammar: Grammar) -> Additions:
    """Return what the statements of a text add, as far as they can be read."""
    added: list[AddedColumns] = []
    reason = None
    for statement in statements_run(text, grammar.name):
        try:
            found = _added_by(statement, grammar)
        except DdlError as error:
            reason = reason or error.what
            continue
        added += [found] if found is not None else []
    return Additions(tuple(added), reason)


def _added_by(words: Words, grammar: Grammar) -> AddedColumns | None:
    table = _altered_table(words, grammar) if words.takes("ALTER") else None
    if table is None:
        return None
    columns = {}
    for action in actions_of(words):
        for definition in added_columns(action, grammar):
            if is_sent(definition, grammar):
                columns[definition.name] = definition.column
    return AddedColumns(table, columns) if columns else None


def _altered_table(words: Words, grammar: Grammar) -> tuple[str, ...] | None:
    for noise in ("ONLINE", "OFFLINE", "IGNORE"):
        words.takes(noise)
    if not words.takes("TABLE"):
        return None
    words.takes("IF", "EXISTS")
    words.takes("ONLY")
    return read_name(words, grammar)


class Reset(NamedTuple):
    """A table whose rows a statement takes away: all of them (`emptied`), or some, or to another table."""

    table: tuple[str, ...]
    statement: str
    emptied: bool


def read_resets(text: str | None) -> tuple[Reset, ...]:
    """Return what a text takes away by TRUNCATE, DROP TABLE or RENAME, or from partitions; names stay as written.

    Of DROP DATABASE the name is that of the database.
    Never raises: what cannot be read, or is longer than `MOST_CHARACTERS`, takes nothing away.
    """
    if not text or len(text) > MOST_CHARACTERS or not _CONCERNS.search(text):
        return ()
    try:
        return tuple(_read_resets(text, as_written(text)))
    except Exception:  # noqa: BLE001  the text is anybody's, and no message may stop a run
        return ()


def _read_resets(text: str, grammar: Grammar) -> Iterator[Reset]:
    for statement in statements_run(text, grammar.name):
        try:
            yield from list(_read_statement(statement, grammar))
        except DdlError:
            continue


def _read_statement(words: Words, grammar: Grammar) -> Iterator[Reset]:
    if words.takes("TRUNCATE"):
        words.takes("TABLE")
        yield Reset(read_name(words, grammar), "TRUNCATE", emptied=True)
    elif words.takes("DROP", "TABLE") or words.takes("DROP", "TABLES"):
        words.takes("IF", "EXISTS")
        for name in words.split():
            yield Reset(read_name(name, grammar), "DROP TABLE", emptied=True)
    elif words.takes("DROP", "DATABASE") or words.takes("DROP", "SCHEMA"):
        words.takes("IF", "EXISTS")
        yield Reset(read_name(words, grammar), "DROP DATABASE", emptied=False)
    elif words.takes("CREATE", "OR", "REPLACE", "TABLE"):
        yield Reset(read_name(words, grammar), "CREATE OR REPLACE TABLE", emptied=False)
    elif words.takes("RENAME"):
        yield from _read_renames(words, grammar)
    elif words.takes("ALTER"):
        yield from _read_alteration(words, grammar)


def _read_renames(words: Words, grammar: Grammar) -> Iterator[Reset]:
    if words and (rest := words.take("a name")).kind == TEXT:  # sqlglot cuts no further
        words = Words(read_words(rest.text, grammar.name))
    words.takes("TABLE")
    for pair in words.split():
        yield Reset(read_name(pair, grammar), "RENAME", emptied=False)
        if pair.takes("TO"):
            yield Reset(read_name(pair, grammar), "RENAME", emptied=False)


def _read_alteration(words: Words, grammar: Grammar) -> Iterator[Reset]:
    table = _altered_table(words, grammar)
    if table is None:
        return
    for action in actions_of(words):
        for result in _OF_PARTITIONS:
            if action.sees(*result):
                yield Reset(table, " ".join(result), emptied=False)
        if action.takes("RENAME") and not any(action.sees(word) for word in _OF_COLUMNS):
            yield Reset(table, "RENAME", emptied=False)
            if action.takes("TO") or action.takes("AS") or action:
                yield Reset(read_name(action, grammar), "RENAME", emptied=False)
