"""Stored contracts: contracts published to a registry, rebuilt as documents of a catalogue."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from cdc_contracts.registry.authoring.sync.publications import (
    CONTRACT,
    MEANING,
    meaning_of,
    published_subject,
    published_texts,
)
from cdc_contracts.registry.authoring.sync.registry_servers import list_subjects_here, read_subject
from cdc_contracts.registry.authoring.sync.schema_digests import schema_digest
from cdc_contracts.registry.authoring.sync.subject_names import unqualified
from cdc_contracts.registry.core.common.contract_references import parse_reference
from cdc_contracts.registry.core.common.errors import CdcContractsError, ContractError
from cdc_contracts.registry.core.common.yaml_documents import write_document
from cdc_contracts.registry.core.contract.catalogue import AVRO_MESSAGE_SCHEMA, MESSAGE_SCHEMA
from cdc_contracts.registry.core.schema.schema_documents import AVRO, JSON

if TYPE_CHECKING:
    from cdc_contracts.registry.authoring.sync.registry_client import RegistryClient
    from cdc_contracts.registry.authoring.sync.registry_contents import HeldSchema
    from cdc_contracts.registry.core.contract.catalogue import Version

_FILES: Mapping[str, str] = {JSON: MESSAGE_SCHEMA, AVRO: AVRO_MESSAGE_SCHEMA}


@dataclass(slots=True)
class StoredContracts:
    """The documents of the contracts in a registry, and sentences about what is missing there."""

    files: dict[str, str] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)


def read_contracts(client: RegistryClient, own: Sequence[Version]) -> StoredContracts:
    """Return the contracts in a registry: those marked as such, and those under the subjects of the versions `own`.

    They are read from the default context, or from the one named at the end of the URL.

    If a registry kept the schemas but dropped their metadata, the meaning is taken from `own`; `missing` says so, and
    whether the schema equals that of `own`.
    Raises UnavailableError if the registry does not answer.
    """
    stored = StoredContracts()
    mine = {version.reference: version for version in own}
    known = {published_subject(version.subject, kind) for version in own for kind in _FILES}
    for qualified in list_subjects_here(client):
        subject = unqualified(qualified)
        if subject in known or _may_be_published(subject):
            for schema in read_subject(client, qualified):
                if not schema.deleted:
                    _add(stored, replace(schema, subject=subject), subject in known, mine)
    _check_complete(stored)
    return stored


def _add(stored: StoredContracts, schema: HeldSchema, is_known: bool, mine: Mapping[str, Version]) -> None:  # noqa: FBT001
    said = (schema.metadata or {}).get("properties") or {}
    name = f"{schema.subject} {schema.version}"
    dialect = schema.subject.removesuffix(".avro") if schema.type == AVRO else schema.subject
    reference = str(said.get(CONTRACT, f"{dialect.replace('.', '/')}@{schema.version}"))
    if not is_known and published_subject(parse_reference(reference).subject, schema.type) != schema.subject:
        return  # an unrelated subject that happens to have such a name
    meaning = _meaning(said)
    if meaning is None and CONTRACT not in said and not is_known:
        return
    if meaning is None and reference in mine:
        own = mine[reference]
        is_same = schema_digest(schema.type, schema.text) == schema_digest(
            schema.type, published_texts(own)[schema.type]
        )
        result = "its schema equals the one here" if is_same else "its schema differs from the one here"
        stored.missing.append(f"the registry lacks the meaning of {name}, which is taken from here; {result}")
        meaning = meaning_of(own)
    if meaning is None:
        stored.missing.append(f"the registry lacks the meaning of {name}: it is not compared")
        return
    subject, _, number = reference.partition("@")
    folder = f"{subject}/v{number}"
    stored.files[f"{folder}/contract.yaml"] = _yaml({**meaning["contract"], "contract": reference})
    stored.files[f"{folder}/{_FILES[schema.type]}"] = schema.text
    for file, text in (meaning.get("schemas") or {}).items():
        stored.files[f"{folder}/{file}"] = text
    for mapping, document in (meaning.get("mappings") or {}).items():
        path, text = f"{subject.partition('/')[0]}/types/{mapping}.yaml", _yaml(document)
        others = [one for one in stored.files if one.endswith(f"/types/{mapping}.yaml")]
        if others and stored.files[others[0]] != text:
            stored.missing.append(
                f"{name} was published with a different mapping {mapping} than others: only one is compared"
            )
        stored.files.setdefault(others[0] if others else path, text)


def _meaning(said: Mapping[str, Any]) -> dict[str, Any] | None:
    try:
        meaning = json.loads(said[MEANING])
        return meaning if isinstance(meaning["contract"], dict) else None
    except (KeyError, TypeError, ValueError, RecursionError):
        return None


def _check_complete(stored: StoredContracts) -> None:
    """Drop contracts with only one of their two schemas, and report it."""
    folders = {path.rpartition("/")[0] for path in stored.files if path.endswith("/contract.yaml")}
    for folder in sorted(folders):
        absent = [name for name in _FILES.values() if f"{folder}/{name}" not in stored.files]
        if absent:
            stored.missing.append(f"the registry lacks {absent[0]} of {folder}: it is not compared")
            for path in [one for one in stored.files if one.startswith(f"{folder}/")]:
                del stored.files[path]


def _may_be_published(subject: str) -> bool:
    """Return whether a name looks like a contract's subject: `dts.canal` or `dts.canal.avro`."""
    parts = subject.removesuffix(".avro").split(".")
    try:
        return len(parts) == 2 and bool(parse_reference("/".join(parts)))  # noqa: PLR2004  system and dialect
    except CdcContractsError:
        return False


def _yaml(document: Any) -> str:
    """Return a document as YAML that reads back unchanged. Raises ContractError if it is not a mapping."""
    if not isinstance(document, dict):
        raise ContractError("the contract metadata in the registry is not a mapping")
    return write_document(document)
