"""Schema ids: the id of a version's Avro schema, from `ids.lock` or from a registry, which belongs to its schema."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources.abc import Traversable
from typing import TYPE_CHECKING, Final

from cdc_contracts.registry.authoring.compat.compatibility_rule import BREAKING, CompatibilityRule
from cdc_contracts.registry.authoring.compat.compatibility_verdict import CompatibilityFinding, TextPlace
from cdc_contracts.registry.authoring.compat.levels import MEANING
from cdc_contracts.registry.authoring.sync.id_locks import FILE, Entry, lock_lines, parse_lock, read_lock
from cdc_contracts.registry.authoring.sync.id_numbering import changed_ids
from cdc_contracts.registry.authoring.sync.publications import Publication, publish_version
from cdc_contracts.registry.authoring.sync.registry_client import NO_SCHEMA, NO_SUBJECT
from cdc_contracts.registry.core.common.errors import ContractError, UnavailableError
from cdc_contracts.registry.core.schema.schema_documents import AVRO

if TYPE_CHECKING:
    from cdc_contracts.registry.authoring.sync.registry_client import RegistryClient
    from cdc_contracts.registry.core.contract.catalogue import Version


_MISSING: Final = (NO_SUBJECT, NO_SCHEMA)
ID_CHANGED: Final = CompatibilityRule(
    "C411", "id-changed", BREAKING,
    "An id in ids.lock was reassigned or removed: messages that carry it can no longer be read.",
    "Restore the line; a removed schema keeps its line, marked `retired`.",
    "7 dts/canal@2 JSON … retired", "the line of id 7 removed, or its id changed to 8",
)  # fmt: skip


def locked_id(version: Version) -> int | None:
    """Return the id of the version's Avro schema in `ids.lock`, None if there is none.

    Raises ContractError if the lock has the digest of a different schema.
    """
    wanted = _published(version)
    for root in reversed(version.catalogue.roots):
        entry = read_lock(root).entries.get(wanted.key)
        if entry is None or entry.retired:
            continue
        if entry.digest != wanted.digest:
            hint = "`cdc-contracts registry ids` shows what changed; --schema-id sets the id to use."
            raise ContractError(f"id {entry.id} belongs to a different schema of {version}", where=FILE, hint=hint)
        return entry.id
    return None


def registered_id(client: RegistryClient, version: Version, subject: str | None = None) -> int:
    """Return a registry's id of the version's Avro schema, in the given subject or the contract's own.

    Raises UnavailableError if the registry does not answer or does not hold it.
    """
    wanted = _published(version)
    name = subject or wanted.subject
    for body in ({"schema": wanted.text, "metadata": wanted.metadata}, {"schema": wanted.text}):
        answer = client.send("POST", "subjects", name, body=body, missing=_MISSING)
        if answer is not None:
            return int(answer["id"])
    raise UnavailableError(
        f"the registry has no schema of {version} in subject {name}",
        where=client.url,
        hint="`cdc-contracts registry push` registers it; --subject names another subject.",
    )


def _published(version: Version) -> Publication:
    return next(one for one in publish_version(version) if one.key.type == AVRO)


def compare_ids(old: Traversable, new: Traversable) -> Iterator[CompatibilityFinding]:
    """Yield a finding for each id assigned in one folder of contracts and changed or lost in the other.

    Raises ContractError if either lock cannot be read.
    """
    before, after = old.joinpath(FILE), new.joinpath(FILE)
    if not before.is_file():
        return
    text = after.read_text(encoding="utf-8") if after.is_file() else ""
    lines = {line.entry: line.number for line in lock_lines(text) if line.entry is not None}
    locks = parse_lock(before.read_text(encoding="utf-8"), str(before)), parse_lock(text, str(after))
    for entry, now in changed_ids(*locks):
        yield CompatibilityFinding(
            rule=ID_CHANGED.id, name=ID_CHANGED.name, severity=ID_CHANGED.severity, direction=MEANING, path="",
            old=str(entry), new=None if now is None else str(now), old_version=_name(entry), new_version=_name(entry),
            old_place=TextPlace("", str(before)),
            new_place=TextPlace("", str(after if after.is_file() else new), lines[now] if now is not None else None),
            says=f"id {entry.id} was {entry.key}, and now " + (f"that has id {now.id}" if now and now.id != entry.id
                 else "it belongs to a different schema" if now else "it is missing"),
            action=ID_CHANGED.action,
        )  # fmt: skip


def _name(entry: Entry) -> str:
    return f"{entry.key.name}@{entry.key.version}"
