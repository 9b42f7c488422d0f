"""Schema sources: where the schemas of framed records are found by id, a registry or a folder of its contents."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from cdc_contracts.registry.authoring.sync.id_locks import read_lock
from cdc_contracts.registry.authoring.sync.registry_client import NO_SCHEMA, NO_SUBJECT, Access, RegistryClient
from cdc_contracts.registry.authoring.sync.registry_folders import check_folder, read_subjects
from cdc_contracts.registry.core.common.errors import UnavailableError
from cdc_contracts.registry.core.writer_schemas.writer_schemas import AVRO, NoSchema, WriterSchemas

USER = "CDC_CONTRACTS_REGISTRY_USER"
PASSWORD = "CDC_CONTRACTS_REGISTRY_PASSWORD"  # noqa: S105  the name of a variable
TOKEN = "CDC_CONTRACTS_REGISTRY_TOKEN"  # noqa: S105  the name of a variable
_HIGHEST = 2**31 - 1
_REFERS = "a schema that refers to others, which is not read"


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

    def find(self, number: int) -> tuple[str, str]:
        """Return the type and the text of a schema. Raises NoSchema, and UnavailableError as the client."""
        if number > _HIGHEST:
            raise NoSchema("no registry has ids so high")
        answer = self._client.get("schemas", "ids", str(number), missing=(NO_SCHEMA, NO_SUBJECT))
        if answer is None:
            raise NoSchema("the registry has no such schema")
        if not isinstance(answer, dict) or not isinstance(answer.get("schema"), str):
            raise UnavailableError("the answer is not that of a registry", where=f"{self.named}/schemas/ids/{number}")
        if answer.get("references"):
            raise NoSchema(_REFERS)
        return str(answer.get("schemaType", AVRO)), answer["schema"]

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
    def _schemas(self) -> Mapping[int, tuple[str, str] | None]:
        """The type and text by id; None for a schema that refers to others."""
        return {
            schema.id: None if schema.references else (schema.type, schema.text)
            for schema in read_subjects(self.root, read_lock(self.root))
            if schema.id is not None
        }

    def find(self, number: int) -> tuple[str, str]:
        """Return the type and the text of a schema. Raises NoSchema, ContractError if the folder is invalid."""
        if number not in self._schemas:
            raise NoSchema(f"{self.root} has no such schema")
        found = self._schemas[number]
        if found is None:
            raise NoSchema(_REFERS)
        return found

    def __getstate__(self) -> Mapping[str, Any]:
        """Take the schemas along: a worker of a cluster does not have the folder."""
        return {"root": self.root, "_schemas": self._schemas}


def open_source(place: str, authority: Path | None = None) -> WriterSchemas:
    """Return the writer schemas of a registry by its URL, or of a folder.

    User, password and token come from the environment (`CDC_CONTRACTS_REGISTRY_…`); `authority` are certificates to
    trust. Raises UsageError if there is no such folder, or the URL is not one.
    """
    if "://" not in place:
        check_folder(Path(place))
        return WriterSchemas(FolderSource(Path(place)))
    token = os.environ.get(TOKEN)
    user = None if token else os.environ.get(USER)
    source = RegistrySource(
        Access(place, user, os.environ.get(PASSWORD), token, None if authority is None else str(authority))
    )
    source.check()
    return WriterSchemas(source)
