"""Registry store: the records in a database, with a cache."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Final

from cdc_contracts.registry.core.common.errors import UnavailableError
from cdc_contracts.registry.server.store.database import BUSY_SECONDS, Database
from cdc_contracts.registry.server.store.registry_records import Records, StoredSchema
from cdc_contracts.registry.server.store.subjects import Subject

KEPT: Final = 10_000
"""How many schemas are cached."""
TRUSTED_SECONDS: Final = 1.0
"""How long cached schemas and aliases are served without checking whether another server changed them."""


class Store:
    """Transactions on the records, and a cache of schemas by id, which never change."""

    def __init__(self, url: str) -> None:
        """Open the database of a URL or path; see `Database` for what is raised."""
        self._database = Database(url)
        self._schemas: OrderedDict[tuple[str, int], StoredSchema] = OrderedDict()
        self._erasures = -1
        self._aliases: dict[Subject, Subject] = {}
        self._asked_at = float("-inf")
        self._busy_since: float | None = None
        self._lock = Lock()

    @contextmanager
    def reading(self) -> Iterator[Records]:
        """A read-only transaction."""
        with self._database.reading() as connection:
            yield Records(connection)

    @contextmanager
    def writing(self) -> Iterator[Records]:
        """A transaction with no concurrent writer; its writes are durable after the block."""
        with self._database.writing() as connection:
            yield Records(connection)
        self._asked_at = float("-inf")
        self._busy_since = None

    def check(self) -> None:
        """Check that the store can be written to. Another active writer is not a failure, unless it never ends.

        Raises UnavailableError if nothing can be stored, and SQLAlchemyError if the database does not answer.
        """
        now = time.monotonic()
        if self._database.try_writing():
            self._busy_since = None
        elif self._busy_since is None:
            self._busy_since = now
        elif now - self._busy_since > BUSY_SECONDS:
            raise UnavailableError(
                f"nothing can be stored: another writer has held the database for {BUSY_SECONDS} seconds"
            )

    def cached_alias(self, subject: Subject) -> Subject | None:
        """Return the subject behind a name if the cached aliases are fresh, else None."""
        if time.monotonic() - self._asked_at > TRUSTED_SECONDS:
            return None
        return self._aliases.get(subject, subject)

    def resolve_alias(self, subject: Subject) -> Subject:
        """Return the subject behind a name: itself, unless it is an alias of another."""
        known = self.cached_alias(subject)
        if known is not None:
            return known
        with self._database.reading() as connection:
            self._refresh(Records(connection))
        return self._aliases.get(subject, subject)

    def cached_schema(self, context: str, number: int) -> StoredSchema | None:
        """Return a schema by its id if it is cached, else None."""
        if time.monotonic() - self._asked_at > TRUSTED_SECONDS:
            return None
        return self._schemas.get((context, number))

    def schema(self, context: str, number: int) -> StoredSchema | None:
        """Return a schema by its id."""
        known = self.cached_schema(context, number)
        if known is not None:
            return known
        with self.reading() as records:
            self._refresh(records)
            found = self._schemas.get((context, number)) or records.schema(context, number)
        if found is not None:
            self._keep(found)
        return found

    def close(self) -> None:
        self._database.close()

    def _refresh(self, records: Records) -> None:
        """Drop erased schemas from the cache, and reload the aliases."""
        erasures, aliases = records.erasures(), records.aliases()
        with self._lock:
            if erasures != self._erasures:
                self._schemas.clear()
            self._erasures, self._aliases = erasures, aliases
            self._asked_at = time.monotonic()

    def _keep(self, schema: StoredSchema) -> None:
        with self._lock:
            self._schemas[schema.context, schema.id] = schema
            while len(self._schemas) > KEPT:
                self._schemas.popitem(last=False)
