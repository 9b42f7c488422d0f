"""Database of the tables: a SQLite file, or PostgreSQL for several servers at once.

What is committed is durable when the call returns: SQLite writes through to the disk at each commit, and PostgreSQL
is told to, whatever its default is. Writers go one after the other, in SQLite by its own lock, in PostgreSQL by one
advisory lock for all servers; readers never wait for them.
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

from cdc_contracts.registry.common.errors import UnavailableError, UsageError
from cdc_contracts.registry.server.store.database_tables import FORM, FORMS, METADATA, SCHEMAS
from cdc_contracts.registry.server.store.registry_records import StoredReference
from cdc_contracts.registry.server.store.schema_content import make_content

BUSY_SECONDS: Final = 30
TRIAL_SECONDS: Final = 1
"""For how long a trial waits for its turn to write."""
_TRIAL_BYTES: Final = 64 * 1024
"""About what the registration of a schema writes."""
_NO_ROOM: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO})
_BUSY: Final = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})
_READ_ONLY_TRANSACTION: Final = "25006"
LOCK: Final = 0x0CDC_C047
"""The key of the advisory lock: any number that no other program of the database uses."""


class Database:
    """Connections to the registry's tables, in a file (`sqlite:///…` or a path) or in PostgreSQL."""

    def __init__(self, url: str) -> None:
        """Open the tables, made or brought up to date where need be.

        Raises UsageError where the URL is none, and UnavailableError where the database cannot be used, or its tables
        were made by a newer release.
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
                hint="Check that it is there and may be written.",
            ) from error

    @property
    def name(self) -> str:
        """The URL of the database, without its password."""
        return self._engine.url.render_as_string(hide_password=True)

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """One transaction that only reads."""
        with self._engine.begin() as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """One transaction that no other writer is beside; what it wrote is durable after the block."""
        with self._engine.connect().execution_options(writing=True) as connection, connection.begin():
            if connection.dialect.name == "postgresql":
                connection.execute(text("SELECT set_config('synchronous_commit', 'on', true)"))
                connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": LOCK})
            yield connection

    def try_writing(self) -> bool:
        """Write something that is taken back at once, and say whether it was this server's turn to write.

        Raises UnavailableError where nothing can be stored, and SQLAlchemyError where the database does not answer.
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
        """Lock a row, which only who may write can, unless it is locked already."""
        try:
            with self._engine.connect() as connection:
                connection.execute(select(FORMS.c.form).with_for_update(skip_locked=True))
        except DBAPIError as error:
            if getattr(error.orig, "sqlstate", None) == _READ_ONLY_TRANSACTION:
                raise UnavailableError(f"nothing can be stored: {_say(error)}") from error
            raise

    def _change_a_row(self) -> bool:
        """Change a row to what it is, in a transaction that ends at once; False where another writer has its turn."""
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
        raise UsageError("not the URL of a database", hint="sqlite:///FILE or postgresql://HOST/NAME") from error
    if parsed.drivername in ("postgresql", "postgres"):
        parsed = parsed.set(drivername="postgresql+psycopg")
        return create_engine(parsed, pool_size=10, max_overflow=30, pool_pre_ping=True)
    if parsed.get_backend_name() != "sqlite" or parsed.database in (None, "", ":memory:"):
        raise UsageError(f"no database for a registry: {parsed}", hint="Use a file of SQLite, or PostgreSQL.")
    engine = create_engine(parsed, pool_size=10, max_overflow=30, connect_args={"timeout": BUSY_SECONDS})
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        what = f"the registry's database cannot be opened: no folder can be made for it: {error.strerror}"
        raise UnavailableError(what, where=str(folder), hint="Name a file in a folder that may be written.") from error


def _try_room(folder: Path) -> None:
    """Write a file that has no name, as SQLite notices a full disk only at the end of a transaction."""
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(bytes(_TRIAL_BYTES))
            file.flush()
    except OSError as error:
        if error.errno in _NO_ROOM:
            raise UnavailableError(f"nothing can be stored: {error.strerror}") from error


def _prepare_sqlite(connection: Any, record: object) -> None:
    connection.isolation_level = None  # transactions begin where `_begin_sqlite` says, not where the driver guesses
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON", f"busy_timeout={BUSY_SECONDS * 1000}"):
        connection.execute(f"PRAGMA {pragma}")


def _begin_sqlite(connection: Connection) -> None:
    writes = connection.get_execution_options().get("writing", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _name_schemas_as_others_do(connection: Connection) -> None:
    """Avro is written as Java writes it, and guids are those that any registry gives."""
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
"""How tables become those of the next form, by the older one."""


def _bring_up_to_date(connection: Connection) -> None:
    if not inspect(connection).has_table(FORMS.name):
        METADATA.create_all(connection)
        connection.execute(FORMS.insert().values(form=FORM, erasures=0))
        return
    form = connection.execute(select(FORMS.c.form)).scalar_one()
    if form > FORM:
        raise UnavailableError(
            f"the registry's tables have form {form}, and this release knows {FORM}",
            hint="Use the newer release that made them.",
        )
    for older in range(form, FORM):
        _STEPS[older](connection)
        connection.execute(FORMS.update().values(form=older + 1))


def _say(error: SQLAlchemyError) -> str:
    return str(error.orig if isinstance(error, DBAPIError) else error).strip().splitlines()[0]
