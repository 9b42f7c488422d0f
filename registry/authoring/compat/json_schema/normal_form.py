"""Normal form of a schema: without keywords that its draft ignores, with every reference as a pointer from its root.

Validators ignore keywords of later drafts, and references start from the `$id` around them. What compares schemas reads
keywords and pointers: in this form it reads what validators use. Every schema keeps its place, and drafts 4 and 6
become draft 7, which says the same in the same words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import quote

import jsonschema_rs
from jsonschema_rs.canonical.schema import clone

from cdc_contracts.registry.core.common.pointers import find_in_document, split_pointer, split_reference
from cdc_contracts.registry.core.common.subschemas import DYNAMIC_REFERENCES
from cdc_contracts.registry.core.schema.json_schemas.schema_drafts import DRAFT_NAMES, draft_of
from cdc_contracts.registry.core.schema.json_schemas.schema_references import SchemaAddresses, Subschema, all_inside
from cdc_contracts.registry.core.schema.schema_texts import SchemaFault

_SINCE: Final[Mapping[int, frozenset[str]]] = {
    jsonschema_rs.Draft6: frozenset({"const", "contains", "propertyNames"}),
    jsonschema_rs.Draft7: frozenset({"if", "then", "else"}),
    jsonschema_rs.Draft201909: frozenset({
        "dependentRequired", "dependentSchemas", "unevaluatedProperties", "unevaluatedItems", "minContains",
        "maxContains", "$recursiveRef",
    }),
    jsonschema_rs.Draft202012: frozenset({"prefixItems", "$dynamicRef"}),
}  # fmt: skip
_UNTIL: Final[Mapping[int, frozenset[str]]] = {
    jsonschema_rs.Draft201909: frozenset({"additionalItems", "$recursiveRef"})
}
_ORDER: Final = (
    jsonschema_rs.Draft4, jsonschema_rs.Draft6, jsonschema_rs.Draft7, jsonschema_rs.Draft201909,
    jsonschema_rs.Draft202012,
)  # fmt: skip
_LIKE_7: Final = frozenset({jsonschema_rs.Draft4, jsonschema_rs.Draft6})
_HIDING: Final = _LIKE_7 | {jsonschema_rs.Draft7}
_BESIDE_REFERENCE: Final = frozenset({
    "$ref", "$schema", "$id", "id", "$comment", "title", "description", "default", "examples", "definitions", "$defs",
})  # fmt: skip
"""Keywords that ask nothing themselves: all others are ignored beside a reference before draft 2019-09."""
_BASES: Final = ("$id", "id", "$anchor")
_EXCLUSIVE: Final = (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum"))


def write_normal_form(document: Any) -> Any:
    """Return a schema in plain form; the document itself where it is in that form already.

    A document with dynamic references, or with one that leads out of it, keeps its references as they are, and in the
    latter case its draft.
    """
    if not isinstance(document, dict):
        return document
    draft = draft_of(document)
    unheeded = _unheeded_by(draft)
    schemas = list(all_inside(document, draft))
    targets = _find_targets(document, draft, schemas, unheeded)
    references = {one.schema["$ref"] for one in schemas if isinstance(one.schema.get("$ref"), str)}
    like_7 = draft in _LIKE_7 and (bool(targets) or all(split_reference(one) is not None for one in references))
    hides = draft in _HIDING and not targets and all(map(_leads_to_definition, references))
    if (
        not targets
        and not like_7
        and all(unheeded.isdisjoint(one.schema) and not (hides and _hidden_in(one.schema)) for one in schemas)
    ):
        return document
    plain = clone(document)
    for one in list(all_inside(plain, draft)):
        for word in unheeded & one.schema.keys() | (_hidden_in(one.schema) if hides else set()):
            del one.schema[word]
        if like_7:
            _write_limits(one.schema)
    for pointer, target in targets.items():
        _write_reference(find_in_document(plain, split_pointer(pointer)), target, is_root=not pointer)
    return {**plain, "$schema": DRAFT_NAMES[jsonschema_rs.Draft7 if like_7 else draft]}


def _leads_to_definition(reference: str) -> bool:
    """Return whether a reference leads to the root or to a definition, not into what another reference may hide."""
    parts = split_reference(reference)
    return parts is not None and parts[:1] in ((), ("definitions",), ("$defs",))


def _hidden_in(schema: Mapping[str, Any]) -> set[str]:
    """Return the keywords that a reference beside them hides, in drafts where it does."""
    return set(schema) - _BESIDE_REFERENCE if isinstance(schema.get("$ref"), str) else set()


def _unheeded_by(draft: int) -> frozenset[str]:
    at = _ORDER.index(draft)
    later = [_SINCE.get(one, frozenset()) for one in _ORDER[at + 1 :]]
    gone = [_UNTIL.get(one, frozenset()) for one in _ORDER[:at]]
    return frozenset().union(*later, *gone)


def _find_targets(
    document: Any, draft: int, schemas: Sequence[Subschema], unheeded: frozenset[str]
) -> dict[str, str | None]:
    """Return where the reference of each schema leads, by the schema's pointer; None for a schema that has none.

    Nothing is returned where all references are pointers from the root already, or have to stay as they are: dynamic
    ones, those that lead out of the document, and all where a schema inside is of another draft.
    """
    words = {word for one in schemas for word in one.schema} - unheeded
    inner = {word for one in schemas[1:] for word in one.schema}
    references = [one.schema["$ref"] for one in schemas if isinstance(one.schema.get("$ref"), str)]
    is_plain = inner.isdisjoint(_BASES) and all(split_reference(one) is not None for one in references)
    if is_plain or "$schema" in inner or not words.isdisjoint(DYNAMIC_REFERENCES):
        return {}
    addresses = SchemaAddresses(document, {})
    targets: dict[str, str | None] = {}
    try:
        for one in addresses.reached():
            reference = one.schema.get("$ref")
            target = addresses.resolve(reference, one)
            if isinstance(reference, str) and target is None:
                return {}
            targets[one.pointer] = None if target is None else target.pointer
    except SchemaFault:
        return {}
    return targets


def _write_reference(schema: Any, target: str | None, *, is_root: bool) -> None:
    """Write a reference as a pointer from the root, and take away the names that other references start from."""
    if not isinstance(schema, dict):
        return
    if target is not None:
        schema["$ref"] = "#" + quote(target, safe="/~!$&'()*+,;=:@?")
    for word in () if is_root else _BASES:
        if isinstance(schema.get(word), str):
            del schema[word]


def _write_limits(schema: dict[str, Any]) -> None:
    """Write the flags of draft 4 as the limits of draft 7."""
    for word, limit in _EXCLUSIVE:
        flag = schema.get(word)
        if isinstance(flag, bool):
            del schema[word]
            if flag and limit in schema:
                schema[word] = schema[limit]
