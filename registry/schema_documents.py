"""A schema as a user or a registry hands it in: JSON Schema or Avro, parsed, with the file it came from."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

from cdc_contracts.registry.avro_types.reading import read_types
from cdc_contracts.registry.avro_types.types import AvroType
from cdc_contracts.registry.errors import InvalidSchema, SchemaTooLarge
from cdc_contracts.registry.schema_faults import SchemaFault

JSON: Final = "JSON"
AVRO: Final = "AVRO"


@dataclass(frozen=True, eq=False)
class SchemaDocument:
    """A parsed schema. `name` is what the user calls it: a reference, a file, a subject and version.

    `references` are the documents that it may refer to: for JSON by the text of `$ref`, for Avro by a type's full name.
    """

    type: str
    name: str
    document: Any
    text: str
    file: str | None = None
    references: Mapping[str, SchemaDocument] = field(default_factory=dict)

    @cached_property
    def avro_types(self) -> AvroType:
        """The types of an Avro schema and of its references. Raises InvalidSchema where it is none."""
        references: dict[str, Any] = {}
        _collect(self, references)
        try:
            return read_types(self.document, tuple(references.items()))
        except SchemaFault as fault:
            where = f"{self.file or self.name}{fault.pointer}"
            raise InvalidSchema(fault.what, where=where, mend=fault.mend) from None


@dataclass(frozen=True, slots=True)
class SchemaLimits:
    """How much of a schema is taken: bytes of its text, and arrays and objects inside one another."""

    max_bytes: int = 1024 * 1024
    max_depth: int = 128


def read_schema(
    text: str,
    *,
    type: str,  # noqa: A002  the protocol's word
    name: str,
    file: str | None = None,
    references: Mapping[str, SchemaDocument] | None = None,
    limits: SchemaLimits = SchemaLimits(),
) -> SchemaDocument:
    """Return the schema that a text holds, once it is known to be one, and safe to work with.

    Raises InvalidSchema where it is not, and SchemaTooLarge where it is longer than the limit.
    """
    if len(text.encode("utf-8", "surrogatepass")) > limits.max_bytes:
        raise SchemaTooLarge(f"the schema is longer than {limits.max_bytes} bytes", where=file or name)
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidSchema(f"the schema is not JSON: {error}", where=file or name) from None
    schema = SchemaDocument(type, name, document, text, file, references or {})
    if type == JSON:
        _refuse_no_json_schema(document, file or name)
    else:
        _ = schema.avro_types
    return schema


def _refuse_no_json_schema(document: Any, where: str) -> None:
    import jsonschema_rs

    try:
        jsonschema_rs.meta.validate(document)
    except Exception as error:  # noqa: BLE001  a dozen kinds
        raise InvalidSchema(f"not a JSON Schema: {error}", where=where) from None


def _collect(schema: SchemaDocument, found: dict[str, Any]) -> None:
    """Add the documents that a schema refers to, those that others refer to first."""
    for name, referred in schema.references.items():
        if name not in found:
            _collect(referred, found)
            found[name] = referred.document
