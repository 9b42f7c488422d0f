"""Schema sources: where the schemas of framed records are found by id, a registry or a folder of its contents."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from cdc_contracts.registry.authoring.compat.reader_comparison import compare_readers
from cdc_contracts.registry.authoring.sync.id_locks import read_lock
from cdc_contracts.registry.authoring.sync.registry_client import (
    NO_SCHEMA,
    NO_SUBJECT,
    NO_VERSION,
    Access,
    RefusedError,
    RegistryClient,
)
from cdc_contracts.registry.authoring.sync.registry_contents import HeldSchema, Position
from cdc_contracts.registry.authoring.sync.registry_folders import check_folder, read_subjects
from cdc_contracts.registry.authoring.sync.schema_guids import guid_of
from cdc_contracts.registry.core.common.errors import UnavailableError
from cdc_contracts.registry.core.writer_schemas.writer_schemas import (
    AVRO,
    JSON,
    NoSchema,
    SchemaId,
    SchemaText,
    WriterSchemas,
    global_number,
)

USER = "CDC_CONTRACTS_REGISTRY_USER"
PASSWORD = "CDC_CONTRACTS_REGISTRY_PASSWORD"  # noqa: S105  the name of a variable
TOKEN = "CDC_CONTRACTS_REGISTRY_TOKEN"  # noqa: S105  the name of a variable
_HIGHEST = 2**31 - 1
_UNKNOWN_PATH = (404, 405)
_CONTENT_IDS, _GLOBAL_IDS = "/apis/ccompat/", "/apis/registry/v2"
"""The part of an address at which Apicurio Registry counts contents, and the API with the ids of versions beside it."""
_NO_GLOBAL_ID = (404,)
_PROTOBUF = ("application/x-protobuf",)
"""The content type of a schema of Protobuf, which is no JSON (`io.apicurio.registry.types.ArtifactMediaTypes`)."""
_AVRO_TYPES = ("record", "enum", "fixed", "array", "map")
_MOST_REFERRED = 64


@dataclass(frozen=True)
class RegistrySource:
    """A registry that answers Confluent's API. Never printed whole: its access may hold a password."""

    access: Access

    @property
    def named(self) -> str:
        return self.access.url

    def check(self) -> None:
        """Raise UsageError if the URL is not one, or the certificates are none."""
        RegistryClient(self.access)

    @cached_property
    def _client(self) -> RegistryClient:
        return RegistryClient(self.access)

    def find(self, number: SchemaId) -> SchemaText:
        """Return a schema. Raises NoSchema, and UnavailableError as the client."""
        if global_number(number) is not None:
            return self._find_global(number)
        kind = "guids" if isinstance(number, str) else "ids"
        if isinstance(number, int) and number > _HIGHEST:
            raise NoSchema("no registry has ids so high")
        try:
            answer = self._client.get("schemas", kind, str(number), missing=(NO_SCHEMA, NO_SUBJECT))
        except RefusedError as error:
            if kind != "guids" or error.code not in _UNKNOWN_PATH:
                raise
            # Not an error of the run: the bytes of any record may look like a GUID.
            raise NoSchema("the registry has no schemas by GUID, as Confluent's before 8.0") from error
        if answer is None:
            raise NoSchema("the registry has no such schema")
        text, references = self._read(answer, f"{self.named}/schemas/{kind}/{number}")
        return SchemaText(str(answer.get("schemaType", AVRO)), text, read_referred(references, self._ask))

    def _find_global(self, number: SchemaId) -> SchemaText:
        """Return the schema of a global id, which registries with ids of contents answer at another address."""
        if self._beside is None:
            raise NoSchema(f"global ids are known to a registry whose address has {_CONTENT_IDS}")
        answer = self._beside.get(
            "ids", "globalIds", str(global_number(number)), missing=_NO_GLOBAL_ID, unparsed=_PROTOBUF, dereference=True
        )
        if answer is None:
            raise NoSchema("the registry has no such schema")
        if isinstance(answer, bytes):
            return SchemaText("PROTOBUF", answer.decode(errors="replace"))
        is_avro = not isinstance(answer, dict) or answer.get("type") in _AVRO_TYPES
        return SchemaText(AVRO if is_avro else JSON, json.dumps(answer))

    @cached_property
    def _beside(self) -> RegistryClient | None:
        root, found, _ = self.access.url.partition(_CONTENT_IDS)
        return RegistryClient(replace(self.access, url=root + _GLOBAL_IDS)) if found else None

    def _ask(self, subject: str, version: int) -> tuple[str, Sequence[Any]] | None:
        answer = self._client.get(
            "subjects", subject, "versions", str(version), missing=(NO_SUBJECT, NO_VERSION, NO_SCHEMA)
        )
        return None if answer is None else self._read(answer, f"{self.named}/subjects/{subject}/versions/{version}")

    @staticmethod
    def _read(answer: Any, where: str) -> tuple[str, Sequence[Any]]:
        """Return the text of an answer, and its references."""
        if not isinstance(answer, dict) or not isinstance(answer.get("schema"), str):
            raise UnavailableError("the answer is not that of a registry", where=where)
        references = answer.get("references")
        return answer["schema"], references if isinstance(references, list) else ()

    def __getstate__(self) -> Mapping[str, Any]:
        return {"access": self.access}


@dataclass(frozen=True)
class FolderSource:
    """A folder as `registry dump` writes it."""

    root: Path

    @property
    def named(self) -> str:
        return str(self.root)

    @cached_property
    def _schemas(self) -> tuple[HeldSchema, ...]:
        return tuple(read_subjects(self.root, read_lock(self.root)))

    @cached_property
    def _by_id(self) -> Mapping[int | None, HeldSchema]:
        return {schema.id: schema for schema in self._schemas}

    @cached_property
    def _by_position(self) -> Mapping[Position, HeldSchema]:
        return {schema.position: schema for schema in self._schemas}

    @cached_property
    def _by_guid(self) -> Mapping[str, HeldSchema]:
        found = {}
        for schema in self._schemas:
            with suppress(KeyError, TypeError, ValueError):  # references that are none
                found[_guid_of(schema)] = schema
        return found

    def find(self, number: SchemaId) -> SchemaText:
        """Return a schema. Raises NoSchema, ContractError if the folder is invalid."""
        if global_number(number) is not None:
            raise NoSchema("global ids are known to a registry, not to a folder")
        found = self._by_guid.get(number) if isinstance(number, str) else self._by_id.get(number)
        if found is None:
            raise NoSchema(f"{self.root} has no such schema")
        return SchemaText(found.type, found.text, read_referred(found.references, self._ask))

    def _ask(self, subject: str, version: int) -> tuple[str, Sequence[Any]] | None:
        found = self._by_position.get((subject, version))
        return None if found is None else (found.text, found.references)

    def __getstate__(self) -> Mapping[str, Any]:
        """Take the schemas along: a worker of a cluster does not have the folder."""
        return {"root": self.root, "_schemas": self._schemas}


def _guid_of(schema: HeldSchema) -> str:
    references = [(str(one["name"]), str(one["subject"]), int(one["version"])) for one in schema.references]
    return guid_of(schema.text, references, schema.metadata or None, schema.rule_set or None)


def read_referred(
    references: Sequence[Any], ask: Callable[[str, int], tuple[str, Sequence[Any]] | None]
) -> dict[str, str]:
    """Return the texts of the schemas that another refers to by their names, each behind what it refers to itself.

    `ask` has the text and the references of a version of a subject. Raises NoSchema if one is missing, or there are
    many.
    """
    found: dict[str, str] = {}

    def visit(references: Sequence[Any], depth: int) -> None:
        for one in references:
            try:
                name, subject, version = str(one["name"]), str(one["subject"]), int(one["version"])
            except (TypeError, KeyError, ValueError) as error:
                raise NoSchema("references that are none") from error
            if name in found:
                continue
            if depth > _MOST_REFERRED or len(found) >= _MOST_REFERRED:
                raise NoSchema(f"a schema that refers to more than {_MOST_REFERRED} others")
            answer = ask(subject, version)
            if answer is None:
                raise NoSchema(f"a schema that refers to version {version} of {subject}, which is not there")
            visit(answer[1], depth + 1)
            found[name] = answer[0]

    visit(references, 0)
    return found


def open_source(place: str, authority: Path | None = None, unknown: str | None = None) -> WriterSchemas:
    """Return the writer schemas of a registry by its URL, or of a folder.

    User, password and token come from the environment (`CDC_CONTRACTS_REGISTRY_…`); `authority` are certificates to
    trust; `unknown` is that of the schemas. Raises UsageError if there is no such folder, or the URL is not one.
    """
    if "://" not in place:
        check_folder(Path(place))
        return WriterSchemas(FolderSource(Path(place)), unknown, compare_readers)
    token = os.environ.get(TOKEN)
    user = None if token else os.environ.get(USER)
    source = RegistrySource(
        Access(place, user, os.environ.get(PASSWORD), token, None if authority is None else str(authority))
    )
    source.check()
    return WriterSchemas(source, unknown, compare_readers)
