"""Bundling: a JSON Schema and the schemas it refers to, as one self-contained document."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final
from urllib.parse import quote, urldefrag, urljoin

from cdc_contracts.registry.core.common.pointers import join_pointer
from cdc_contracts.registry.core.common.subschemas import BY_NAME, VALUES
from cdc_contracts.registry.core.schema.schema_documents import JSON, SchemaDocument

_HOLDER: Final = "$defs"
_LEGAL: Final = "/$~"
"""The characters that need no escaping in a reference."""


def bundle(schema: SchemaDocument) -> SchemaDocument:
    """Return a JSON Schema with the documents of its references under `$defs`; any other schema unchanged."""
    if schema.type != JSON or not schema.references or not isinstance(schema.document, dict):
        return schema
    referred: dict[str, Any] = {}
    _collect(schema, referred)
    whole = _Relocation(schema.document, "", referred).relocate(schema.document)
    held = {
        name: _without_address(_Relocation(document, join_pointer(_HOLDER, name), referred).relocate(document))
        for name, document in referred.items()
    }
    whole[_HOLDER] = {**whole.get(_HOLDER, {}), **held}
    return replace(schema, document=whole, references={})


def _collect(schema: SchemaDocument, found: dict[str, Any]) -> None:
    for name, referred in schema.references.items():
        if name not in found:
            found[name] = referred.document
            _collect(referred, found)


class _Relocation:
    """Rewrites the references of one document for its new place in the bundle."""

    def __init__(self, document: Any, pointer: str, referred: Mapping[str, Any]) -> None:
        self._base = str(document.get("$id", "")) if isinstance(document, dict) else ""
        self._pointer = pointer
        self._referred = referred

    def relocate(self, value: Any) -> Any:
        """Return a schema, or a list of schemas, with references to the new places."""
        if isinstance(value, list):
            return [self.relocate(item) for item in value]
        if not isinstance(value, dict):
            return value
        moved = {key: item if key in VALUES else self._below(key, item) for key, item in value.items()}
        if isinstance(value.get("$ref"), str):
            moved["$ref"] = self._lead(value["$ref"])
        return moved

    def _below(self, keyword: str, value: Any) -> Any:
        if keyword in BY_NAME and isinstance(value, dict):
            return {name: self.relocate(item) for name, item in value.items()}
        return self.relocate(value)

    def _lead(self, reference: str) -> str:
        address, fragment = urldefrag(reference)
        name = next((name for name in self._referred if self._is_called(address, name)), None)
        if name is not None:
            return "#" + quote(join_pointer(_HOLDER, name), _LEGAL) + fragment
        inside = not address and (not fragment or fragment.startswith("/"))
        return "#" + quote(self._pointer, _LEGAL) + fragment if inside else reference

    def _is_called(self, address: str, name: str) -> bool:
        return bool(address) and (address == name or urljoin(self._base, address) == urljoin(self._base, name))


def _without_address(document: Any) -> Any:
    """Return a document without `$id`: references of the bundle could not point into one with an id of its own."""
    if not isinstance(document, dict):
        return document
    return {key: value for key, value in document.items() if key not in ("$id", "id", "$schema")}
