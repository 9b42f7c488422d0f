"""ALTER TABLE: the columns it adds to a table, and other changes of columns, which are not tracked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from cdc_contracts.registry.core.tables.ddl.column_definitions import Definition, is_column, name_of, read_column
from cdc_contracts.registry.core.tables.ddl.contract_drafts import Drafts, TableDraft, key_columns
from cdc_contracts.registry.core.tables.ddl.grammars import MYSQL, ORACLE, Grammar
from cdc_contracts.registry.core.tables.ddl.tokens import DdlError, Words

_ACTIONS: Final = ("ADD", "MODIFY", "DROP", "CHANGE", "RENAME")
_NO_COLUMN: Final = ("INDEX", "KEY", "CONSTRAINT", "FOREIGN", "CHECK", "PARTITION", "SUPPLEMENTAL", "UNIQUE", "PRIMARY")
_PARTITIONS: Final = ("PARTITION", "SUBPARTITION", "FULLTEXT", "SPATIAL", "UNIQUE", "OVERFLOW", "SUPPLEMENTAL")
_AS_IT_IS: Final = "Export the table as it is now: this statement is not followed."


def alter(words: Words, drafts: Drafts, line: int) -> None:
    """Follow an ALTER TABLE, after these words. Raises DdlError if it cannot be read."""
    words.takes("IF", "EXISTS")
    name = drafts.read_name(words)
    draft = drafts.find(name)
    for action in actions_of(words):
        if draft is not None and _follow(action, draft, drafts):
            continue
        if draft is None and not _changes_columns(action, drafts.grammar):
            continue
        what = f"ALTER TABLE {name} " + " ".join(word.written for word in action.words[:4])
        drafts.refuse(line, what if draft is not None else f"{what}: no such table before it", _AS_IT_IS)


def actions_of(words: Words) -> Iterator[Words]:
    """Yield the actions of an ALTER TABLE: cut at commas, and where Oracle begins the next without one."""
    for part in words.split():
        begin, depth = 0, 0
        for at, word in enumerate(part.words):
            depth += word.says("(") - word.says(")")
            if depth == 0 and at > begin and word.says(*_ACTIONS) and part.words[at - 1].says(")"):
                yield Words(part.words[begin:at])
                begin = at
        yield Words(part.words[begin:])


def added_columns(action: Words, grammar: Grammar) -> list[Definition]:
    """Return the columns that an action adds; none if it is another. Raises DdlError if it cannot be read."""
    action.at = 0
    if not action.takes("ADD") or any(action.sees(word) for word in _PARTITIONS):
        return []
    action.takes("COLUMN")
    action.takes("IF", "NOT", "EXISTS")
    parts = action.take_group().split() if action.sees("(") else (action,)
    return [read_column(part, grammar) for part in parts if part and is_column(part, grammar)]


def _follow(action: Words, draft: TableDraft, drafts: Drafts) -> bool:
    """Do to a table what an action says, and say whether that could be done."""
    grammar = drafts.grammar
    added = added_columns(action, grammar)
    for definition in added:
        drafts.add_column(draft, definition)
    action.at = 0
    if action.takes("ADD"):
        group = Words(action.words, action.at)
        inner = group.take_group() if group.sees("(") else action
        key = key_columns(inner, grammar)
        draft.primary_key = key or draft.primary_key
        return True
    if action.takes("MODIFY"):
        return _modify(action, draft, grammar)
    return not _changes_columns(action, grammar)


def _modify(action: Words, draft: TableDraft, grammar: Grammar) -> bool:
    """Redefine columns: MySQL says all of a column again, Oracle only what changes."""
    action.takes("COLUMN")
    parts = list(action.take_group().split()) if action.sees("(") and grammar.name == ORACLE.name else [action]
    for part in parts:
        first = part.take_name("the name of a column")
        name = draft.find(name_of(first, grammar))
        if name is None:
            raise DdlError(f"{draft.name} has no column {first.text} to modify", first.line)
        before, behind = draft.columns[name], part.at
        try:
            part.at -= 1
            now = read_column(part, grammar)
        except DdlError:
            part.at = behind
            if grammar.name == MYSQL.name or not part.takes("NOT", "NULL"):
                return False
            draft.columns[name] = before.model_copy(update={"nullable": part.sees("DISABLE")})
            continue
        kept = {} if grammar.name == MYSQL.name else {"nullable": before.nullable and now.column.nullable}
        draft.columns[name] = now.column.model_copy(update={"comment": now.column.comment or before.comment, **kept})
        if now.primary:
            draft.primary_key = (name,)
    return True


def _changes_columns(action: Words, grammar: Grammar) -> bool:
    """Return whether an action changes what columns a table has, or which of them is its key."""
    action.at = 0
    if action.takes("ADD"):
        try:
            return bool(added_columns(action, grammar))
        except DdlError:
            return True
    if action.takes("DROP"):
        return action.sees("PRIMARY", "KEY") or not any(action.sees(word) for word in _NO_COLUMN)
    if action.takes("RENAME"):
        return not any(action.sees(word) for word in ("INDEX", "KEY", "CONSTRAINT", "PARTITION"))
    return action.sees("MODIFY") or action.sees("CHANGE")
