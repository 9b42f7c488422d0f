"""Schema ids: the id of a version's Avro schema, from `ids.lock` or from a registry."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from cdc_contracts.registry.common.errors import ContractError, UnavailableError
from cdc_contracts.registry.schema.schema_documents import AVRO
from cdc_contracts.registry.sync.id_locks import FILE, read_lock
from cdc_contracts.registry.sync.publications import Publication, publish_version
from cdc_contracts.registry.sync.registry_client import NO_SCHEMA, NO_SUBJECT

if TYPE_CHECKING:
    from cdc_contracts.registry.contract.catalogue import Version
    from cdc_contracts.registry.sync.registry_client import RegistryClient

_MISSING: Final = (NO_SUBJECT, NO_SCHEMA)


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
            hint = "`cdc-contracts registry ids` shows what changed; --schema-id sets the id to use"
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
        hint="`cdc-contracts registry push` registers it; --subject names another subject",
    )


def _published(version: Version) -> Publication:
    return next(one for one in publish_version(version) if one.key.type == AVRO)
