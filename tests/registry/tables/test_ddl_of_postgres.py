"""PostgreSQL's own view of DDL: what a server stores of a text is what the reader reads, also from a dump of it."""

from __future__ import annotations

from pathlib import Path

import psycopg
import pytest
import yaml
from database_servers import Postgres, postgres_programs

from cdc_contracts.registry.core.contract.table_contracts import TableColumn, TableContract
from cdc_contracts.registry.core.tables.ddl import read_create_table

DDL = Path(__file__).parent / "ddl"
DUMPED = ("types-by-other-names", "script", "relatives", "dump")
LOADED = (*DUMPED, "keys")
"""A dump says NOT NULL of a table whose key is its own, ONLY, and whoever inherits from it has it then."""
COLUMNS = """
WITH RECURSIVE types AS (
    SELECT oid AS named, oid, typtype, typbasetype, typtypmod, typnotnull FROM pg_type
    UNION ALL
    SELECT types.named, below.oid, below.typtype, below.typbasetype,
           CASE WHEN below.typtype = 'd' THEN below.typtypmod ELSE types.typtypmod END,
           types.typnotnull OR below.typnotnull
    FROM types JOIN pg_type below ON below.oid = types.typbasetype WHERE types.typtype = 'd'
), stored AS (
    SELECT named, oid, typtypmod, typnotnull FROM types WHERE typtype <> 'd'
), enums AS (
    SELECT enumtypid, 'enum(' || string_agg(quote_literal(enumlabel), ',' ORDER BY enumsortorder) || ')' AS text
    FROM pg_enum GROUP BY enumtypid
)
SELECT n.nspname, c.relname, obj_description(c.oid, 'pg_class'), a.attname,
       CASE WHEN e.typtype = 'd' THEN format_type(inner_type.oid, inner_type.typtypmod) || '[]'
            ELSE coalesce(enums.text || CASE WHEN t.typelem <> 0 AND t.typlen = -1 THEN '[]' ELSE '' END,
                          format_type(stored.oid, CASE WHEN stored.oid = a.atttypid THEN a.atttypmod
                                                       ELSE stored.typtypmod END)) END,
       NOT (a.attnotnull OR stored.typnotnull), col_description(c.oid, a.attnum),
       (SELECT array_position((i.indkey::int[])[0:i.indnkeyatts - 1], a.attnum::int) FROM pg_index i
        WHERE i.indrelid = c.oid AND i.indisprimary),
       (SELECT pg_get_expr(d.adbin, d.adrelid) FROM pg_attrdef d
        WHERE d.adrelid = c.oid AND d.adnum = a.attnum AND d.adbin::text !~ ':funcformat 0|OPEXPR|SQLVALUE')
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
JOIN stored ON stored.named = a.atttypid
JOIN pg_type t ON t.oid = stored.oid
LEFT JOIN pg_type e ON e.oid = t.typelem AND t.typlen = -1
LEFT JOIN stored inner_type ON inner_type.named = e.oid
LEFT JOIN enums ON enums.enumtypid IN (stored.oid, e.oid)
WHERE c.relkind IN ('r', 'p') AND c.relpersistence = 'p' AND n.nspname NOT IN ('pg_catalog', 'information_schema')
ORDER BY n.nspname, c.relname, a.attnum
"""
"""Each column of a database with its table: domains are the types below them, enums their members. Of a default that calls
nothing the expression, which the server evaluates."""


@pytest.fixture(scope="module")
def server():
    programs = postgres_programs()
    if programs is None:
        pytest.skip("PostgreSQL is not installed (Debian's package postgresql)")
    server = Postgres(programs)
    yield server
    server.close()


def load(server, text):
    """Return the URL of a new database in which the text was run, without what is for psql alone."""
    url = server.new_database()
    server.run_script(url, text)
    return url


def tables_of(url):
    """Return the tables of a database by name, as its catalogue describes them."""
    with psycopg.connect(url) as connection:
        rows = connection.execute(COLUMNS).fetchall()
        constants = {row[-1] for row in rows} - {None}
        texts = {one: connection.execute(f"SELECT ({one})::text").fetchone()[0] for one in constants}
    found, keys = {}, {}
    for schema, table, about, column, type_, nullable, comment, place, constant in rows:
        name = f"{schema}.{table}"
        columns = found.setdefault(name, (about, {}))[1]
        columns[column] = TableColumn(type=type_, nullable=nullable, default=texts.get(constant), comment=comment)
        if place is not None:
            keys.setdefault(name, {})[place] = column
    return {
        name: TableContract(
            table=name, comment=about, columns=columns,
            primary_key=tuple(column for _, column in sorted(keys.get(name, {}).items())),
        )
        for name, (about, columns) in found.items()
    }  # fmt: skip


@pytest.mark.parametrize("name", LOADED)
def test_a_text_is_read_as_the_server_stores_it(server, name):
    text = (DDL / f"postgres-{name}.sql").read_text(encoding="utf-8")
    stored = tables_of(load(server, text))
    found = read_create_table(text, "postgres")
    assert found.problems == ()
    assert {one.table: one for one in found.tables} == stored
    assert {one.table: list(one.columns) for one in found.tables} == {
        name: list(one.columns) for name, one in stored.items()
    }
    assert len(stored) == len(yaml.safe_load((DDL / f"postgres-{name}.yaml").read_text(encoding="utf-8"))["tables"])


@pytest.mark.parametrize("options", [("--schema-only",), (), ("--clean", "--if-exists", "--create")], ids=" ".join)
@pytest.mark.parametrize("name", DUMPED)
def test_a_dump_is_read_as_the_server_stores_it(server, name, options):
    url = load(server, (DDL / f"postgres-{name}.sql").read_text(encoding="utf-8"))
    with psycopg.connect(url) as connection:
        connection.execute("CREATE TABLE told (id int, words text)")
        connection.execute("INSERT INTO told VALUES (1, E'it''s; \\n CREATE TABLE no (a int); $$ \"'), (2, '/*')")
    found = read_create_table(server.dump(url, *options), "postgres")
    assert found.problems == ()
    assert {one.table: one for one in found.tables} == tables_of(url)
