"""Contract drafts: table contracts while DDL is read, started by CREATE TABLE and extended by later statements."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from cdc_contracts.registry.core.contract.table_contracts import TableColumn, TableContract
from cdc_contracts.registry.core.tables.ddl.column_definitions import Definition, is_sent, name_of, read_name
from cdc_contracts.registry.core.tables.ddl.grammars import Grammar
from cdc_contracts.registry.core.tables.ddl.named_types import NamedTypes
from cdc_contracts.registry.core.tables.ddl.tokens import DdlError, Words


@dataclass(frozen=True)
class Problem:
    """Something of a text that is not in its table contracts: the line, what it is, and what to do."""

    line: int
    what: str
    hint: str


@dataclass
class TableDraft:
    """A table as far as it has been read; names of columns are found in any case.

    `partitions` and `heirs` are the tables below it: statements about its columns hold for them too.
    """

    name: str
    line: int
    columns: dict[str, TableColumn] = field(default_factory=dict)
    primary_key: tuple[str, ...] = ()
    key_name: str | None = None
    comment: str | None = None
    logged: bool = True
    partitions: list[TableDraft] = field(default_factory=list)
    heirs: list[TableDraft] = field(default_factory=list)

    @property
    def name_of_key(self) -> str | None:
        """The name of the constraint that is the primary key, None if the table has none."""
        named = self.key_name or f"{self.name.rpartition('.')[2]}_pkey"
        return named if self.primary_key else None

    @property
    def sent_columns(self) -> dict[str, TableColumn]:
        """The columns, those of the primary key NOT NULL."""
        key = {self.find(name) for name in self.primary_key}
        not_null = {name: self.columns[name].model_copy(update={"nullable": False}) for name in key if name}
        return self.columns | not_null

    def family(self) -> Iterator[TableDraft]:
        """Yield the table and all below it: its partitions, and the tables that inherit from it."""
        yield self
        for one in (*self.partitions, *self.heirs):
            yield from one.family()

    def set_key(self, key: Sequence[str], name: str | None = None, *, alone: bool = False) -> None:
        """Set the primary key of the table and of its partitions; unless it is `alone`, its heirs have its NOT NULL."""
        for one in (self, *(part for partition in self.partitions for part in partition.family())):
            one.primary_key, one.key_name = tuple(key), name
        for heir in (one for member in self.heirs for one in member.family() if not alone):
            for column in heir.columns.keys() & set(key):
                heir.forbid_null(column)

    def adopt(self, child: TableDraft, *, partition: bool) -> None:
        """Put a table below this one. Raises DdlError if this one is below it."""
        if any(one is self for one in child.family()):
            raise DdlError(f"{self.name} is below {child.name} itself", child.line)
        (self.partitions if partition else self.heirs).append(child)
        if partition and not child.primary_key:
            child.set_key(self.primary_key)

    def release(self, child: TableDraft) -> None:
        """Take a table from below this one; it keeps its columns and its key."""
        self.partitions = [one for one in self.partitions if one is not child]
        self.heirs = [one for one in self.heirs if one is not child]

    def forbid_null(self, column: str) -> None:
        """Let a column be NOT NULL."""
        self.columns[column] = self.columns[column].model_copy(update={"nullable": False})

    def refine(self, column: str, *, nullable: bool, default: str | None) -> None:
        """Give a column that another table has as well what this table says of it: NOT NULL, or a default."""
        before = self.columns[column]
        said = {"nullable": before.nullable and nullable, "default": before.default if default is None else default}
        self.columns[column] = before.model_copy(update=said)

    def find(self, name: str) -> str | None:
        """Return the name of a column as it was defined, None if there is none."""
        if name in self.columns:
            return name
        return next((one for one in self.columns if one.lower() == name.lower()), None)

    def contract(self) -> TableContract:
        """Return the table contract. Raises DdlError if the table has no columns, or its key is none of them."""
        if not self.columns:
            raise DdlError(f"{self.name} has no column", self.line)
        key = []
        for name in self.primary_key:
            found = self.find(name)
            if found is None:
                raise DdlError(f"the primary key of {self.name} names {name}, which is not a column", self.line)
            key.append(found)
        return TableContract(table=self.name, comment=self.comment, columns=self.sent_columns, primary_key=tuple(key))


class Drafts:
    """The tables of a text, and what was found wrong with it."""

    def __init__(self, grammar: Grammar, database: str | None) -> None:
        self.grammar = grammar
        self.database = database
        self.schemas = grammar.schemas
        self.types = NamedTypes(grammar)
        self.problems: list[Problem] = []
        self.left_out: list[Problem] = []
        self._by_name: dict[str, TableDraft] = {}

    def refuse(self, line: int, what: str, hint: str) -> None:
        """Note what cannot be read."""
        self.problems.append(Problem(line, what, hint))

    def read_name(self, words: Words) -> str:
        """Return the name of the new table that comes next, with its database and schema."""
        return self._qualify(read_name(words, self.grammar), self.schemas[:1])

    def read_known(self, words: Words) -> str:
        """Return the name of the table that comes next, in the first schema that has it."""
        return self.qualify(read_name(words, self.grammar))

    def qualify(self, parts: Sequence[str]) -> str:
        """Return the name of a table as table contracts write it, in the first schema that has it."""
        names = [self._qualify(parts, (schema,)) for schema in self.schemas] or [self._qualify(parts, ())]
        return next((name for name in names if name in self._by_name), names[0])

    def _qualify(self, parts: Sequence[str], schema: Sequence[str]) -> str:
        named = [*schema, *parts] if len(parts) == 1 else list(parts)
        levels = 2 if self.grammar.schemas else 1
        return ".".join([*([self.database] if self.database and len(named) <= levels else []), *named])

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
            self.left_out.append(
                Problem(definition.line, what, "It is computed when read and is not in the log of the database.")
            )
            return
        draft.columns[definition.name] = self.find_type(definition.column)
        if definition.primary:
            draft.set_key((definition.name,))

    def find_type(self, column: TableColumn) -> TableColumn:
        """Return a column with the full name of its type."""
        return column.model_copy(update={"type": self.types.find(column.type, self.schemas)})

    def contracts(self) -> Iterator[TableContract]:
        """Yield the contract of every consistent table; the others become problems."""
        for draft in self._by_name.values():
            if not draft.logged:
                what = f"{draft.name} is unlogged"
                self.left_out.append(Problem(draft.line, what, "Its changes are not in the log of the database."))
                continue
            draft.columns = {name: self.types.resolve(column) for name, column in draft.columns.items()}
            try:
                yield draft.contract()
            except DdlError as error:
                self.refuse(error.line, error.what, "The table was not read; export it as the database prints it.")


def read_constraint(words: Words, draft: TableDraft, grammar: Grammar, *, alone: bool = False) -> None:
    """Read a constraint of a table: the primary key, or the NOT NULL of a column; others say nothing of columns.

    In a key, `k(10)` is the column k. Where a table is `alone`, its heirs have nothing of the key.
    Raises DdlError if it cannot be read.
    """
    name = None
    if words.takes("CONSTRAINT") and not words.sees("PRIMARY", "KEY"):
        name = name_of(words.take("the name of a constraint"), grammar)
    if words.takes("NOT", "NULL"):
        column = draft.find(name_of(words.take_name("the name of a column"), grammar))
        if column is not None:
            draft.forbid_null(column)
        return
    if not words.takes("PRIMARY", "KEY"):
        return
    if words.sees("USING", "INDEX"):
        raise DdlError(f"the primary key of {draft.name} is an index", words.line)
    while words and not words.sees("("):
        words.at += 1
    key = [name_of(part.take_name("a column of the key"), grammar) for part in words.take_group().split()]
    draft.set_key(key, name, alone=alone)
