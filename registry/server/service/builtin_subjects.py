"""Built-in subjects: contracts as schemas of the registry, read-only, in contexts of their own, with fixed ids."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import replace
from functools import reduce
from pathlib import Path
from typing import Final

from cdc_contracts.registry.authoring.sync.id_locks import FILE, Lock, read_lock
from cdc_contracts.registry.authoring.sync.id_numbering import changed_schema
from cdc_contracts.registry.authoring.sync.publications import CONTRACT, Publication, open_own_versions, publish_version
from cdc_contracts.registry.core.common.errors import UsageError
from cdc_contracts.registry.core.contract.catalogue import Catalogue, Version, shipped_catalogue, span
from cdc_contracts.registry.server.access.rights import CALLER, Right
from cdc_contracts.registry.server.store.registry_records import StoredSchema, StoredVersion
from cdc_contracts.registry.server.store.schema_content import make_content
from cdc_contracts.registry.server.store.subjects import Subject

CONTEXT: Final = ".cdc-contracts"
"""The context of the shipped contracts."""
_DEPTH: Final = 4
"""SYSTEM/DIALECT/vN/FILE."""
EXTENDED: Final[ContextVar[bool]] = ContextVar("extended", default=False)
"""Whether the client of the current request ignores unknown keys: older ones fail on `metadata`."""


class BuiltinSubjects:
    """Read-only schemas that exist from the start."""

    def __init__(self) -> None:
        self._plain: dict[tuple[str, int], StoredSchema] = {}
        self._extended: dict[tuple[str, int], StoredSchema] = {}
        self._versions: dict[Subject, list[StoredVersion]] = {}
        self._contexts: list[str] = []
        self._subjects: dict[str, Subject] = {}

    @property
    def contexts(self) -> tuple[str, ...]:
        return tuple(self._contexts)

    def __len__(self) -> int:
        return len(self._plain)

    def put(self, context: str, versions: Iterable[Version], lock: Lock) -> None:
        """Add all publications of contracts. Raises UsageError if one has no id, or the id of another schema."""
        if context in self._contexts:
            raise UsageError(
                f"two folders of contracts would both be served as context {context}", hint="Rename one of them."
            )
        self._contexts.append(context)
        for version in versions:
            for publication in publish_version(version):
                self._put(context, publication, _id_of(publication, lock), _resolved_reference(version))
        for listed in self._versions.values():
            listed.sort(key=lambda one: one.version)

    def schema(self, context: str, number: int) -> StoredSchema | None:
        """Return the schema with an id, with its metadata if the client accepts it."""
        return (self._extended if EXTENDED.get() else self._plain).get((context, number))

    def schemas(self) -> Iterator[StoredSchema]:
        return iter((self._extended if EXTENDED.get() else self._plain).values())

    def versions(self, subject: Subject) -> list[StoredVersion]:
        """Return the versions of a subject, oldest first."""
        return list(self._versions.get(subject, ()))

    def all_versions(self) -> Iterator[StoredVersion]:
        """Yield all versions, ordered as in the database."""
        for subject in sorted(self._versions):
            yield from self._versions[subject]

    def is_readable(self, version: Version) -> bool:
        """Return whether the caller may read a contract, that is, its subject."""
        subject = self._subjects.get(version.reference)
        return subject is not None and CALLER.get().may(Right.READ, subject)

    def _put(
        self, context: str, publication: Publication, number: int, properties_of_folder: Mapping[str, str]
    ) -> None:
        kind, text = publication.key.type, publication.text
        plain = make_content(kind, text, (), None, None, context=context, normalize=False)
        properties = {**publication.metadata["properties"], **properties_of_folder}
        subject = Subject(context, publication.subject)
        self._plain[context, number] = StoredSchema(context, number, plain)
        extended = replace(plain, metadata={"properties": properties})
        self._extended[context, number] = StoredSchema(context, number, extended)
        self._subjects.setdefault(publication.metadata["properties"][CONTRACT], subject)
        version = StoredVersion(subject, publication.key.version, number, deleted=False, registered_at=0)
        self._versions.setdefault(subject, []).append(version)


def fill_builtin_subjects(folders: Iterable[Path], *, catalogue: bool = True) -> BuiltinSubjects:
    """Return the built-in subjects of folders, each in a context of its name, and of the shipped catalogue.

    Raises UsageError if a contract has no id in its folder's `ids.lock`.
    """
    builtin = BuiltinSubjects()
    if catalogue:
        shipped = shipped_catalogue()
        builtin.put(CONTEXT, shipped.all_versions(), read_lock(shipped.roots[0]))
    for folder in folders:
        builtin.put(context_of_folder(folder), open_own_versions(folder), read_lock(folder))
    return builtin


def name_of_file(path: str) -> str:
    """Return the path of a contract's file within its folder, hiding where the folder is on the server."""
    return "/".join(Path(path).parts[-_DEPTH:])


def context_of_folder(folder: Path) -> str:
    """Return the context under which the contracts of a folder are served."""
    return f"{CONTEXT}.{folder.resolve().name}"


def catalogue_of(folders: Iterable[Path]) -> Catalogue:
    """Return the shipped contracts together with those of folders."""
    return reduce(Catalogue.with_root, folders, shipped_catalogue())


def _id_of(publication: Publication, lock: Lock) -> int:
    number = lock.id_of(publication.key)
    if number is None:
        hint = "Run `cdc-contracts registry ids` on the folder, and commit the file."
        raise UsageError(f"{publication.key} has no id", where=FILE, hint=hint)
    entry = lock.entries[publication.key]
    if entry.digest != publication.digest:
        raise changed_schema(entry)
    return number


def _resolved_reference(version: Version) -> dict[str, str]:
    result = {
        "status": version.resolved.get("status"),
        "applies": span(version),
        "fingerprint": version.fingerprint,
        "document": version.source,
    }
    return {f"cdc-contracts.{name}": text for name, text in result.items() if isinstance(text, str)}
