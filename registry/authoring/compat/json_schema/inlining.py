"""Inlining of references: a schema in which each place that refers to another schema holds a copy of it."""

from __future__ import annotations

from typing import Any, Final

from cdc_contracts.registry.authoring.compat.json_schema.bundled_schemas import BundledSchema
from cdc_contracts.registry.authoring.compat.json_schema.place_descriptions import follow
from cdc_contracts.registry.core.common.subschemas import REFERENCES, map_schemas

_MOST_SCHEMAS: Final = 2_000
"""Schemas that a document may have when all references in it are copies."""
_DROPPED: Final = frozenset({"$defs", "definitions", "$id", "$anchor"})
"""Keywords that only references need."""


class _NotInlined(Exception):
    """A schema refers to itself, to another document, or too often."""


def inline_references(document: BundledSchema) -> BundledSchema | None:
    """Return a document without references; None where one leads back or elsewhere, or there are too many."""
    if not document.mentions(*REFERENCES):
        return document
    try:
        return BundledSchema(_Inlining(document.value).copy(document.value, ()))
    except _NotInlined:
        return None


class _Inlining:
    def __init__(self, document: Any) -> None:
        self._document = document
        self._left = _MOST_SCHEMAS

    def copy(self, schema: Any, passed: tuple[str, ...]) -> Any:
        """Return a copy of a schema; `passed` are the references that led to it."""
        if not isinstance(schema, dict):
            return schema
        self._left -= 1
        if self._left < 0 or not schema.keys().isdisjoint(set(REFERENCES) - {"$ref"}):
            raise _NotInlined
        kept = {word: held for word, held in schema.items() if word not in _DROPPED}
        copied = map_schemas(kept, lambda part: self.copy(part, passed))
        reference = copied.pop("$ref", None)
        if reference is None:
            return copied
        target = follow(self._document, reference) if isinstance(reference, str) else None
        if target is None or reference in passed:
            raise _NotInlined
        copied["allOf"] = [*copied.get("allOf", []), self.copy(target, (*passed, reference))]
        return copied
