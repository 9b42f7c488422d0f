"""Contract drafts: table contracts while DDL is read, started by CREATE TABLE and extended by later statements."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from cdc_contracts.registry.core.contract.table_contracts import TableColumn, TableContract
from cdc_contracts.registry.core.tables.ddl.column_definitions import Definition, is_sent, name_of, read_name
from cdc_contracts.registry.core.tables.ddl.grammars import Grammar
from cdc_contracts.registry.core.tables.ddl.tokens import DdlError, Words


@dataclass(frozen=True)
class Problem:
    """Something of a text that is not in its table contracts: the line, what it is, and what to do."""

    line: int
    what: str
    hint: str


@dataclass
class TableDraft:
    """A table as far as it has been read; names of columns are found in any case."""

    name: str
    line: int
    columns: dict[str, TableColumn] = field(default_factory=dict)
    primary_key: tuple[str, ...] = ()
    comment: str | None = None

    def find(self, name: str) -> str | None:
        """Return the name of a column as it was defined, None if there is none."""
        if name in self.columns:
            return name
        return next((one for one in self.columns if one.lower() == name.lower()), None)

    def contract(self) -> TableContract:
        """Return the table contract. Raises DdlError if the table has no columns, or its key is none of them."""
        if not self.columns:
            raise DdlError(f"{self.name} has no column", self.line)
        columns, key = dict(self.columns), []
        for name in self.primary_key:
            found = self.find(name)
            if found is None:
                raise DdlError(f"the primary key of {self.name} names {name}, which is not a column", self.line)
            key.append(found)
            columns[found] = columns[found].model_copy(update={"nullable": False})
        return TableContract(table=self.name, comment=self.comment, columns=columns, primary_key=tuple(key))


class Drafts:
    """The tables of a text, and what was found wrong with it."""

    def __init__(self, grammar: Grammar, database: str | None) -> None:
        self.grammar = grammar
        self.database = database
        self.problems: list[Problem] = []
        self.left_out: list[Problem] = []
        self._by_name: dict[str, TableDraft] = {}

    def refuse(self, line: int, what: str, hint: str) -> None:
        """Note what cannot be read."""
        self.problems.append(Problem(line, what, hint))

    def read_name(self, words: Words) -> str:
        """Return the name of the table that comes next, with its database."""
        return self.qualify(read_name(words, self.grammar))

    def qualify(self, parts: Sequence[str]) -> str:
        """Return the name of a table as table contracts write it."""
        here = [self.database] if len(parts) == 1 and self.database else []
        return ".".join([*here, *parts])

    def find(self, name: str) -> TableDraft | None:
        """Return a table that was read before."""
        return self._by_name.get(name)

    def add(self, draft: TableDraft) -> None:
        """Add a table. Raises DdlError if it was defined before."""
        before = self._by_name.get(draft.name)
        if before is not None:
            raise DdlError(f"{draft.name} is defined on line {before.line} already", draft.line)
        self._by_name[draft.name] = draft

    def add_column(self, draft: TableDraft, definition: Definition) -> None:
        """Add a column to a table. Raises DdlError if it has one of that name."""
        if definition.name in draft.columns or (draft.find(definition.name) and not self.grammar.keeps_case):
            raise DdlError(f"{draft.name} has the column {definition.name} twice", definition.line)
        if not is_sent(definition, self.grammar):
            what = f"{definition.name} of {draft.name} is virtual"
            self.left_out.append(Problem(definition.line, what, "It is computed when read and is not in the redo log."))
            return
        draft.columns[definition.name] = definition.column
        if definition.primary:
            draft.primary_key = (definition.name,)

    def contracts(self) -> Iterator[TableContract]:
        """Yield the contract of every consistent table; the others become problems."""
        for draft in self._by_name.values():
            try:
                yield draft.contract()
            except DdlError as error:
                self.refuse(error.line, error.what, "The table was not read; export it as the database prints it.")


def key_columns(words: Words, grammar: Grammar) -> tuple[str, ...]:
    """Return the columns of a primary key, where it is one that comes next; `k(10)` is the column k."""
    if words.takes("CONSTRAINT") and not words.sees("PRIMARY", "KEY"):
        words.take("the name of a constraint")
    if not words.takes("PRIMARY", "KEY"):
        return ()
    while words and not words.sees("("):
        words.at += 1
    return tuple(name_of(part.take_name("a column of the key"), grammar) for part in words.take_group().split())
