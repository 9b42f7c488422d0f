"""Database sessions: statements run one by one, and all tables read as the text that the database makes of them."""

from __future__ import annotations

import contextlib
import json
import shutil
import socket
import subprocess
import uuid
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from database_servers import MariaDb, Postgres, mariadb_programs, postgres_programs

DATABASE = "shop"
Texts = tuple[str | None, ...]


@dataclass(frozen=True, slots=True)
class Row:
    """The texts of a row in the order of the columns; `version` differs once a statement has written the row."""

    version: Hashable
    texts: Texts


@dataclass(frozen=True, slots=True)
class Table:
    """A table at one time: each column has `name`, `type`, `nullable` and `default`, as the database names them."""

    schema: str
    name: str
    columns: tuple[dict[str, Any], ...]
    primary_key: tuple[str, ...]
    replica_identity: str | None
    rows: tuple[Row, ...]


class Session(Protocol):
    """A connection of one user, whose transactions are those of the statements."""

    port: int

    def execute(self, sql: str) -> None: ...

    def read_tables(self) -> dict[str, Table]: ...

    def log_position(self) -> tuple[str, str]: ...


@contextlib.contextmanager
def open_session(database: str) -> Iterator[Session]:
    """Start a server of `postgresql` or `mariadb` in a folder of its own, and connect to it; it ends with the block."""
    with _SESSIONS[database]() as session:
        yield session


@contextlib.contextmanager
def _open_postgresql() -> Iterator[Session]:
    programs = postgres_programs()
    assert programs is not None, "PostgreSQL is not installed"
    port = free_port()
    settings = {"wal_level": "logical", "max_replication_slots": 40, "max_wal_senders": 40, "autovacuum": "off"}
    server = Postgres(programs, port=port, settings=settings)
    try:
        server.create_database(DATABASE)
        with contextlib.closing(PostgresqlSession(port)) as session:
            # Engines would create it themselves, each for all tables.
            session.execute("CREATE PUBLICATION producers FOR ALL TABLES")
            yield session
    finally:
        server.close()


@contextlib.contextmanager
def _open_mariadb() -> Iterator[Session]:
    programs = mariadb_programs()
    assert programs is not None, "MariaDB is not installed"
    server = MariaDb(programs, port=free_port())
    try:
        with contextlib.closing(MariadbSession(server)) as session:
            yield session
    finally:
        server.close()


class PostgresqlSession:
    """Rows are read in the text form of the server; the place of a row in the table is its version."""

    def __init__(self, port: int) -> None:
        import psycopg

        self.port = port
        address = {"host": "127.0.0.1", "port": port, "user": "registry", "dbname": DATABASE}
        self._connection = psycopg.connect(**address, autocommit=True, options="-c timezone=UTC")

    def close(self) -> None:
        self._connection.close()

    def execute(self, sql: str) -> None:
        self._connection.execute(sql)

    def read_tables(self) -> dict[str, Table]:
        return {
            f"{schema}.{name}": self._table(schema, name, identity) for schema, name, identity in self._ask(_TABLES)
        }

    def log_position(self) -> tuple[str, str]:
        ((position,),) = self._ask("SELECT pg_current_wal_lsn()")
        return "", str(position)

    def _table(self, schema: str, name: str, identity: str) -> Table:
        place = f'"{schema}"."{name}"'
        columns = tuple(
            {"name": column, "type": form, "nullable": nullable == "t", "default": default}
            for column, form, nullable, default in self._ask(_COLUMNS.format(place))
        )
        key = tuple(str(column) for (column,) in self._ask(_PRIMARY_KEY.format(place)))
        order = ", ".join(f'"{column}"' for column in key) or "ctid"
        rows = self._ask(f"SELECT ctid, * FROM {place} ORDER BY {order}")
        return Table(schema, name, columns, key, _IDENTITIES[identity], tuple(Row(row[0], row[1:]) for row in rows))

    def _ask(self, sql: str) -> list[Any]:
        """Return rows of texts, as the output functions of the server write them."""
        result = self._connection.execute(sql).pgresult
        values = [[result.get_value(row, column) for column in range(result.nfields)] for row in range(result.ntuples)]
        return [tuple(None if value is None else value.decode() for value in row) for row in values]


class MariadbSession:
    """Rows are read by the server's own client, each as a JSON array of texts; a row's texts are its version."""

    def __init__(self, server: MariaDb) -> None:
        program = shutil.which("mariadb")
        assert program is not None
        self.port = server.port
        command = [program, "--no-defaults", f"--socket={server.socket}", "-u", "root", "--batch", "--raw"]
        command += ["--skip-column-names", "--unbuffered", "--default-character-set=utf8mb4"]
        self._client = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8"
        )

    def close(self) -> None:
        assert self._client.stdin
        assert self._client.stdout
        self._client.stdin.close()
        self._client.wait()
        self._client.stdout.close()

    def execute(self, sql: str) -> None:
        assert self._lines(sql) == [], sql

    def read_tables(self) -> dict[str, Table]:
        tables: dict[str, list[dict[str, Any]]] = {}
        for line in self._lines(_MARIADB_COLUMNS):
            column = json.loads(line)
            tables.setdefault(column.pop("table"), []).append(column)
        return {f"{DATABASE}.{name}": self._table(name, columns) for name, columns in tables.items()}

    def log_position(self) -> tuple[str, str]:
        (line,) = self._lines("SHOW MASTER STATUS")
        file, position, *_ = line.split("\t")
        return file, position

    def _table(self, name: str, columns: Sequence[dict[str, Any]]) -> Table:
        texts = ", ".join(_text_of(column) for column in columns)
        key = tuple(json.loads(line) for line in self._lines(_MARIADB_KEY.format(name)))
        order = "".join(f"{', ' if place else ' ORDER BY '}`{column}`" for place, column in enumerate(key))
        rows = [tuple(json.loads(line)) for line in self._lines(f"SELECT JSON_ARRAY({texts}) FROM `{name}`{order}")]
        seen: Counter[Texts] = Counter()
        versions = []
        for row in rows:
            seen[row] += 1
            versions.append(Row((*row, seen[row]), row))
        shown = tuple({name: column[name] for name in ("name", "type", "nullable", "default")} for column in columns)
        return Table(DATABASE, name, shown, key, None, tuple(versions))

    def _lines(self, sql: str) -> list[str]:
        assert self._client.stdin
        assert self._client.stdout
        mark = uuid.uuid4().hex
        self._client.stdin.write(f"{sql};\nSELECT '{mark}';\n")
        self._client.stdin.flush()
        lines: list[str] = []
        while (line := self._client.stdout.readline()) != f"{mark}\n":
            assert line, f"{sql}: {lines}"
            lines.append(line.removesuffix("\n"))
        return lines


def _text_of(column: dict[str, Any]) -> str:
    """Return an expression for the full text of a column: hexadecimal digits of bytes, binary digits of bits.

    A FLOAT is shown as the DOUBLE of the same value, because the text of a FLOAT has six digits only.
    """
    name, family = f"`{column['name']}`", column["family"]
    if family in _MARIADB_BYTES:
        return f"HEX({name})"
    if family == "bit":
        return f"LPAD(BIN({name}), {column['type'].strip('bit()')}, '0')"
    if family == "float":
        return f"CAST(CAST({name} AS DOUBLE) AS CHAR)"
    return f"CAST({name} AS CHAR CHARACTER SET utf8mb4)"


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


_SESSIONS = {"postgresql": _open_postgresql, "mariadb": _open_mariadb}
_TABLES = """
    SELECT namespace.nspname, class.relname, class.relreplident
    FROM pg_class class JOIN pg_namespace namespace ON namespace.oid = class.relnamespace
    WHERE class.relkind = 'r' AND namespace.nspname NOT IN ('pg_catalog', 'information_schema')
    ORDER BY 1, 2
"""
_COLUMNS = """
    SELECT attribute.attname, format_type(attribute.atttypid, attribute.atttypmod), NOT attribute.attnotnull,
           pg_get_expr(value.adbin, value.adrelid)
    FROM pg_attribute attribute
    LEFT JOIN pg_attrdef value ON value.adrelid = attribute.attrelid AND value.adnum = attribute.attnum
    WHERE attribute.attrelid = '{}'::regclass AND attribute.attnum > 0 AND NOT attribute.attisdropped
    ORDER BY attribute.attnum
"""
_PRIMARY_KEY = """
    SELECT attribute.attname
    FROM pg_index place, unnest(place.indkey) WITH ORDINALITY AS part(number, position), pg_attribute attribute
    WHERE place.indrelid = '{}'::regclass AND place.indisprimary
      AND attribute.attrelid = place.indrelid AND attribute.attnum = part.number
    ORDER BY part.position
"""
_IDENTITIES = {"d": "default", "f": "full", "i": "index", "n": "nothing"}
_MARIADB_COLUMNS = f"""
    SELECT JSON_OBJECT('table', table_name, 'name', column_name, 'type', column_type, 'family', data_type,
                       'nullable', JSON_EXTRACT(IF(is_nullable = 'YES', 'true', 'false'), '$'),
                       'default', column_default)
    FROM information_schema.columns WHERE table_schema = '{DATABASE}'
    ORDER BY table_name, ordinal_position
"""
_MARIADB_KEY = f"""
    SELECT JSON_QUOTE(column_name) FROM information_schema.statistics
    WHERE table_schema = '{DATABASE}' AND table_name = '{{}}' AND index_name = 'PRIMARY' ORDER BY seq_in_index
"""
_MARIADB_BYTES = frozenset({
    *("binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob"),
    *("geometry", "point", "linestring", "polygon", "multipoint", "multilinestring", "multipolygon"),
    "geometrycollection",
})  # fmt: skip
