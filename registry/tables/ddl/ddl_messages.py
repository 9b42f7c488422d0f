"""DDL messages of a topic: which columns a statement adds to which table. Never fails, whatever the text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from cdc_contracts.registry.contract.table_contracts import TableColumn
from cdc_contracts.registry.tables.ddl.alter_table import actions_of, added_columns
from cdc_contracts.registry.tables.ddl.column_definitions import is_sent, read_name
from cdc_contracts.registry.tables.ddl.grammars import GRAMMARS, Grammar, as_written
from cdc_contracts.registry.tables.ddl.tokens import DdlError, Words, statements_run

MOST_CHARACTERS: Final = 32 * 1024
"""A longer statement is not looked at: hardly an ALTER TABLE is so long, and one of this length may take a second."""
_ALTERS: Final = re.compile(r"\balter\b", re.IGNORECASE)
_ADDS: Final = re.compile(r"\badd\b", re.IGNORECASE)


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
    """Return the columns that a text adds by ALTER TABLE … ADD, in the SQL of `mysql` or `oracle`.

    Without a dialect the names stay as they are written, quoted or not. Never raises: a text that cannot be read, or
    is longer than `MOST_CHARACTERS`, adds nothing and has a reason.
    """
    if not text or not _ALTERS.search(text) or not _ADDS.search(text):
        return Additions()
    if len(text) > MOST_CHARACTERS:
        return Additions(reason=f"longer than {MOST_CHARACTERS:,} characters")
    grammar = GRAMMARS.get(dialect or "") or as_written(text)
    try:
        return _read(text, grammar)
    except DdlError as error:
        return Additions(reason=error.what)
    except Exception as error:  # noqa: BLE001  the text is anybody's, and no message may stop a run
        return Additions(reason=f"cannot be read: {type(error).__name__}")


def _read(text: str, grammar: Grammar) -> Additions:
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
    if not words.takes("ALTER"):
        return None
    for noise in ("ONLINE", "OFFLINE", "IGNORE"):
        words.takes(noise)
    if not words.takes("TABLE"):
        return None
    words.takes("IF", "EXISTS")
    table = read_name(words, grammar)
    columns = {}
    for action in actions_of(words):
        for definition in added_columns(action, grammar):
            if is_sent(definition, grammar):
                columns[definition.name] = definition.column
    return AddedColumns(table, columns) if columns else None
