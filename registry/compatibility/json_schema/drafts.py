"""Which draft of JSON Schema a document is written in, and who judges by it. No `$ref` is ever fetched."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import jsonschema
import jsonschema_rs

_NAMED: Final = {
    "draft-04": jsonschema_rs.Draft4,
    "draft-06": jsonschema_rs.Draft6,
    "draft-07": jsonschema_rs.Draft7,
    "draft/2019-09": jsonschema_rs.Draft201909,
    "draft/2020-12": jsonschema_rs.Draft202012,
}
_NEWER_WORDS: Final = frozenset({
    "$defs", "$anchor", "$dynamicRef", "$dynamicAnchor", "prefixItems", "dependentRequired", "dependentSchemas",
    "unevaluatedProperties", "unevaluatedItems", "minContains", "maxContains",
})  # fmt: skip
"""Keywords that draft 7 does not know: a schema that names no draft and uses one means the newest."""

SLOW_JUDGES: Final[Mapping[int, Any]] = {
    jsonschema_rs.Draft4: jsonschema.Draft4Validator,
    jsonschema_rs.Draft6: jsonschema.Draft6Validator,
    jsonschema_rs.Draft7: jsonschema.Draft7Validator,
    jsonschema_rs.Draft201909: jsonschema.Draft201909Validator,
    jsonschema_rs.Draft202012: jsonschema.Draft202012Validator,
}
FAST_JUDGES: Final[Mapping[int, type[jsonschema_rs.Validator]]] = {
    jsonschema_rs.Draft4: jsonschema_rs.Draft4Validator,
    jsonschema_rs.Draft6: jsonschema_rs.Draft6Validator,
    jsonschema_rs.Draft7: jsonschema_rs.Draft7Validator,
    jsonschema_rs.Draft201909: jsonschema_rs.Draft201909Validator,
    jsonschema_rs.Draft202012: jsonschema_rs.Draft202012Validator,
}


def draft_of(document: Any) -> int:
    """Return the draft that `$schema` names; without it draft 7, as registries take it, unless newer words are used."""
    named = document.get("$schema", "") if isinstance(document, dict) else ""
    for part, draft in _NAMED.items():
        if isinstance(named, str) and part in named:
            return draft
    newer = bool(named) or any(word in _NEWER_WORDS for word in _words(document))
    return jsonschema_rs.Draft202012 if newer else jsonschema_rs.Draft7


def has_siblings_of_ref(draft: int) -> bool:
    """Say whether the draft heeds what stands beside `$ref`."""
    return draft in {jsonschema_rs.Draft201909, jsonschema_rs.Draft202012}


def _words(document: Any) -> Iterator[str]:
    waiting = [document]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            yield from one
            waiting.extend(one.values())
        elif isinstance(one, list):
            waiting.extend(one)
