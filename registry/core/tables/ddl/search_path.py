"""Search path: the schemas in which a text looks for tables and types that name none."""

from __future__ import annotations

from cdc_contracts.registry.core.tables.ddl.column_definitions import name_of
from cdc_contracts.registry.core.tables.ddl.grammars import Grammar
from cdc_contracts.registry.core.tables.ddl.tokens import QUOTED, TEXT, Word, Words


def read_search_path(words: Words, grammar: Grammar) -> tuple[str, ...] | None:
    """Return the schemas that a statement searches from now on, None if it is another."""
    names: list[str] = []
    if words.takes("SET"):
        if not words.takes("SESSION"):
            words.takes("LOCAL")
        if not words.takes("SEARCH_PATH"):
            return None
        words.at += 1  # TO or =
        names = [name for part in words.split() if part for name in _schemas_in(part.take("a schema"), grammar)]
    elif words.takes("SELECT"):
        words.takes("PG_CATALOG", ".")
        if not words.sees("SET_CONFIG", "("):
            return None
        words.takes("SET_CONFIG")
        named, value = (*(one.peek() for one in words.take_group().split()), None)[:2]
        if named is None or value is None or named.text.lower() != "search_path":
            return None
        names = [name.strip(' "') for name in value.text.split(",")]
    else:
        return None
    return tuple(name for name in names if name and not name.startswith("$"))


def _schemas_in(word: Word, grammar: Grammar) -> tuple[str, ...]:
    if word.says("DEFAULT"):
        return grammar.schemas
    return (word.text if word.kind in (QUOTED, TEXT) else name_of(word, grammar),)
