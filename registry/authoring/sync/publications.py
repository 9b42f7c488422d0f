"""Publications: the schemas that represent contract versions in a registry.

A contract version is published as JSON Schema and as Avro. Each names its version, so that two versions with equal
schemas stay distinct, and carries the contract's meaning as metadata, so that contracts can be compared from a
registry alone.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from cdc_contracts.registry.authoring.sync.id_locks import Key
from cdc_contracts.registry.authoring.sync.schema_digests import schema_digest
from cdc_contracts.registry.core.contract.catalogue import AVRO_ENVELOPE, ENVELOPE
from cdc_contracts.registry.core.schema.message_schemas.message_avro_schema import avro_message_schema
from cdc_contracts.registry.core.schema.message_schemas.message_json_schema import message_schema
from cdc_contracts.registry.core.schema.schema_documents import AVRO, JSON

if TYPE_CHECKING:
    from cdc_contracts.registry.core.contract.catalogue import Version

CONTRACT: Final = "cdc-contracts.contract"
"""The property of metadata that names the version, `dts/canal@2`."""
MEANING: Final = "cdc-contracts.meaning"
"""The property of metadata that holds the resolved contract, its value mappings and other reader schemas as JSON."""
_AVRO_SUBJECT: Final = ".avro"


@dataclass(frozen=True, slots=True, eq=False)
class Publication:
    """One schema of one contract version, as published to a registry. `key` is its name in `ids.lock`."""

    key: Key
    subject: str
    text: str
    metadata: Mapping[str, Any]

    @property
    def digest(self) -> str:
        return schema_digest(self.key.type, self.text)


def publish_version(version: Version) -> tuple[Publication, ...]:
    """Return the publications of a contract version: JSON, then Avro. Raises ContractError if it is invalid."""
    metadata = {"properties": {CONTRACT: version.reference, MEANING: _compact(meaning_of(version))}}
    return tuple(
        Publication(
            Key(version.subject, version.number, kind), published_subject(version.subject, kind), text, metadata
        )
        for kind, text in published_texts(version).items()
    )


def publish_for_topic(version: Version) -> Publication:
    """Return the publication for messages of a version: Avro if the messages are Avro, else JSON."""
    wanted = AVRO if version.meaning.transport == "avro" else JSON
    return next(one for one in publish_version(version) if one.key.type == wanted)


def published_texts(version: Version) -> dict[str, str]:
    """Return the texts of both schemas of a contract version, by type."""
    return {JSON: _compact(message_schema(version)), AVRO: _compact(avro_message_schema(version))}


def published_subject(subject: str, kind: str) -> str:
    """Return the name of a contract's subject in a registry: `dts.canal`, and `dts.canal.avro` for its Avro form.

    No dialect has a dot in its name, so the names of two contracts never collide.
    """
    name = subject.replace("/", ".")
    return name + _AVRO_SUBJECT if kind == AVRO else name


def open_own_versions(root: Path) -> tuple[Version, ...]:
    """Return the versions in a folder of contracts itself; they may be based on shipped ones."""
    from cdc_contracts.registry.core.contract.catalogue import Catalogue, shipped_catalogue

    shipped = shipped_catalogue().roots
    same = any(isinstance(one, Path) and root.resolve() == one.resolve() for one in shipped)
    catalogue = Catalogue([root] if same else [*shipped, root])
    return tuple(one for one in catalogue.all_versions() if Path(str(one.folder)).is_relative_to(root))


def meaning_of(version: Version) -> dict[str, Any]:
    """Return everything that decides how a version is read, from which its message schemas are generated."""
    mappings = {name: version.catalogue.resolved_mapping(name) for name in version.mapping_names()}
    named = (ENVELOPE, AVRO_ENVELOPE, *version.resolved.get("avro", {}).get("schemas", ()))
    sources = {name: file.read_text(encoding="utf-8") for name in named if (file := version.file(name))}
    return {"contract": version.resolved, "mappings": mappings, "schemas": sources}


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
