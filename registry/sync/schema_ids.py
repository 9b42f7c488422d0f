"""Schema ids: the id of a version's Avro schema: the one in `ids.lock`, or the one that a registry returns."""

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
    """Return the id that an `ids.lock` gives the version's Avro schema, None where none does.

    Raises ContractError where the lock names another schema than the version has.
    """
    wanted = _published(version)
    for root in reversed(version.catalogue.roots):
        entry = read_lock(root).entries.get(wanted.key)
        if entry is None or entry.retired:
            continue
        if entry.digest != wanted.digest:
            hint = "`cdc-contracts registry ids` tells what changed; --schema-id names the id to use"
            raise ContractError(f"id {entry.id} stands for another schema of {version}", where=FILE, hint=hint)
        return entry.id
    return None


def registered_id(client: RegistryClient, version: Version, subject: str | None = None) -> int:
    """Return the id under which a registry holds the version's Avro schema, in a subject or the contract's own.

    Raises UnavailableError where it does not answer, or does not hold it.
    """
    wanted = _published(version)
    name = subject or wanted.subject
    for body in ({"schema": wanted.text, "metadata": wanted.metadata}, {"schema": wanted.text}):
        answer = client.send("POST", "subjects", name, body=body, missing=_MISSING)
        if answer is not None:
            return int(answer["id"])
    raise UnavailableError(
        f"the registry holds no schema of {version} in subject {name}",
        where=client.url,
        hint="`cdc-contracts registry push` registers it; --subject names another subject",
    )


def _published(version: Version) -> Publication:
    return next(one for one in publish_version(version) if one.key.type == AVRO)
