"""Containment: whether one schema accepts every value that another does: yes, no or unknown. By set algebra."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Final

import jsonschema_rs
from jsonschema_rs.canonical import Containment, find_unsatisfiable

from cdc_contracts.registry.authoring.compat.json_schema.bundled_schemas import BundledSchema
from cdc_contracts.registry.authoring.compat.json_schema.members import takes_objects, takes_texts
from cdc_contracts.registry.authoring.compat.json_schema.schema_differences import MEMBER, OTHER_MEMBER, Route
from cdc_contracts.registry.authoring.compat.json_schema.schema_shapes import ANY, NEVER, SchemaShape, ShapeReader

YES: Final = "yes"
NO: Final = "no"
UNKNOWN: Final = "unknown"

_LONGEST: Final = 20_000
"""Characters of a schema: what takes longer than a fraction of a second is not asked."""
_QUESTIONS: Final = 400
_SHORT: Final = 1_000
_REFERENCES: Final = ('"$ref"', '"$dynamicRef"', '"$recursiveRef"')


def is_contained(inner: str, outer: str, draft: int) -> str:
    """Return whether the schema `outer`, a JSON text, takes all that `inner` takes.

    No reference is fetched, formats are notes.
    """
    if max(len(inner), len(outer)) > _LONGEST:
        return UNKNOWN
    try:
        covered = _canonicalize(outer, draft).covers(_canonicalize(inner, draft))
    except (ValueError, jsonschema_rs.ReferencingError, RecursionError):
        return UNKNOWN
    return {Containment.YES: YES, Containment.NO: NO}.get(covered, UNKNOWN)


def find_rest(inner: BundledSchema, outer: BundledSchema) -> jsonschema_rs.CanonicalSchema | None:
    """Return the schema of what `inner` takes and `outer` does not, by the draft of `inner`; None if unknown."""
    if max(len(inner.text), len(outer.text)) > _LONGEST:
        return None
    try:
        return _canonicalize(inner.text, inner.draft).subtract(_canonicalize(outer.text, inner.draft))
    except (ValueError, jsonschema_rs.ReferencingError, RecursionError):
        return None


def find_impossible(schema: BundledSchema) -> Mapping[str, object]:
    """Return by JSON Pointer the places of a schema that are known to accept nothing; "" is the whole."""
    if len(schema.text) > _LONGEST:
        return {}
    try:
        return find_unsatisfiable(schema.value, draft=schema.draft, offline=True, validate_formats=False)
    except (ValueError, jsonschema_rs.ReferencingError, RecursionError):
        return {}


def may_have(schema: BundledSchema, route: Route) -> bool | None:
    """Return whether a schema accepts a message that has a value where a route leads; None if that is not known."""
    if not isinstance(schema.value, dict) or any(kind == OTHER_MEMBER for kind, _ in route):
        return None
    asked: dict[str, object] = {}
    for kind, name in reversed(route):
        if kind == MEMBER:
            asked = {"type": "object", "required": [name], "properties": {name: asked}}
        else:
            asked = {"type": "array", "minItems": int(name) + 1, "contains": asked}
    whole = BundledSchema({**schema.value, "allOf": [*schema.value.get("allOf", []), asked]})
    if "" in find_impossible(whole):
        return False
    is_exact = all(kind == MEMBER for kind, _ in route)  # an element is asked for anywhere
    return True if is_exact and is_contained(whole.text, "false", whole.draft) == NO else None


class ContainmentDecider:
    """Answers for parts of two documents whether the reader's takes the writer's, as often as that is cheap."""

    def __init__(self, writer: ShapeReader, reader: ShapeReader) -> None:
        self._writer = writer
        self._reader = reader
        self._draft = writer.draft if writer.draft == reader.draft else None
        self._left = _QUESTIONS
        self._known: dict[tuple[str, str], str] = {}
        self._objects: dict[tuple[SchemaShape, SchemaShape], bool] = {}

    def __call__(self, writer: SchemaShape, reader: SchemaShape) -> bool:
        """Return whether it is certain that the reader's shape takes all that the writer's does."""
        if writer.kind == NEVER or reader.kind == ANY or self._ask(writer, reader) == YES:
            return True
        if self._left <= 0 or writer.kind != reader.kind or writer.piece or reader.piece:
            return False
        if reader.typed and not writer.typed:
            return False
        if reader.kind == "string":
            return takes_texts(writer.schema, reader.schema)
        return reader.kind == "object" and self._takes_objects(writer, reader)

    def _takes_objects(self, writer: SchemaShape, reader: SchemaShape) -> bool:
        if (writer, reader) not in self._objects:
            self._left -= 1
            self._objects[writer, reader] = False  # what leads back to itself is not known yet
            found = takes_objects((writer, self._writer), (reader, self._reader), self)
            self._objects[writer, reader] = found
        return self._objects[writer, reader]

    def is_certainly_refused(self, writer: SchemaShape, reader: SchemaShape) -> bool:
        """Return whether it is certain that the reader's shape refuses something that the writer's takes."""
        if max(map(len, self._texts_of(writer, reader))) > _SHORT:
            return False
        self._left, left = 1, self._left
        answer = self._ask(writer, reader)
        self._left = left
        return answer == NO

    def _ask(self, writer: SchemaShape, reader: SchemaShape) -> str:
        if self._draft is None or writer.piece or reader.piece or self._left <= 0:
            return UNKNOWN
        texts = self._texts_of(writer, reader)
        if writer.at and reader.at and any(word in text for word in _REFERENCES for text in texts):
            return UNKNOWN
        if texts not in self._known:
            self._left -= 1 + (len(texts[0]) + len(texts[1])) // 200
            self._known[texts] = is_contained(*texts, self._draft)
        return self._known[texts]

    def _texts_of(self, writer: SchemaShape, reader: SchemaShape) -> tuple[str, str]:
        return self._writer.text_of(writer), self._reader.text_of(reader)


@lru_cache(256)  # the same schema is asked about again and again while two documents are compared
def _canonicalize(text: str, draft: int) -> jsonschema_rs.CanonicalSchema:
    return jsonschema_rs.canonicalize(json.loads(text), draft=draft, offline=True, validate_formats=False)
