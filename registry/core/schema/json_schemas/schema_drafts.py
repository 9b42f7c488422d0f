"""Schema drafts: the supported drafts of JSON Schema, and the draft of a document."""

from __future__ import annotations

from typing import Any, Final

import jsonschema_rs

from cdc_contracts.registry.core.common.subschemas import every_schema
from cdc_contracts.registry.core.schema.schema_texts import SchemaFault

DRAFT_NAMES: Final = {
    jsonschema_rs.Draft4: "http://json-schema.org/draft-04/schema#",
    jsonschema_rs.Draft6: "http://json-schema.org/draft-06/schema#",
    jsonschema_rs.Draft7: "http://json-schema.org/draft-07/schema#",
    jsonschema_rs.Draft201909: "https://json-schema.org/draft/2019-09/schema",
    jsonschema_rs.Draft202012: "https://json-schema.org/draft/2020-12/schema",
}
"""What `$schema` says in each draft."""
_ADDRESSES: Final = {name.partition("://")[2].removesuffix("#"): draft for draft, name in DRAFT_NAMES.items()}
METASCHEMAS: Final = frozenset(f"{scheme}://{address}" for scheme in ("http", "https") for address in _ADDRESSES)
"""Addresses that a schema may refer to without submitting them."""

_NEWER_WORDS: Final = frozenset({
    "$defs", "$anchor", "$dynamicRef", "$dynamicAnchor", "prefixItems", "dependentRequired", "dependentSchemas",
    "unevaluatedProperties", "unevaluatedItems", "minContains", "maxContains",
})  # fmt: skip
"""Keywords that draft 7 does not have: a schema that names no draft and uses one is of the newest."""


_FLAGS: Final = ("exclusiveMinimum", "exclusiveMaximum")
"""Keywords that are flags in draft 4, and limits ever since."""


def draft_of(document: Any) -> int:
    """Return the draft that `$schema` names; without it draft 7, as registries take it, unless the words are others'.

    Keywords of later drafts mean the newest, and a flag where later drafts have a limit means draft 4.

    Raises SchemaFault if `$schema` names none that is known.
    """
    named = document.get("$schema") if isinstance(document, dict) else None
    if named is None:
        schemas = list(every_schema(document))
        if any(word in _NEWER_WORDS for one in schemas for word in one):
            return jsonschema_rs.Draft202012
        flags = any(isinstance(one.get(word), bool) for one in schemas for word in _FLAGS)
        return jsonschema_rs.Draft4 if flags else jsonschema_rs.Draft7
    address = str(named).removesuffix("#").removeprefix("https://").removeprefix("http://")
    if address not in _ADDRESSES:
        raise SchemaFault(
            "`$schema` names an unsupported draft",
            "/$schema",
            hint="Use draft-04, draft-06, draft-07, 2019-09 or 2020-12, such as"
            " https://json-schema.org/draft/2020-12/schema, or leave it out.",
        )
    return _ADDRESSES[address]
