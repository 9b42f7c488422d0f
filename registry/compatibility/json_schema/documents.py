"""A schema document with all that it refers to in one place, known to be a JSON Schema."""

from __future__ import annotations

from typing import Any

import jsonschema_rs

from cdc_contracts.registry.compatibility.json_schema.drafts import FAST_JUDGES
from cdc_contracts.registry.errors import InvalidSchema
from cdc_contracts.registry.json_schemas.drafts import draft_of
from cdc_contracts.registry.schema_documents import SchemaDocument


def read_document(schema: SchemaDocument) -> Any:
    """Return the document of a schema. Nothing that it refers to is fetched.

    Raises InvalidSchema where it is no JSON Schema of its draft, or refers to what is not given.
    """
    document = schema.document
    try:
        FAST_JUDGES[draft_of(document)](document, offline=True, validate_formats=False)
    except (ValueError, jsonschema_rs.ReferencingError, RecursionError) as error:
        said = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InvalidSchema(f"not a JSON Schema: {said}", where=schema.file or schema.name) from None
    return document
