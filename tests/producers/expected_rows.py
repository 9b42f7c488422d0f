"""Expected rows: what a database holds after each statement of its SQL file, as the database itself shows it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from producers.database_sessions import Row, Session, Table
from producers.statements import Statement

ROW_STATEMENTS = frozenset({"insert", "update", "delete"})


def run_statements(session: Session, statements: Sequence[Statement]) -> Iterator[dict[str, Any]]:
    """Run statements one by one, and yield for each the tables that are not what they were before it."""
    before = session.read_tables()
    for statement in statements:
        session.execute(statement.sql)
        after = session.read_tables()
        tables = [
            _describe(statement, before.get(name), after.get(name))
            for name in sorted(before.keys() | after.keys())
            if before.get(name) != after.get(name)
        ]
        yield {
            "statement": statement.number,
            "phase": statement.phase,
            "kind": statement.kind,
            "committed": statement.committed,
            "sql": statement.sql,
            "tables": tables,
        }
        before = after


def last_rows(lines: Sequence[dict[str, Any]]) -> dict[str, list[list[str | None]]]:
    """Return the rows that each table has in the end, by `schema.table`."""
    rows = {}
    for line in lines:
        for table in line["tables"]:
            name = f"{table['schema']}.{table['table']}"
            rows[name] = table["rows"]
            if table["dropped"]:
                del rows[name]
    return rows


def _describe(statement: Statement, before: Table | None, after: Table | None) -> dict[str, Any]:
    table = after or before
    assert table is not None
    return {
        "schema": table.schema,
        "table": table.name,
        "dropped": after is None,
        "columns": list(table.columns),
        "primary_key": list(table.primary_key),
        "replica_identity": table.replica_identity,
        "rows": [list(row.texts) for row in after.rows] if after else [],
        "changes": _changes(statement, before, after) if before and after else [],
    }


def _changes(statement: Statement, before: Table, after: Table) -> list[dict[str, Any]]:
    """Return the rows that a statement has changed: which of them were and are the same row is known by their keys.

    An UPDATE that changes a key, or rows of a table without one, changes a single row in the SQL files.
    """
    if statement.kind not in ROW_STATEMENTS:
        return []
    kept = {row.version for row in before.rows} & {row.version for row in after.rows}
    gone = [row for row in before.rows if row.version not in kept]
    made = [row for row in after.rows if row.version not in kept]
    pairs = list(_pair(before, gone, made))
    alone = [row for row in gone if all(row is not old for old, _ in pairs)]
    added = [row for row in made if all(row is not new for _, new in pairs)]
    if statement.kind == "update":
        ((old, new),) = zip(alone, added, strict=True) if alone or added else ((None, None),)
        pairs += [(old, new)] if old and new else []
        alone = added = []
    names = [column["name"] for column in before.columns]
    image = lambda row: dict(zip(names, row.texts, strict=True))  # noqa: E731
    return [
        *({"op": "delete", "before": image(row), "after": None} for row in alone),
        *({"op": "update", "before": image(old), "after": image(new)} for old, new in pairs),
        *({"op": "insert", "before": None, "after": image(row)} for row in added),
    ]


def _pair(table: Table, gone: Sequence[Row], made: Sequence[Row]) -> Iterator[tuple[Row, Row]]:
    places = [place for place, column in enumerate(table.columns) if column["name"] in table.primary_key]
    if places:
        new = {tuple(row.texts[place] for place in places): row for row in made}
        for row in gone:
            if (key := tuple(row.texts[place] for place in places)) in new:
                yield row, new[key]
