"""Drafts of JSON Schema: which ones there are, and which one a document is written in."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import jsonschema_rs

from cdc_contracts.registry.json_schemas.keywords import subschemas
from cdc_contracts.registry.schema_faults import SchemaFault

_ADDRESSES: Final = {
    "json-schema.org/draft-04/schema": jsonschema_rs.Draft4,
    "json-schema.org/draft-06/schema": jsonschema_rs.Draft6,
    "json-schema.org/draft-07/schema": jsonschema_rs.Draft7,
    "json-schema.org/draft/2019-09/schema": jsonschema_rs.Draft201909,
    "json-schema.org/draft/2020-12/schema": jsonschema_rs.Draft202012,
}
METASCHEMAS: Final = frozenset(f"{scheme}://{address}" for scheme in ("http", "https") for address in _ADDRESSES)
"""Addresses that a schema may refer to without bringing them along."""

_NEWER_WORDS: Final = frozenset({
    "$defs", "$anchor", "$dynamicRef", "$dynamicAnchor", "prefixItems", "dependentRequired", "dependentSchemas",
    "unevaluatedProperties", "unevaluatedItems", "minContains", "maxContains",
})  # fmt: skip
"""Keywords that draft 7 does not know: a schema that names no draft and uses one means the newest."""


def draft_of(document: Any) -> int:
    """Return the draft that `$schema` names; without it draft 7, as registries take it, unless newer words are used.

    Raises SchemaFault where `$schema` names none that is known.
    """
    named = document.get("$schema") if isinstance(document, dict) else None
    if named is None:
        newer = any(word in _NEWER_WORDS for word in _words(document))
        return jsonschema_rs.Draft202012 if newer else jsonschema_rs.Draft7
    address = str(named).removesuffix("#").removeprefix("https://").removeprefix("http://")
    if address not in _ADDRESSES:
        raise SchemaFault(
            "`$schema` names no draft that is known here",
            "/$schema",
            mend="Name draft-04, draft-06, draft-07, 2019-09 or 2020-12, such as"
            " https://json-schema.org/draft/2020-12/schema, or leave it out.",
        )
    return _ADDRESSES[address]


def _words(document: Any) -> Iterator[str]:
    """Yield the keywords of a schema and of all inside it; members that are called alike are none."""
    waiting = [document]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            yield from one
            waiting.extend(below for _, _, below in subschemas(one))
