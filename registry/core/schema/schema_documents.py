"""Schema documents from a user or a registry: JSON Schema or Avro, parsed, with their file of origin."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

from cdc_contracts.registry.core.common.errors import InvalidSchema, SchemaTooLarge
from cdc_contracts.registry.core.schema.avro_types.schema_reading import read_types
from cdc_contracts.registry.core.schema.avro_types.type_graph import AvroType
from cdc_contracts.registry.core.schema.schema_texts import SchemaFault, parse_schema_text

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
        """The types of an Avro schema and of its references. Raises InvalidSchema if it is invalid."""
        documents = [(name, one.document) for name, one in self.all_references.items()]
        try:
            return read_types(self.document, documents)
        except SchemaFault as fault:
            raise invalid(fault, self.file or self.name) from None

    @cached_property
    def all_references(self) -> Mapping[str, SchemaDocument]:
        """What it refers to and what that refers to, in an order in which each comes after those that it needs."""
        found: dict[str, SchemaDocument] = {}
        for name, referred in self.references.items():
            for inner, document in referred.all_references.items():
                found.setdefault(inner, document)
            found.setdefault(name, referred)
        return found


@dataclass(frozen=True, slots=True)
class SchemaLimits:
    """The limits for a schema: bytes of its text, and the depth of its nesting."""

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
    """Return the schema that a text holds, after checking that it is valid and safe to process.

    Raises InvalidSchema if it is not, and SchemaTooLarge if it is longer than the limit.
    """
    if len(text.encode("utf-8", "surrogatepass")) > limits.max_bytes:
        raise SchemaTooLarge(
            f"the schema is longer than {limits.max_bytes:,} bytes",
            where=file or name,
            hint="Split it: registered schemas may refer to one another.",
        )
    try:
        document = parse_schema_text(text, max_depth=limits.max_depth)
        schema = SchemaDocument(type, name, document, text, file, references or {})
        if type == JSON:
            from cdc_contracts.registry.core.schema.json_schemas.schema_checks import refuse_no_schema

            refuse_no_schema(document, {key: one.document for key, one in schema.all_references.items()})
    except SchemaFault as fault:
        raise invalid(fault, file or name) from None
    if type == AVRO:
        _ = schema.avro_types
    return schema


def invalid(fault: SchemaFault, name: str) -> InvalidSchema:
    """Return what is wrong with a schema as an error that names it and the place."""
    place = f":{fault.line}:{fault.column}" if fault.line else f"#{fault.pointer}" if fault.pointer else ""
    return InvalidSchema(fault.what, where=f"{name}{place}", hint=fault.hint)
