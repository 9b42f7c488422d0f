"""Registry records: the contents of the registry, read and written inside one transaction."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Connection, Select, and_, bindparam, delete, exists, func, insert, or_, select, update

from cdc_contracts.registry.server.store.database_tables import (
    CONTEXTS,
    FORMS,
    REFERENCES,
    SCHEMAS,
    SETTINGS,
    SUBJECTS,
    VERSIONS,
)
from cdc_contracts.registry.server.store.subjects import Subject, parse_subject


@dataclass(frozen=True)
class StoredReference:
    """A named reference from a schema to a version of another subject.

    `subject` is as given: without a context it is in the context of the referring schema.
    """

    name: str
    subject: str
    version: int

    def target(self, context: str) -> Subject:
        """Return the subject referred to by a schema in a context."""
        return parse_subject(self.subject).within(context)


@dataclass(frozen=True)
class SchemaContent:
    """Everything that makes two schemas equal: `identity` is its digest."""

    type: str
    text: str
    references: tuple[StoredReference, ...]
    metadata: Mapping[str, Any] | None
    rule_set: Mapping[str, Any] | None
    identity: str
    guid: str


@dataclass(frozen=True)
class StoredSchema:
    """The schema with an id in a context."""

    context: str
    id: int
    content: SchemaContent


@dataclass(frozen=True)
class StoredVersion:
    """A version of a subject; `registered_at` in milliseconds since 1970."""

    subject: Subject
    version: int
    id: int
    deleted: bool
    registered_at: int


class Records:
    """The database rows in terms of the registry: schemas, versions, settings."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection

    def schema(self, context: str, number: int) -> StoredSchema | None:
        """Return the schema with an id, if some version, deleted or not, still has it."""
        query = select(SCHEMAS).where(SCHEMAS.c.context == context, SCHEMAS.c.id == number, ~SCHEMAS.c.erased)
        return next(self._schemas(query), None)

    def schemas_by_guid(self, guid: str) -> list[StoredSchema]:
        query = select(SCHEMAS).where(SCHEMAS.c.guid == guid, ~SCHEMAS.c.erased)
        return list(self._schemas(query.order_by(SCHEMAS.c.context, SCHEMAS.c.id)))

    def same_schemas(self, context: str, identity: str) -> list[StoredSchema]:
        """Return the schemas with this content: one, or several if they were imported so."""
        return list(self._schemas(_SAME_SCHEMAS, in_context=context, of_identity=identity))

    def identity_of(self, context: str, number: int) -> str | None:
        """Return the identity of the schema with an id, even if it was erased."""
        query = select(SCHEMAS.c.identity).where(SCHEMAS.c.context == context, SCHEMAS.c.id == number)
        found: str | None = self.connection.execute(query).scalar()
        return found

    def highest_id(self, context: str) -> int:
        """Return the highest id assigned in a context, 0 if none was."""
        query = select(CONTEXTS.c.next_id).where(CONTEXTS.c.context == context)
        return (self.connection.execute(query).scalar() or 1) - 1

    def add_schema(self, context: str, content: SchemaContent, number: int | None = None) -> int:
        """Store a schema under the next id of its context, or under the given one, and return the id."""
        following = self._next_id(context)
        given = following if number is None else number
        bound = CONTEXTS.c.context == context
        row = {"next_id": max(following, given + 1), "listed": True}
        self.connection.execute(update(CONTEXTS).where(bound).values(**row))
        values = {
            "type": content.type,
            "text": content.text,
            "extras": _extras_of(content),
            "identity": content.identity,
            "guid": content.guid,
            "erased": False,
        }
        if self.identity_of(context, given) is None:
            self.connection.execute(insert(SCHEMAS).values(context=context, id=given, **values))
        else:  # an erased schema is restored under its old id
            revived = update(SCHEMAS).where(SCHEMAS.c.context == context, SCHEMAS.c.id == given)
            self.connection.execute(revived.values(**values))
        for reference in content.references:
            target = reference.target(context)
            self.connection.execute(
                insert(REFERENCES).values(
                    context=context,
                    id=given,
                    name=reference.name,
                    to_context=target.context,
                    to_subject=target.name,
                    to_version=reference.version,
                )
            )
        return given

    def versions(self, subject: Subject) -> list[StoredVersion]:
        """Return all versions of a subject, including deleted ones, oldest first."""
        return list(self._versions(_VERSIONS_OF, in_context=subject.context, of_subject=subject.name))

    def version(self, subject: Subject, number: int) -> StoredVersion | None:
        of_number = _VERSIONS_OF.where(VERSIONS.c.version == number)
        return next(self._versions(of_number, in_context=subject.context, of_subject=subject.name), None)

    def versions_of_schema(self, context: str, number: int) -> list[StoredVersion]:
        query = select(VERSIONS).where(VERSIONS.c.context == context, VERSIONS.c.id == number)
        return list(self._versions(query.order_by(VERSIONS.c.subject, VERSIONS.c.version)))

    def all_versions(self, context: str | None, prefix: str) -> Iterator[StoredVersion]:
        """Return the versions of subjects of one context, or of all, whose name starts with a prefix."""
        query = select(VERSIONS).order_by(VERSIONS.c.context, VERSIONS.c.subject, VERSIONS.c.version)
        query = query.where(func.substr(VERSIONS.c.subject, 1, len(prefix)) == prefix)
        return self._versions(query if context is None else query.where(VERSIONS.c.context == context))

    def add_version(self, subject: Subject, number: int | None, schema: int, now: int) -> int:
        """Store a schema as the next version of a subject, or as the given one, and return the version."""
        following = self._next_version(subject)
        given = following if number is None else number
        bound = (SUBJECTS.c.context == subject.context, SUBJECTS.c.subject == subject.name)
        self.connection.execute(update(SUBJECTS).where(*bound).values(next_version=max(following, given + 1)))
        row = {"version": given, "id": schema, "deleted": False, "registered_at": now}
        named = {"context": subject.context, "subject": subject.name}
        self.connection.execute(insert(VERSIONS).values(**named, **row))
        return given

    def mark_deleted(self, version: StoredVersion) -> None:
        self.connection.execute(update(VERSIONS).where(*_row_of(version)).values(deleted=True))

    def erase(self, version: StoredVersion) -> None:
        """Delete a version permanently, and its schema if no other version has it. Version and id are not reused."""
        self.connection.execute(delete(VERSIONS).where(*_row_of(version)))
        context, number = version.subject.context, version.id
        if self.versions_of_schema(context, number):
            return
        self.connection.execute(delete(REFERENCES).where(REFERENCES.c.context == context, REFERENCES.c.id == number))
        gone = update(SCHEMAS).where(SCHEMAS.c.context == context, SCHEMAS.c.id == number)
        self.connection.execute(gone.values(erased=True, text="", extras="{}"))
        self.connection.execute(update(FORMS).values(erasures=FORMS.c.erasures + 1))

    def erasures(self) -> int:
        """Return how often a schema was erased: older cache entries may be stale."""
        erasures: int = self.connection.execute(select(FORMS.c.erasures)).scalar_one()
        return erasures

    def referrers(self, subject: Subject, version: int, *, deleted: bool) -> list[int]:
        """Return the ids of the schemas that refer to a version; on request also those with only deleted versions."""
        lives = exists().where(VERSIONS.c.context == REFERENCES.c.context, VERSIONS.c.id == REFERENCES.c.id)
        if not deleted:
            lives = lives.where(~VERSIONS.c.deleted)
        query = select(REFERENCES.c.id).distinct().where(
            REFERENCES.c.to_context == subject.context,
            REFERENCES.c.to_subject == subject.name,
            REFERENCES.c.to_version == version,
            lives,
        )  # fmt: skip
        return list(self.connection.execute(query.order_by(REFERENCES.c.id)).scalars())

    def contexts(self) -> list[str]:
        query = select(CONTEXTS.c.context).where(CONTEXTS.c.listed).order_by(CONTEXTS.c.context)
        return list(self.connection.execute(query).scalars())

    def unlist_context(self, context: str) -> None:
        """Remove a context from the list until something is registered there again. Its ids are not reused."""
        self.connection.execute(update(CONTEXTS).where(CONTEXTS.c.context == context).values(listed=False))

    def has_versions(self, context: str) -> bool:
        query = select(VERSIONS.c.version).where(VERSIONS.c.context == context).limit(1)
        return self.connection.execute(query).first() is not None

    def setting(self, scope: Subject, kind: str) -> Any:
        """Return the JSON value of a setting, None if it is not set in this scope."""
        return self.settings_in([scope]).get((scope, kind))

    def settings_in(self, scopes: Sequence[Subject]) -> dict[tuple[Subject, str], Any]:
        """Return all settings of up to three scopes, by scope and kind."""
        if not scopes:
            return {}
        padded = (*scopes, scopes[0], scopes[0])[:3]
        names = {
            f"{part}{place}": getattr(one, part) for place, one in enumerate(padded) for part in ("context", "name")
        }
        rows = self.connection.execute(_SETTINGS_IN, names)
        return {(Subject(row.context, row.subject), row.kind): json.loads(row.value) for row in rows}

    def aliases(self) -> dict[Subject, Subject]:
        """Return the target subject of each alias; one without a context is in that of the alias."""
        of_alias = select(SETTINGS).where(SETTINGS.c.kind == "config", SETTINGS.c.value.contains('"alias"'))
        found = {}
        for row in self.connection.execute(of_alias):
            alias = Subject(row.context, row.subject)
            named = json.loads(row.value).get("alias")
            if named:
                found[alias] = parse_subject(named).within(alias.context)
        return found

    def set_setting(self, scope: Subject, kind: str, value: Any) -> None:
        self.connection.execute(delete(SETTINGS).where(*_setting(scope, kind)))
        row = {"context": scope.context, "subject": scope.name, "kind": kind}
        self.connection.execute(insert(SETTINGS).values(**row, value=json.dumps(value)))

    def remove_setting(self, scope: Subject, kind: str) -> None:
        self.connection.execute(delete(SETTINGS).where(*_setting(scope, kind)))

    def remove_settings(self, context: str | None, kind: str) -> None:
        """Remove the settings of all subjects of one context, or of all contexts, and the contexts' own."""
        query = delete(SETTINGS).where(SETTINGS.c.kind == kind)
        self.connection.execute(query if context is None else query.where(SETTINGS.c.context == context))

    def _next_id(self, context: str) -> int:
        found = self.connection.execute(select(CONTEXTS.c.next_id).where(CONTEXTS.c.context == context)).scalar()
        if found is None:
            self.connection.execute(insert(CONTEXTS).values(context=context, next_id=1, listed=True))
        return found or 1

    def _next_version(self, subject: Subject) -> int:
        bound = (SUBJECTS.c.context == subject.context, SUBJECTS.c.subject == subject.name)
        found = self.connection.execute(select(SUBJECTS.c.next_version).where(*bound)).scalar()
        if found is None:
            row = {"context": subject.context, "subject": subject.name}
            self.connection.execute(insert(SUBJECTS).values(**row, next_version=1))
        return found or 1

    def _schemas(self, query: Select[Any], **names: str) -> Iterator[StoredSchema]:
        for row in self.connection.execute(query, names):
            extras = json.loads(row.extras)
            references = tuple(StoredReference(*parts) for parts in extras.get("references", ()))
            content = SchemaContent(
                row.type, row.text, references, extras.get("metadata"), extras.get("ruleSet"), row.identity, row.guid
            )
            yield StoredSchema(row.context, row.id, content)

    def _versions(self, query: Select[Any], **names: str) -> Iterator[StoredVersion]:
        for row in self.connection.execute(query, names):
            subject = Subject(row.context, row.subject)
            yield StoredVersion(subject, row.version, row.id, row.deleted, row.registered_at)


_SETTINGS_IN: Final = select(SETTINGS).where(
    or_(*(
        and_(SETTINGS.c.context == bindparam(f"context{place}"), SETTINGS.c.subject == bindparam(f"name{place}"))
        for place in range(3)
    ))
)  # fmt: skip
_VERSIONS_OF: Final = (
    select(VERSIONS)
    .where(VERSIONS.c.context == bindparam("in_context"), VERSIONS.c.subject == bindparam("of_subject"))
    .order_by(VERSIONS.c.version)
)
_SAME_SCHEMAS: Final = (
    select(SCHEMAS)
    .where(SCHEMAS.c.context == bindparam("in_context"), SCHEMAS.c.identity == bindparam("of_identity"))
    .where(~SCHEMAS.c.erased)
    .order_by(SCHEMAS.c.id)
)


def _extras_of(content: SchemaContent) -> str:
    references = [[reference.name, reference.subject, reference.version] for reference in content.references]
    named = {"references": references, "metadata": content.metadata, "ruleSet": content.rule_set}
    return json.dumps({name: value for name, value in named.items() if value})


def _row_of(version: StoredVersion) -> tuple[Any, ...]:
    subject = version.subject
    named = (VERSIONS.c.context == subject.context, VERSIONS.c.subject == subject.name)
    return (*named, VERSIONS.c.version == version.version)


def _setting(scope: Subject, kind: str) -> tuple[Any, ...]:
    named = (SETTINGS.c.context == scope.context, SETTINGS.c.subject == scope.name)
    return (*named, SETTINGS.c.kind == kind)
