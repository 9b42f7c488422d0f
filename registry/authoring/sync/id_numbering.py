"""Id numbering: ids for the contracts of a folder that have none yet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from cdc_contracts.registry.authoring.sync.id_locks import FILE, Entry, Key, Lock, read_lock, write_lock
from cdc_contracts.registry.authoring.sync.publications import open_own_versions, published_texts
from cdc_contracts.registry.authoring.sync.registry_folders import check_folder, read_folder
from cdc_contracts.registry.authoring.sync.schema_digests import schema_digest
from cdc_contracts.registry.core.common.errors import ContractError


@dataclass(frozen=True, slots=True)
class Numbered:
    """The result of numbering: new entries, and entries whose contract was removed."""

    new: tuple[Entry, ...]
    retired: tuple[Entry, ...]


def number_contracts(root: Path) -> Numbered:
    """Assign an id to every schema of a folder's contracts that has none, and retire the ids of schemas that are gone.

    Raises ContractError if a schema with an id has changed, UsageError if the folder holds nothing.
    """
    check_folder(root)
    lock, digests = read_lock(root), contract_digests(root)
    if not digests and not lock.entries:
        read_folder(root)  # raises if the folder holds nothing else for a registry
    new, present = [], set()
    for key, digest in digests:
        present.add(key)
        entry = lock.entries.get(key)
        if entry is None:
            entry = Entry(lock.next_id(key.context), key, digest)
            new.append(entry)
        elif entry.digest != digest:
            raise changed_schema(entry)
        lock.add(replace(entry, retired=False))
    gone = [key for key, entry in lock.entries.items() if key.is_contract and key not in present and not entry.retired]
    for key in gone:
        lock.retire(key)
    write_lock(root, lock)
    return Numbered(tuple(new), tuple(lock.entries[key] for key in gone))


def contract_digests(root: Path) -> Sequence[tuple[Key, str]]:
    """Return every schema of the contracts in a folder with its digest, in catalogue order."""
    return [
        (Key(version.subject, version.number, kind), schema_digest(kind, text))
        for version in open_own_versions(root)
        for kind, text in published_texts(version).items()
    ]


def changed_schema(entry: Entry) -> ContractError:
    """Return the error for a schema that changed after it got its id."""
    return ContractError(
        f"{entry.key} has changed since it was given id {entry.id}",
        where=FILE,
        hint=f"Make a new version of the contract, or remove the line of id {entry.id} if it was never published.",
    )


def changed_ids(before: Lock, after: Lock) -> tuple[tuple[Entry, Entry | None], ...]:
    """Return the entries of an earlier lock that the later one changed or lost: each breaks messages with that id."""
    found = ((entry, after.entries.get(key)) for key, entry in before.entries.items())
    return tuple((old, new) for old, new in found if new is None or (old.id, old.digest) != (new.id, new.digest))
