"""Retrieval: the contents of a server written to a folder, all of it or only what the folder lacks."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from pathlib import Path

from cdc_contracts.registry.authoring.sync.id_locks import FILE, Entry, Lock, read_lock, write_lock
from cdc_contracts.registry.authoring.sync.registry_client import RegistryClient
from cdc_contracts.registry.authoring.sync.registry_contents import HeldSchema, Holdings, ScopeSettings
from cdc_contracts.registry.authoring.sync.registry_folders import (
    SETTINGS,
    read_folder,
    read_settings,
    write_folder,
    write_schema,
    write_settings,
)
from cdc_contracts.registry.authoring.sync.registry_servers import read_server
from cdc_contracts.registry.core.common.atomic_files import check_folder, check_place, make_folder
from cdc_contracts.registry.core.common.errors import ContractError, UsageError
from cdc_contracts.registry.core.contract.catalogue import SUBJECTS


@dataclass(slots=True)
class Pulled:
    """The result of pulling: what was written, and what was kept in the folder although the server differs."""

    written: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)


def dump_server(client: RegistryClient, root: Path, *, force: bool) -> Holdings:
    """Write everything a server holds into a folder, and return it. Ids already in the folder's lock stay there.

    Raises UsageError if the folder already holds such files and `force` is not given, UnavailableError if the server
    does not answer or the folder cannot be written to; nothing is written then.
    """
    if root.exists() and not root.is_dir():
        raise UsageError(f"{root} is not a folder")
    before = [name for name in (SUBJECTS, SETTINGS, FILE) if (root / name).exists()]
    if before and not force:
        hint = "Give a new folder, use `registry pull` to add what is newer, or --force to overwrite."
        raise UsageError(f"{before[0]} already exists", where=str(root), hint=hint)
    check_folder(root)
    holdings = read_server(client)
    write_folder(root, holdings, _lock_of(holdings, read_lock(root)))
    return holdings


def pull_server(client: RegistryClient, root: Path, *, force: bool, bound: Collection[str] = ()) -> Pulled:
    """Write into a folder what it lacks of the server's contents. Where both differ, the folder wins unless `force`.

    Of value subjects of topics `bound` to contracts only the ids are taken. Raises ContractError if the folder is
    invalid, UnavailableError if the server does not answer or the folder cannot be written to.
    """
    make_folder(root)
    check_place(root / FILE)
    wanted, lock = read_folder(root) if any(root.iterdir()) else (Holdings(), Lock())
    held = read_server(client)
    pulled = Pulled()
    for schema in held.schemas.values():
        own = wanted.schemas.get(schema.position)
        name = f"{schema.subject} {schema.version}"
        if own is not None and not _is_same(own, schema) and (own.contract is not None or not force):
            pulled.kept.append(f"{name} is {own.contract or 'one schema'} here and a different schema on the server")
            continue
        if own is None or not _is_same(own, schema):
            if schema.subject not in bound:
                write_schema(root, schema)
            pulled.written.append(name)
        _note(lock, own or schema, schema, pulled, force=force)
    _pull_settings(root, held, pulled, force=force)
    write_lock(root, lock)
    return pulled


def _is_same(own: HeldSchema, there: HeldSchema) -> bool:
    return own.says_the_same(there) and (own.contract is not None or own.deleted == there.deleted)


def _note(lock: Lock, own: HeldSchema, there: HeldSchema, pulled: Pulled, *, force: bool) -> None:
    """Record the server's id of a schema."""
    if there.id is None:
        return
    try:
        lock.add(Entry(there.id, own.key, there.digest))
    except ContractError as error:
        if not force:
            pulled.kept.append(f"{error.what}; on the server it has id {there.id}")
            return
        lock.replace(Entry(there.id, own.key, there.digest))


def _pull_settings(root: Path, held: Holdings, pulled: Pulled, *, force: bool) -> None:
    """Write the settings that the folder lacks."""
    own = read_settings(root)
    merged = dict(own)
    for scope, there in held.settings.items():
        here = own.get(scope, ScopeSettings())
        if force:
            merged[scope] = there
            continue
        merged[scope] = replace(
            here,
            config=there.config if here.config is None else here.config,
            mode=there.mode if here.mode is None else here.mode,
        )
        if merged[scope] != there:
            pulled.kept.append(f"the settings of {scope or 'the whole registry'} differ from those on the server")
    if merged != own:
        write_settings(root, merged)
        pulled.written.append(SETTINGS)


def _lock_of(holdings: Holdings, before: Lock) -> Lock:
    """Return the lock of what a server holds; entries it no longer holds are kept and marked retired."""
    lock = Lock(Entry(one.id, one.key, one.digest) for one in holdings.schemas.values() if one.id is not None)
    for key, entry in before.entries.items():
        if key not in lock:
            lock.add(entry if key.is_contract else replace(entry, retired=True))
    return lock
