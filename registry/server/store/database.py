"""Database of the tables: a SQLite file, or PostgreSQL for several servers at once.

A commit is durable when the call returns: SQLite syncs to disk at each commit, and PostgreSQL is set to commit
synchronously, whatever its default is. Writers are serialised, in SQLite by its own lock, in PostgreSQL by one advisory
lock for all servers; readers never wait for them.
"""

from __future__ import annotations

import errno
import json
import sqlite3
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from sqlalchemy import Connection, Engine, create_engine, event, inspect, select, text, update
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, SQLAlchemyError

from cdc_contracts.registry.core.common.errors import UnavailableError, UsageError
from cdc_contracts.registry.server.store.database_tables import FORM, FORMS, METADATA, SCHEMAS
from cdc_contracts.registry.server.store.registry_records import StoredReference
from cdc_contracts.registry.server.store.schema_content import make_content

BUSY_SECONDS: Final = 30
TRIAL_SECONDS: Final = 1
"""How long a health check waits for the write lock."""
_TRIAL_BYTES: Final = 64 * 1024
"""Roughly the size of what registering a schema writes."""
_NO_ROOM: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO})
_BUSY: Final = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})
_READ_ONLY_TRANSACTION: Final = "25006"
LOCK: Final = 0x0CDC_C047
"""The key of the advisory lock: any number that no other program uses in this database."""


class Database:
    """Connections to the registry's tables, in a file (`sqlite:///…` or a path) or in PostgreSQL."""

    def __init__(self, url: str) -> None:
        """Open the tables, creating or upgrading them if necessary.

        Raises UsageError if the URL is invalid, and UnavailableError if the database cannot be used, or its tables
        were created by a newer release.
        """
        self._engine = _make_engine(url)
        try:
            with self.writing() as connection:
                _bring_up_to_date(connection)
        except SQLAlchemyError as error:
            self.close()
            raise UnavailableError(
                f"the registry's database cannot be opened: {_say(error)}",
                where=self._engine.url.render_as_string(hide_password=True),
                hint="Check that it exists and is writable.",
            ) from error

    @property
    def name(self) -> str:
        """The URL of the database, without its password."""
        return self._engine.url.render_as_string(hide_password=True)

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A read-only transaction."""
        with self._engine.begin() as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction with no concurrent writer; its writes are durable after the block."""
        with self._engine.connect().execution_options(writing=True) as connection, connection.begin():
            if connection.dialect.name == "postgresql":
                connection.execute(text("SELECT set_config('synchronous_commit', 'on', true)"))
                connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": LOCK})
            yield connection

    def try_writing(self) -> bool:
        """Write something and roll it back, and return whether this server got the write lock.

        Raises UnavailableError if nothing can be stored, and SQLAlchemyError if the database does not answer.
        """
        if self._engine.dialect.name == "postgresql":
            self._lock_a_row()
            return True
        file = Path(self._engine.url.database or "")
        if not file.exists():
            raise UnavailableError("nothing can be stored: the file of the database is gone")
        _try_room(file.parent)
        return self._change_a_row()

    def close(self) -> None:
        self._engine.dispose()

    def _lock_a_row(self) -> None:
        """Lock a row, which needs write permission, unless it is already locked."""
        try:
            with self._engine.connect() as connection:
                connection.execute(select(FORMS.c.form).with_for_update(skip_locked=True))
        except DBAPIError as error:
            if getattr(error.orig, "sqlstate", None) == _READ_ONLY_TRANSACTION:
                raise UnavailableError(f"nothing can be stored: {_say(error)}") from error
            raise

    def _change_a_row(self) -> bool:
        """Update a row to its own value, in a transaction that ends at once; False if another writer holds the lock."""
        with self._engine.connect().execution_options(writing=True) as connection:
            cursor: Any = connection.connection.driver_connection
            try:
                cursor.execute(f"PRAGMA busy_timeout={TRIAL_SECONDS * 1000}")
                connection.execute(FORMS.update().values(erasures=FORMS.c.erasures))
            except DBAPIError as error:
                code = getattr(error.orig, "sqlite_errorcode", 0) & 0xFF
                if code in _BUSY:
                    return False
                raise UnavailableError(f"nothing can be stored: {_say(error)}") from error
            finally:
                cursor.execute(f"PRAGMA busy_timeout={BUSY_SECONDS * 1000}")
                connection.rollback()
        return True


def _make_engine(url: str) -> Engine:
    if url and "://" not in url:
        _make_folder(Path(url).absolute().parent)
        url = f"sqlite:///{url}"
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError) as error:
        raise UsageError("not the URL of a database", hint="Write sqlite:///FILE or postgresql://HOST/NAME.") from error
    if parsed.drivername in ("postgresql", "postgres"):
        parsed = parsed.set(drivername="postgresql+psycopg")
        return create_engine(parsed, pool_size=10, max_overflow=30, pool_pre_ping=True)
    if parsed.get_backend_name() != "sqlite" or parsed.database in (None, "", ":memory:"):
        raise UsageError(f"unsupported database: {parsed}", hint="Use an SQLite file, or PostgreSQL.")
    engine = create_engine(parsed, pool_size=10, max_overflow=30, connect_args={"timeout": BUSY_SECONDS})
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        what = f"the registry's database cannot be opened: no folder can be made for it: {error.strerror}"
        raise UnavailableError(what, where=str(folder), hint="Name a file in a writable folder.") from error


def _try_room(folder: Path) -> None:
    """Write an anonymous file, as SQLite notices a full disk only at the end of a transaction."""
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(bytes(_TRIAL_BYTES))
            file.flush()
    except OSError as error:
        if error.errno in _NO_ROOM:
            raise UnavailableError(f"nothing can be stored: {error.strerror}") from error


def _prepare_sqlite(connection: Any, record: object) -> None:
    connection.isolation_level = None  # transactions begin in `_begin_sqlite`, not where the driver guesses
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON", f"busy_timeout={BUSY_SECONDS * 1000}"):
        connection.execute(f"PRAGMA {pragma}")


def _begin_sqlite(connection: Connection) -> None:
    writes = connection.get_execution_options().get("writing", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _name_schemas_as_others_do(connection: Connection) -> None:
    """Upgrade: Avro is now written as by Java, and guids are those of other registries."""
    for row in connection.execute(select(SCHEMAS).where(~SCHEMAS.c.erased)).all():
        extras = json.loads(row.extras)
        references = tuple(StoredReference(*parts) for parts in extras.get("references", ()))
        content = make_content(
            row.type, row.text, references, extras.get("metadata"), extras.get("ruleSet"),
            context=row.context, normalize=False,
        )  # fmt: skip
        same = (SCHEMAS.c.context == row.context, SCHEMAS.c.id == row.id)
        named = {"text": content.text, "identity": content.identity, "guid": content.guid}
        connection.execute(update(SCHEMAS).where(*same).values(**named))


_STEPS: Final[Mapping[int, Callable[[Connection], None]]] = {1: _name_schemas_as_others_do}
"""The upgrade to the next form of the tables, by the older form."""


def _bring_up_to_date(connection: Connection) -> None:
    if not inspect(connection).has_table(FORMS.name):
        METADATA.create_all(connection)
        connection.execute(FORMS.insert().values(form=FORM, erasures=0))
        return
    form = connection.execute(select(FORMS.c.form)).scalar_one()
    if form > FORM:
        raise UnavailableError(
            f"the registry's tables have form {form}, but this release only knows forms up to {FORM}",
            hint="Use the newer release that created them.",
        )
    for older in range(form, FORM):
        _STEPS[older](connection)
        connection.execute(FORMS.update().values(form=older + 1))


def _say(error: SQLAlchemyError) -> str:
    return str(error.orig if isinstance(error, DBAPIError) else error).strip().splitlines()[0]
