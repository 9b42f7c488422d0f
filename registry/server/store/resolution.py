"""Resolution of stored schemas and their references into documents for comparison. Nothing is fetched."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Final

from cdc_contracts.registry.core.common.errors import InvalidSchema, SchemaTooLarge
from cdc_contracts.registry.core.schema.schema_documents import AVRO, JSON, SchemaDocument, read_schema
from cdc_contracts.registry.server.store.error_codes import invalid_schema, no_version, too_large
from cdc_contracts.registry.server.store.registry_records import Records, StoredReference, StoredVersion

TYPES: Final = (JSON, AVRO)
MOST_REFERENCES: Final = 200
"""How many schemas one schema may refer to, directly and indirectly."""


class Resolver:
    """Reads schemas of one context, each referenced version once."""

    def __init__(self, records: Records, context: str) -> None:
        self._records = records
        self._context = context
        self._read: dict[tuple[str, int], SchemaDocument] = {}
        self._referred = 0

    def read(self, schema_type: str, text: str, references: Sequence[StoredReference], *, name: str) -> SchemaDocument:
        """Return a schema sent by a client.

        Raises Refusal if it is invalid or too large, or a reference cannot be resolved.
        """
        if schema_type not in TYPES:
            known = " and ".join(TYPES)
            raise invalid_schema(f"Invalid schema type {schema_type}: this registry supports {known} schemas")
        try:
            documents = self._refer(references, self._context)
            _check_types(schema_type, documents)
            return read_schema(text, type=schema_type, name=name, references=documents)
        except SchemaTooLarge as error:
            raise too_large(f"Schema is too large: {error.what}") from error
        except InvalidSchema as error:
            raise invalid_schema(
                f"Invalid schema of type {schema_type}, details: {' '.join(str(error).split())}"
            ) from error

    def stored(self, version: StoredVersion) -> SchemaDocument:
        """Return the schema of a stored version.

        Raises Refusal if it is gone.
        """
        key = (str(version.subject), version.version)
        if key not in self._read:
            found = self._records.schema(version.subject.context, version.id)
            if found is None:
                raise no_version(version.version)
            content = found.content
            documents = self._refer(content.references, version.subject.context)
            name = f"{version.subject} version {version.version}"
            document = json.loads(content.text)
            self._read[key] = SchemaDocument(content.type, name, document, content.text, references=documents)
        return self._read[key]

    def _refer(self, references: Sequence[StoredReference], context: str) -> dict[str, SchemaDocument]:
        documents = {}
        for reference in references:
            self._referred += 1
            if self._referred > MOST_REFERENCES:
                raise invalid_schema(f"Invalid schema: it refers to more than {MOST_REFERENCES} other schemas")
            target = reference.target(context)
            version = self._records.version(target, reference.version)
            if version is None:
                where = f"{target} version {reference.version}"
                raise invalid_schema(f"Invalid schema: no schema found for reference {reference.name} to {where}")
            documents[reference.name] = self.stored(version)
        return documents


def _check_types(schema_type: str, documents: Mapping[str, SchemaDocument]) -> None:
    """Raise Refusal if a reference is to a schema of another type: neither language can use the other's."""
    for name, document in documents.items():
        if document.type != schema_type:
            raise invalid_schema(
                f"Invalid schema of type {schema_type}: reference {name} is to one of type {document.type}"
            )
