"""Named types: the enums and domains that a DDL text defines, and what columns of them hold.

A column of an enum gets the type `enum('a','b')`, one of a domain the type below it, for that is what messages and
other databases know. Other types that a text defines keep their names.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from cdc_contracts.registry.core.contract.table_contracts import TableColumn
from cdc_contracts.registry.core.tables.ddl.column_definitions import read_traits, read_type
from cdc_contracts.registry.core.tables.ddl.grammars import Grammar
from cdc_contracts.registry.core.tables.ddl.tokens import TEXT, DdlError, Words
from cdc_contracts.registry.core.values.source_types import ARRAY
from cdc_contracts.registry.core.values.type_ranges import read_range

_MOVES: Final = (("RENAME", "TO"), ("SET", "SCHEMA"))


@dataclass
class NamedTypes:
    """The types of a text by their names, which have their schema in front."""

    grammar: Grammar
    enums: dict[str, list[str]] = field(default_factory=dict)
    domains: dict[str, TableColumn] = field(default_factory=dict)

    def find(self, name: str, schemas: Sequence[str]) -> str:
        """Return the full name of a type where the text defines it; a schema before a known type is left out."""
        base, array = name.removesuffix(ARRAY), ARRAY if name.endswith(ARRAY) else ""
        full = next((one for one in (base, *(f"{schema}.{base}" for schema in schemas)) if self._has(one)), None)
        if full is not None:
            return full + array
        last = base.rpartition(".")[2]
        return (last if read_range(last) is not None else base) + array

    def resolve(self, column: TableColumn, above: tuple[str, ...] = ()) -> TableColumn:
        """Return a column with the type that its values have, and NOT NULL where its domain says so.

        `above` are the domains that lead to it: no database takes one that leads to itself, but a text may have it.
        """
        base = column.type.removesuffix(ARRAY)
        array = column.type[len(base) :]
        if base in self.enums:
            members = ",".join("'" + one.replace("'", "''") + "'" for one in self.enums[base])
            return column.model_copy(update={"type": f"enum({members}){array}"})
        if base in self.domains and base not in above:
            below = self.resolve(self.domains[base], (*above, base))
            nullable = column.nullable and (below.nullable or bool(array))
            return column.model_copy(update={"type": below.type + array, "nullable": nullable})
        return column

    def define(self, words: Words, schemas: Sequence[str]) -> bool:
        """Read CREATE TYPE … AS ENUM or CREATE DOMAIN if it comes next, and return whether it did.

        Raises DdlError if it cannot be read.
        """
        if words.takes("CREATE", "TYPE"):
            name = self._read_new_name(words, schemas)
            if not words.takes("AS", "ENUM"):
                return False
            self.enums[name] = [_read_text(part) for part in words.take_group().split() if part]
            return True
        if not words.takes("CREATE", "DOMAIN"):
            return False
        name = self._read_new_name(words, schemas)
        words.takes("AS")
        below, _ = read_type(words, self.grammar)
        nullable = read_traits(words, self.grammar).nullable
        self.domains[name] = TableColumn(type=self.find(below, schemas), nullable=nullable)
        return True

    def alter(self, words: Words, schemas: Sequence[str]) -> bool:
        """Follow ALTER TYPE or ALTER DOMAIN if it comes next, and return whether it did.

        Raises DdlError if it renames a type, or cannot be read.
        """
        if not (words.takes("ALTER", "TYPE") or words.takes("ALTER", "DOMAIN")):
            return False
        name, line = self.find(read_type(words, self.grammar)[0], schemas), words.line
        if self._has(name) and any(words.sees(*move) for move in _MOVES):
            raise DdlError(f"the type {name} gets another name", line)
        if name in self.enums:
            _alter_members(words, self.enums[name])
        elif name in self.domains and words.sees("DROP", "NOT", "NULL"):
            self.domains[name] = self.domains[name].model_copy(update={"nullable": True})
        elif name in self.domains and not (read_traits(words, self.grammar).nullable):
            self.domains[name] = self.domains[name].model_copy(update={"nullable": False})
        return True

    def _has(self, name: str) -> bool:
        return name in self.enums or name in self.domains

    def _read_new_name(self, words: Words, schemas: Sequence[str]) -> str:
        name, _ = read_type(words, self.grammar)
        return name if "." in name or not schemas else f"{schemas[0]}.{name}"


def _alter_members(words: Words, members: list[str]) -> None:
    """Add a member to an enum, where the statement says, or rename one."""
    if words.takes("ADD", "VALUE"):
        words.takes("IF", "NOT", "EXISTS")
        added, at = _read_text(words), len(members)
        if words.sees("BEFORE") or words.sees("AFTER"):
            behind = words.take("BEFORE or AFTER").says("AFTER")
            at = _place_of(words, members) + behind
        if added not in members:
            members.insert(at, added)
    elif words.takes("RENAME", "VALUE"):
        at = _place_of(words, members)
        words.takes("TO")
        members[at] = _read_text(words)


def _place_of(words: Words, members: list[str]) -> int:
    line, text = words.line, _read_text(words)
    if text not in members:
        raise DdlError(f"the enum has no member '{text}'", line)
    return members.index(text)


def _read_text(words: Words) -> str:
    word = words.take("a text")
    if word.kind != TEXT:
        raise DdlError(f"`{word.written}` found where a text is expected", word.line)
    return word.text
