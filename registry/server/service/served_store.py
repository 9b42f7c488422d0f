"""Served store: the store with built-in contracts, with metrics, limited to what the caller may read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain
from typing import Any

from sqlalchemy import Connection, func, select

from cdc_contracts.registry.server.access.rights import CALLER, Caller, Right
from cdc_contracts.registry.server.service.builtin_subjects import BuiltinSubjects
from cdc_contracts.registry.server.service.server_metrics import ServerMetrics
from cdc_contracts.registry.server.store.database_tables import SCHEMAS, VERSIONS
from cdc_contracts.registry.server.store.error_codes import not_permitted
from cdc_contracts.registry.server.store.policies import MODE, Mode
from cdc_contracts.registry.server.store.registry_records import Records, SchemaContent, StoredSchema, StoredVersion
from cdc_contracts.registry.server.store.registry_store import Store
from cdc_contracts.registry.server.store.subjects import Subject


class ServedStore(Store):
    """The store of a server."""

    def __init__(self, url: str, builtin: BuiltinSubjects, metrics: ServerMetrics) -> None:
        """Open the database of a URL or path; see `Database` for what is raised."""
        super().__init__(url)
        self._builtin = builtin
        self._metrics = metrics

    @property
    def name(self) -> str:
        """The name of the database, without its password."""
        return self._database.name

    @contextmanager
    def reading(self) -> Iterator[Records]:
        with self._metrics.store_time("read"), self._database.reading() as connection:
            yield ReadableRecords(connection, self._builtin, CALLER.get())

    @contextmanager
    def writing(self) -> Iterator[Records]:
        # Rights to write are checked at the endpoint; the rules of writing have to see everything.
        with self._metrics.store_time("write"), self._database.writing() as connection:
            yield RecordsWithBuiltins(connection, self._builtin)
        self._asked_at = float("-inf")

    def cached_schema(self, context: str, number: int) -> StoredSchema | None:
        return super().cached_schema(context, number) if CALLER.get().reads_all else None

    def schema(self, context: str, number: int) -> StoredSchema | None:
        if CALLER.get().reads_all and context not in self._builtin.contexts:
            return super().schema(context, number)
        with self.reading() as records:
            return records.schema(context, number)

    def counts(self) -> Mapping[str, int]:
        """Return how many schemas, subjects and versions there are, without built-in contracts."""
        subjects = select(func.count()).select_from(
            select(VERSIONS.c.context, VERSIONS.c.subject).where(~VERSIONS.c.deleted).distinct().subquery()
        )
        versions = select(func.count()).select_from(VERSIONS).where(~VERSIONS.c.deleted)
        schemas = select(func.count()).select_from(SCHEMAS).where(~SCHEMAS.c.erased)
        with self._database.reading() as connection:
            numbers = [connection.execute(query).scalar_one() for query in (schemas, subjects, versions)]
        return dict(zip(("schemas", "subjects", "versions"), numbers, strict=True))


class RecordsWithBuiltins(Records):
    """The database rows and, in contexts of their own, the built-in contracts."""

    def __init__(self, connection: Connection, builtin: BuiltinSubjects) -> None:
        super().__init__(connection)
        self._builtin = builtin

    def schema(self, context: str, number: int) -> StoredSchema | None:
        return self._builtin.schema(context, number) if self._holds(context) else super().schema(context, number)

    def schemas_by_guid(self, guid: str) -> list[StoredSchema]:
        return [*super().schemas_by_guid(guid), *(one for one in self._builtin.schemas() if one.content.guid == guid)]

    def same_schemas(self, context: str, identity: str) -> list[StoredSchema]:
        if not self._holds(context):
            return super().same_schemas(context, identity)
        same = (one for one in self._builtin.schemas() if one.content.identity == identity)
        return [one for one in same if one.context == context]

    def highest_id(self, context: str) -> int:
        if not self._holds(context):
            return super().highest_id(context)
        return max(one.id for one in self._builtin.schemas() if one.context == context)

    def versions(self, subject: Subject) -> list[StoredVersion]:
        return self._builtin.versions(subject) if self._holds(subject.context) else super().versions(subject)

    def version(self, subject: Subject, number: int) -> StoredVersion | None:
        if not self._holds(subject.context):
            return super().version(subject, number)
        return next((one for one in self._builtin.versions(subject) if one.version == number), None)

    def versions_of_schema(self, context: str, number: int) -> list[StoredVersion]:
        if not self._holds(context):
            return super().versions_of_schema(context, number)
        same = (one for one in self._builtin.all_versions() if one.id == number)
        return [one for one in same if one.subject.context == context]

    def all_versions(self, context: str | None, prefix: str) -> Iterator[StoredVersion]:
        shelved = (
            one
            for one in self._builtin.all_versions()
            if context in (None, one.subject.context) and one.subject.name.startswith(prefix)
        )
        return chain(super().all_versions(context, prefix), shelved)

    def contexts(self) -> list[str]:
        return sorted({*super().contexts(), *self._builtin.contexts})

    def has_versions(self, context: str) -> bool:
        return self._holds(context) or super().has_versions(context)

    def settings_in(self, scopes: Sequence[Subject]) -> dict[tuple[Subject, str], Any]:
        found = super().settings_in([scope for scope in scopes if not self._holds(scope.context)])
        held = {scope for scope in scopes if self._holds(scope.context) and not scope.name}
        return found | {(scope, MODE): Mode.READONLY for scope in held}

    def set_setting(self, scope: Subject, kind: str, value: Any) -> None:
        self._refuse(scope.context)
        super().set_setting(scope, kind, value)

    def remove_setting(self, scope: Subject, kind: str) -> None:
        self._refuse(scope.context)
        super().remove_setting(scope, kind)

    def add_schema(self, context: str, content: SchemaContent, number: int | None = None) -> int:
        self._refuse(context)
        return super().add_schema(context, content, number)

    def mark_deleted(self, version: StoredVersion) -> None:
        self._refuse(version.subject.context)
        super().mark_deleted(version)

    def _holds(self, context: str) -> bool:
        return context in self._builtin.contexts

    def _refuse(self, context: str) -> None:
        if self._holds(context):
            raise not_permitted(f"Context {context} holds built-in contracts and is read-only")


class ReadableRecords(RecordsWithBuiltins):
    """Only the records that the caller may read; all others seem not to exist."""

    def __init__(self, connection: Connection, builtin: BuiltinSubjects, caller: Caller) -> None:
        super().__init__(connection, builtin)
        self._caller = caller
        self._returned: set[tuple[str, int]] = set()
        """Contexts and ids of schemas of versions already returned: they may be read without another check."""

    def schema(self, context: str, number: int) -> StoredSchema | None:
        return super().schema(context, number) if self._may_read_schema(context, number) else None

    def schemas_by_guid(self, guid: str) -> list[StoredSchema]:
        return [one for one in super().schemas_by_guid(guid) if self._may_read_schema(one.context, one.id)]

    def versions(self, subject: Subject) -> list[StoredVersion]:
        return list(self._readable(super().versions(subject)))

    def version(self, subject: Subject, number: int) -> StoredVersion | None:
        found = super().version(subject, number)
        return None if found is None else next(self._readable([found]), None)

    def versions_of_schema(self, context: str, number: int) -> list[StoredVersion]:
        return list(self._readable(super().versions_of_schema(context, number)))

    def all_versions(self, context: str | None, prefix: str) -> Iterator[StoredVersion]:
        return self._readable(super().all_versions(context, prefix))

    def contexts(self) -> list[str]:
        return [context for context in super().contexts() if self._caller.may_somewhere(Right.READ, context)]

    def setting(self, scope: Subject, kind: str) -> Any:
        return super().setting(scope, kind) if not scope.name or self._may_read(scope) else None

    def _readable(self, versions: Iterable[StoredVersion]) -> Iterator[StoredVersion]:
        for version in versions:
            if self._may_read(version.subject):
                self._returned.add((version.subject.context, version.id))
                yield version

    def _may_read(self, subject: Subject) -> bool:
        return self._caller.reads_all or self._caller.may(Right.READ, subject)

    def _may_read_schema(self, context: str, number: int) -> bool:
        if self._caller.reads_all or (context, number) in self._returned:
            return True
        return bool(self.versions_of_schema(context, number))
