"""Registry store: the records in a database, and what of them is cached."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Final

from cdc_contracts.registry.common.errors import UnavailableError
from cdc_contracts.registry.server.store.database import BUSY_SECONDS, Database
from cdc_contracts.registry.server.store.registry_records import Records, StoredSchema
from cdc_contracts.registry.server.store.subjects import Subject

KEPT: Final = 10_000
"""How many schemas are kept at hand."""
TRUSTED_SECONDS: Final = 1.0
"""For how long schemas and aliases at hand are served without asking whether another server changed them."""


class Store:
    """Transactions on the records, and the schemas by id, which never change, at hand."""

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
        """One transaction that only reads."""
        with self._database.reading() as connection:
            yield Records(connection)

    @contextmanager
    def writing(self) -> Iterator[Records]:
        """One transaction that no other writer is beside; what it wrote is durable after the block."""
        with self._database.writing() as connection:
            yield Records(connection)
        self._asked_at = float("-inf")
        self._busy_since = None

    def check(self) -> None:
        """See whether something could be stored now. Another writer at work is no failure, unless it never ends.

        Raises UnavailableError where nothing can be stored, and SQLAlchemyError where the database does not answer.
        """
        now = time.monotonic()
        if self._database.try_writing():
            self._busy_since = None
        elif self._busy_since is None:
            self._busy_since = now
        elif now - self._busy_since > BUSY_SECONDS:
            raise UnavailableError(
                f"nothing can be stored: another writer holds the database for {BUSY_SECONDS} seconds"
            )

    def meant_at_hand(self, subject: Subject) -> Subject | None:
        """Return the subject that a name means, if that needs no look into the database."""
        if time.monotonic() - self._asked_at > TRUSTED_SECONDS:
            return None
        return self._aliases.get(subject, subject)

    def meant(self, subject: Subject) -> Subject:
        """Return the subject that a name means: itself, unless it is the alias of another."""
        known = self.meant_at_hand(subject)
        if known is not None:
            return known
        with self._database.reading() as connection:
            self._look_again(Records(connection))
        return self._aliases.get(subject, subject)

    def at_hand(self, context: str, number: int) -> StoredSchema | None:
        """Return a schema by its id, if that needs no look into the database."""
        if time.monotonic() - self._asked_at > TRUSTED_SECONDS:
            return None
        return self._schemas.get((context, number))

    def schema(self, context: str, number: int) -> StoredSchema | None:
        """Return a schema by its id."""
        known = self.at_hand(context, number)
        if known is not None:
            return known
        with self.reading() as records:
            self._look_again(records)
            found = self._schemas.get((context, number)) or records.schema(context, number)
        if found is not None:
            self._keep(found)
        return found

    def close(self) -> None:
        self._database.close()

    def _look_again(self, records: Records) -> None:
        """Forget what was erased, and learn the aliases."""
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
