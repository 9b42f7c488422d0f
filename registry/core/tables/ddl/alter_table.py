"""ALTER TABLE: the columns it adds to a table or redefines, and other changes of columns, which are not tracked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from cdc_contracts.registry.core.tables.ddl.column_definitions import (
    Definition,
    is_column,
    name_of,
    read_column,
    read_constant,
    read_type,
)
from cdc_contracts.registry.core.tables.ddl.contract_drafts import Drafts, TableDraft, read_constraint
from cdc_contracts.registry.core.tables.ddl.grammars import MYSQL, ORACLE, Grammar
from cdc_contracts.registry.core.tables.ddl.tokens import DdlError, Words

_ACTIONS: Final = ("ADD", "MODIFY", "DROP", "CHANGE", "RENAME")
_NO_COLUMN: Final = ("INDEX", "KEY", "CONSTRAINT", "FOREIGN", "CHECK", "PARTITION", "SUPPLEMENTAL", "UNIQUE", "PRIMARY")
_PARTITIONS: Final = ("PARTITION", "SUBPARTITION", "FULLTEXT", "SPATIAL", "UNIQUE", "OVERFLOW", "SUPPLEMENTAL")
_OF_COLUMN: Final = (("SET", "NOT", "NULL"), ("DROP", "NOT", "NULL"), ("SET", "DATA", "TYPE"), ("TYPE",),
                     ("ADD", "GENERATED"))  # fmt: skip
"""What ALTER COLUMN may do that changes what a column is."""
_DEFAULTS: Final = (("SET", "DEFAULT"), ("DROP", "DEFAULT"))
_AS_IT_IS: Final = "Export the table as it is now: this statement is not followed."


def alter(words: Words, drafts: Drafts, line: int) -> None:
    """Follow an ALTER TABLE, after these words. Raises DdlError if it cannot be read."""
    words.takes("IF", "EXISTS")
    alone = words.takes("ONLY")
    name = drafts.read_known(words)
    words.takes("*")
    draft = drafts.find(name)
    for action in actions_of(words):
        if draft is not None and _follow(action, draft, drafts, alone=alone):
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


def _follow(action: Words, draft: TableDraft, drafts: Drafts, *, alone: bool) -> bool:
    """Do to a table, and unless it is `alone` to those below it, what an action says; say whether that was done."""
    grammar = drafts.grammar
    family = [draft] if alone else list(draft.family())
    for definition in added_columns(action, grammar):
        for one in family:
            if one is draft or definition.name not in one.columns:
                drafts.add_column(one, definition)
    action.at = 0
    if action.takes("ADD"):
        group = Words(action.words, action.at)
        read_constraint(group.take_group() if group.sees("(") else action, draft, grammar, alone=alone)
        return True
    if action.takes("MODIFY"):
        return _modify(action, draft, grammar)
    if action.takes("ALTER"):
        _alter_column(action, family, drafts)
        return True
    if action.takes("SET", "LOGGED") or action.takes("SET", "UNLOGGED"):
        draft.logged = action.words[1].says("LOGGED")
        return True
    return _follow_relative(action, draft, drafts) or not _changes_columns(action, grammar, draft.name_of_key)


def _follow_relative(action: Words, draft: TableDraft, drafts: Drafts) -> bool:
    """Follow a partition that is attached or detached, or a parent that is given or taken."""
    parent: TableDraft | None = draft
    if action.takes("ATTACH", "PARTITION") or action.takes("DETACH", "PARTITION"):
        attached, partition = action.words[0].says("ATTACH"), True
        child = drafts.find(drafts.read_known(action))
    elif action.takes("INHERIT") or action.takes("NO", "INHERIT"):
        attached, partition = action.words[0].says("INHERIT"), False
        parent, child = drafts.find(drafts.read_known(action)), draft
    else:
        return False
    if parent is None or child is None:
        return False
    if attached:
        parent.adopt(child, partition=partition)
    else:
        parent.release(child)
    return True


def _alter_column(action: Words, family: Sequence[TableDraft], drafts: Drafts) -> None:
    """Give a column of some tables another type or default, or say whether it may be NULL."""
    if any(action.sees(word) for word in _NO_COLUMN):
        return
    action.takes("COLUMN")
    first = action.take_name("the name of a column")
    said = next((one for one in (*_OF_COLUMN, *_DEFAULTS) if action.takes(*one)), None)
    if said is None:
        return
    stored = read_type(action, drafts.grammar)[0] if said[-1] == "TYPE" else None
    default = read_constant(action, drafts.grammar) if said == ("SET", "DEFAULT") else None
    for draft in family:
        name = draft.find(name_of(first, drafts.grammar))
        if name is None:
            raise DdlError(f"{draft.name} has no column {first.text} to alter", first.line)
        if stored is not None:
            column = draft.columns[name].model_copy(update={"type": stored})
            draft.columns[name] = drafts.find_type(column)
        elif said[-1] == "DEFAULT":
            draft.columns[name] = draft.columns[name].model_copy(update={"default": default})
        else:
            nullable = {"nullable": said[0] == "DROP"}
            draft.columns[name] = draft.columns[name].model_copy(update=nullable)


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
            draft.set_key((name,))
    return True


def _changes_columns(action: Words, grammar: Grammar, key_name: str | None = None) -> bool:
    """Return whether an action changes what columns a table has, what these are, or which of them is its key."""
    action.at = 0
    if action.takes("ADD"):
        try:
            return bool(added_columns(action, grammar))
        except DdlError:
            return True
    if action.takes("DROP", "CONSTRAINT"):
        action.takes("IF", "EXISTS")
        return key_name is not None and name_of(action.take_name("a constraint"), grammar) == key_name
    if action.takes("DROP"):
        return action.sees("PRIMARY", "KEY") or not any(action.sees(word) for word in _NO_COLUMN)
    if action.takes("RENAME"):
        return not any(action.sees(word) for word in ("INDEX", "KEY", "CONSTRAINT", "PARTITION"))
    if action.takes("ALTER"):
        action.takes("COLUMN")
        action.at += 1
        return any(action.sees(*one) for one in _OF_COLUMN)
    return any(action.sees(*one) for one in (("MODIFY",), ("CHANGE",), ("SET", "SCHEMA"), ("ATTACH",), ("INHERIT",)))
