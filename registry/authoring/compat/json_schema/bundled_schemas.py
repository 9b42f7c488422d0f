"""Bundled schemas: a schema document with all that it refers to in one place, and what is computed from it once."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cached_property
from typing import Any, Final

import jsonschema
import jsonschema_rs
from jsonschema_specifications import REGISTRY

from cdc_contracts.registry.authoring.compat.json_schema.normal_form import write_normal_form
from cdc_contracts.registry.core.common.errors import InvalidSchema
from cdc_contracts.registry.core.schema.json_schemas.schema_checks import VALIDATORS
from cdc_contracts.registry.core.schema.json_schemas.schema_drafts import draft_of
from cdc_contracts.registry.core.schema.schema_documents import SchemaDocument

SLOW_JUDGES: Final[Mapping[int, Any]] = {
    jsonschema_rs.Draft4: jsonschema.Draft4Validator,
    jsonschema_rs.Draft6: jsonschema.Draft6Validator,
    jsonschema_rs.Draft7: jsonschema.Draft7Validator,
    jsonschema_rs.Draft201909: jsonschema.Draft201909Validator,
    jsonschema_rs.Draft202012: jsonschema.Draft202012Validator,
}


def has_siblings_of_ref(draft: int) -> bool:
    """Return whether the draft regards keywords beside `$ref`."""
    return draft in {jsonschema_rs.Draft201909, jsonschema_rs.Draft202012}


class BundledSchema:
    """One JSON Schema as it is compared: `value` is its JSON value, which must not be changed.

    `written` is the schema that it stands for, against which messages are validated; else the value itself.
    """

    def __init__(self, value: Any, written: Any = None) -> None:
        self.value = value
        self.written = value if written is None else written

    @cached_property
    def text(self) -> str:
        """The schema as JSON, in one way of writing."""
        return json.dumps(self.value)

    @cached_property
    def draft(self) -> int:
        """The draft of JSON Schema that it is written in."""
        return draft_of(self.value)

    @cached_property
    def validator(self) -> jsonschema_rs.Validator:
        """The validator of messages. Fetches nothing; asking for it raises where the schema is none."""
        return VALIDATORS[draft_of(self.written)](self.written, offline=True, validate_formats=False)

    @property
    def slow_validator(self) -> Any:
        """An independent validator of the same schema. It may raise any exception if a reference leads elsewhere."""
        return SLOW_JUDGES[draft_of(self.written)](self.written, registry=REGISTRY)

    def mentions(self, *words: str) -> bool:
        """Return whether a word may stand anywhere as a key: False is certain."""
        return any(f'"{word}"' in self.text for word in words)


def read_document(schema: SchemaDocument) -> BundledSchema:
    """Return the document of a schema. Nothing that it refers to is fetched.

    Raises InvalidSchema where it is no JSON Schema of its draft, or refers to what is not given.
    """
    document = BundledSchema(write_normal_form(schema.document), schema.document)
    try:
        document.validator  # noqa: B018  asking for it is what raises
    except (ValueError, jsonschema_rs.ReferencingError, RecursionError) as error:
        said = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InvalidSchema(f"not a JSON Schema: {said}", where=schema.file or schema.name) from None
    return document
