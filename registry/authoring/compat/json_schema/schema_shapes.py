"""Schema shapes: a JSON Schema read as shapes: one kind of value each, or several shapes combined.

`{"type": ["string", "null"], "enum": […]}` is "all of: the listed values; any of: a string, null". Registries of the
Confluent protocol read schemas so, and name differences by it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from cdc_contracts.registry.authoring.compat.json_schema.bundled_schemas import BundledSchema, has_siblings_of_ref
from cdc_contracts.registry.core.common.pointers import ABSENT, find_in_document, split_reference
from cdc_contracts.registry.core.common.subschemas import BY_NAME, VALUES

ANY: Final = "any"
NEVER: Final = "never"
UNKNOWN: Final = "unknown"
"""What cannot be followed: a reference that leads elsewhere."""
ALL_OF: Final = "allOf"
ANY_OF: Final = "anyOf"
ONE_OF: Final = "oneOf"
COMBINED: Final = frozenset({ALL_OF, ANY_OF, ONE_OF})

KEYWORDS: Final[Mapping[str, frozenset[str]]] = {
    "object": frozenset({
        "properties", "required", "additionalProperties", "patternProperties", "propertyNames", "minProperties",
        "maxProperties", "dependencies", "dependentRequired", "dependentSchemas", "unevaluatedProperties",
    }),
    "array": frozenset({
        "items", "additionalItems", "prefixItems", "minItems", "maxItems", "uniqueItems", "contains", "minContains",
        "maxContains", "unevaluatedItems",
    }),
    "number": frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}),
    "string": frozenset({"minLength", "maxLength", "pattern"}),
}  # fmt: skip
"""The keywords that ask something of one kind of value only."""
_DYNAMIC: Final = ("$dynamicRef", "$recursiveRef")
_REFERENCES: Final = ("$ref", "$dynamicRef", "$recursiveRef")

Parts = tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class SchemaShape:
    """One kind of value: `schema` at `at` says what is asked of it.

    `keyword` is the word in `schema` that makes it this kind. `typed` is False if other kinds of values pass too.
    `made_of` are the shapes of a combination where they stand in one schema, and not in a list of schemas; such a
    `piece` is not all that its schema says.
    """

    kind: str
    schema: Any
    at: Parts
    keyword: str = ""
    typed: bool = True
    made_of: tuple[SchemaShape, ...] = ()
    piece: bool = False


class ShapeReader:
    """Reads one document as shapes, each place once."""

    def __init__(self, document: BundledSchema) -> None:
        self.document = document.value
        self.draft = document.draft
        self.text = document.text
        self.has_references = document.mentions(*_REFERENCES)
        self._read: dict[Parts, SchemaShape] = {}
        self._moved = self.has_references and _has_inner_id(document.value)

    def read_root(self) -> SchemaShape:
        return self.read(self.document, ())

    def read(self, schema: Any, at: Parts) -> SchemaShape:
        """Return the shape of a schema that stands at `at`."""
        found = self._read.get(at)
        if found is None:
            found = self._read[at] = self._shape(schema, at, frozenset())
        return found

    def text_of(self, shape: SchemaShape) -> str:
        """Return the schema of a shape of this document as JSON."""
        return self.text if shape.schema is self.document else json.dumps(shape.schema)

    def read_parts(self, shape: SchemaShape) -> tuple[SchemaShape, ...]:
        """Return the parts of a combination."""
        if shape.made_of:
            return shape.made_of
        return tuple(
            self.read(part, (*shape.at, shape.keyword, str(number)))
            for number, part in enumerate(shape.schema[shape.keyword])
        )

    def _shape(self, schema: Any, at: Parts, passed: frozenset[Parts]) -> SchemaShape:
        if schema is True or schema == {}:
            return SchemaShape(ANY, schema, at)
        if schema is False:
            return SchemaShape(NEVER, schema, at)
        if not isinstance(schema, dict):
            return SchemaShape(UNKNOWN, schema, at)
        if "$ref" in schema and not has_siblings_of_ref(self.draft):
            return self._follow(schema, at, passed)
        pieces = self._pieces(schema, at)
        followed = (self._follow(schema, at, passed),) if "$ref" in schema else ()
        if len(pieces) + len(followed) > 1:
            return SchemaShape(
                ALL_OF, schema, at, made_of=(*followed, *(replace(piece, piece=True) for piece in pieces))
            )
        return next(iter((*followed, *pieces)), SchemaShape(ANY, schema, at))

    def _pieces(self, schema: Mapping[str, Any], at: Parts) -> list[SchemaShape]:
        pieces = [SchemaShape(word, schema, at, word) for word in ("const", "enum", "not") if word in schema]
        if "if" in schema and schema.keys() & {"then", "else"}:
            pieces.append(SchemaShape("conditional", schema, at, "if"))
        pieces += [SchemaShape(word, schema, at, word) for word in (ALL_OF, ANY_OF, ONE_OF) if schema.get(word)]
        pieces += [SchemaShape(UNKNOWN, schema, at, word) for word in _DYNAMIC if word in schema]
        types = schema.get("type")
        if isinstance(types, str):
            pieces.append(SchemaShape(types, schema, at, "type"))
        elif isinstance(types, list):
            each = tuple(SchemaShape(name, schema, at, "type", piece=True) for name in types)
            pieces.append(SchemaShape(ANY_OF, schema, at, "type", made_of=each))
        else:
            pieces += [
                SchemaShape(kind, schema, at, typed=False) for kind, words in KEYWORDS.items() if schema.keys() & words
            ]
        return pieces

    def _follow(self, schema: Mapping[str, Any], at: Parts, passed: frozenset[Parts]) -> SchemaShape:
        found = self._resolve(schema["$ref"])
        if found is None or found[1] in passed:
            return SchemaShape(UNKNOWN, schema, at, "$ref")
        target, target_at = found
        if target_at not in self._read:
            self._read[target_at] = self._shape(target, target_at, passed | {target_at})
        return self._read[target_at]

    def _resolve(self, reference: Any) -> tuple[Any, Parts] | None:
        parts = split_reference(reference) if isinstance(reference, str) and not self._moved else None
        value = None if parts is None else value_at(self.document, parts)
        return None if parts is None or value is None else (value, parts)


def value_at(document: Any, parts: Parts) -> Any:
    """Return what stands at `parts` of a document, None if nothing does."""
    found = find_in_document(document, parts)
    return None if found is ABSENT else found


def _has_inner_id(document: Any) -> bool:
    """Return whether a schema inside has a name of its own: references in it start from there."""
    waiting = [document]
    while waiting:
        one = waiting.pop()
        if isinstance(one, list):
            waiting.extend(one)
        elif isinstance(one, dict):
            if one is not document and (isinstance(one.get("$id"), str) or isinstance(one.get("id"), str)):
                return True
            below = {word: part for word, part in one.items() if word not in VALUES}
            named = [below.pop(word) for word in BY_NAME & below.keys() if isinstance(below[word], dict)]
            waiting.extend((*below.values(), *(part for parts in named for part in parts.values())))
    return False
