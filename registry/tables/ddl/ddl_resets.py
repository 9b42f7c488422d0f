"""DDL resets: which tables a DDL statement empties, and which it changes in ways that cannot be followed.

Never fails, whatever the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from cdc_contracts.registry.tables.ddl.alter_table import actions_of
from cdc_contracts.registry.tables.ddl.column_definitions import read_name
from cdc_contracts.registry.tables.ddl.ddl_messages import MOST_CHARACTERS
from cdc_contracts.registry.tables.ddl.grammars import Grammar, as_written
from cdc_contracts.registry.tables.ddl.tokens import TEXT, DdlError, Words, read_words, statements_run

_CONCERNS: Final = re.compile(r"\b(?:truncate|drop|rename|exchange|replace)\b", re.IGNORECASE)
_OF_COLUMNS: Final = ("COLUMN", "INDEX", "KEY", "CONSTRAINT", "PARTITION", "SUBPARTITION")
_OF_PARTITIONS: Final = (("TRUNCATE", "PARTITION"), ("TRUNCATE", "SUBPARTITION"), ("DROP", "PARTITION"),
                         ("DROP", "SUBPARTITION"), ("EXCHANGE", "PARTITION"), ("EXCHANGE", "SUBPARTITION"))  # fmt: skip


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
        return tuple(_read(text, as_written(text)))
    except Exception:  # noqa: BLE001  the text is anybody's, and no message may stop a run
        return ()


def _read(text: str, grammar: Grammar) -> Iterator[Reset]:
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
    for noise in ("ONLINE", "OFFLINE", "IGNORE"):
        words.takes(noise)
    if not words.takes("TABLE"):
        return
    words.takes("IF", "EXISTS")
    table = read_name(words, grammar)
    for action in actions_of(words):
        for result in _OF_PARTITIONS:
            if action.sees(*result):
                yield Reset(table, " ".join(result), emptied=False)
        if action.takes("RENAME") and not any(action.sees(word) for word in _OF_COLUMNS):
            yield Reset(table, "RENAME", emptied=False)
            if action.takes("TO") or action.takes("AS") or action:
                yield Reset(read_name(action, grammar), "RENAME", emptied=False)
