"""Added columns: the columns that DDL messages of a run add to the tables whose rows it has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from cdc_contracts.registry.core.contract.table_families import TableFamilies
from cdc_contracts.registry.core.stats.observed_columns import TableName
from cdc_contracts.registry.core.tables.canonical.canonical_names import shards_of, table_in_statement
from cdc_contracts.registry.core.tables.ddl import read_added_columns

MOST_STATEMENTS: Final = 1_000
"""How many statements of a task are read; columns that later ones add stay text in `_raw`."""


class DdlStatement(NamedTuple):
    """The text of a DDL message, and the table it names."""

    database: str | None
    schema: str | None
    table: str | None
    text: str


def ddl_statements(control: pa.RecordBatch) -> Iterator[DdlStatement]:
    """Yield the statements of the DDL messages among the rows of `control/`."""
    wanted = pc.and_(pc.equal(control.column("kind"), "ddl"), control.column("ddl_text").is_valid())
    if pc.any(wanted).as_py():
        columns = control.filter(wanted).select(["database", "schema", "table", "ddl_text"])
        yield from map(DdlStatement._make, zip(*columns.to_pydict().values(), strict=True))


def added_columns(
    statements: Iterable[DdlStatement], columns: Mapping[TableName, Iterable[str]], families: TableFamilies
) -> dict[TableName, dict[str, str]]:
    """Return the columns that statements add to known tables, with their source types.

    Names are compared without case, as databases do, and returned as rows write them where rows have them.
    """
    found: dict[TableName, dict[str, str]] = {}
    for statement in sorted(set(statements), key=str):
        for addition in read_added_columns(statement.text).added:
            for name in columns:
                if is_meant(name, (statement.database, statement.schema), addition.table, families):
                    spelled = {column.casefold(): column for column in columns[name]}
                    for column, result in addition.columns.items():
                        found.setdefault(name, {})[spelled.get(column.casefold(), column)] = result.type
    return found


def is_meant(name: TableName, said: Sequence[str | None], written: tuple[str, ...], families: TableFamilies) -> bool:
    """Return whether a statement is about a table, by the name in its text and the database its message says beside.

    The table of a family is meant by statements about its shards.
    """
    if families and shards_of(name, families) is not None:
        return table_in_statement(said, written, families) == name
    if written[-1].casefold() != name.table.casefold():
        return False
    above = {part.casefold() for part in (name.database, name.schema) if part}
    beside = [] if len(written) > 1 else [part for part in said if part]
    return not above or all(part.casefold() in above for part in (*written[:-1], *beside))
