"""Known codes: the texts of a message that may be shown unredacted, because some contract contains them.

A code that its contract refuses may be anything, the value of a row as well. What the catalogue says somewhere, as the
code of an op or member or as the name of a type, is no secret, and neither are the verbs of SQL; every other text is
shown as its shape.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final

from cdc_contracts.registry.core.contract.catalogue import Catalogue, Version
from cdc_contracts.registry.core.contract.envelope_schemas import show_code
from cdc_contracts.registry.core.contract.value_mappings import drop_parameters
from cdc_contracts.registry.core.values import describe_shape

_VERBS: Final = frozenset({
    "alter", "begin", "commit", "create", "ddl", "delete", "drop", "heartbeat", "insert", "merge", "rename", "replace",
    "rollback", "snapshot", "truncate", "update", "upsert",
})  # fmt: skip
_SIGN: Final = re.compile(r"\s+(?:UNSIGNED|SIGNED|ZEROFILL)\b")


def show_known(text: str, version: Version) -> str:
    """Return a code for reports: unchanged if the version or its catalogue contains it, otherwise its shape."""
    if text in version.meaning.ops or is_known(text, version.catalogue):
        return show_code(text)
    return describe_shape(text)


def is_known(text: str, catalogue: Catalogue) -> bool:
    """Return whether a text is a verb, a code of some contract, or the name of a type, whatever its length."""
    codes, types = _vocabulary(catalogue)
    return text in codes or text.lower() in _VERBS or _type_name(text) in types


@lru_cache(8)
def _vocabulary(catalogue: Catalogue) -> tuple[frozenset[str], frozenset[str]]:
    """Return the codes and the names of types of all contracts."""
    return _codes_of(catalogue), _types_of(catalogue)


def _codes_of(catalogue: Catalogue) -> frozenset[str]:
    return frozenset(code for version in catalogue.all_versions() for code in _codes_in(version))


def _codes_in(version: Version) -> Iterator[str]:
    meaning = version.meaning
    yield from meaning.ops
    yield from meaning.ops.values()
    yield from meaning.tolerated_ops
    if meaning.envelope.source_kind is not None:
        yield from (*(meaning.envelope.source_kind.kinds or ()), *meaning.envelope.source_kind.excluded_kinds)
    for codes in meaning.enums.values():
        yield from codes
    yield from _codes_of_schema(version.schema)


def _codes_of_schema(schema: Any) -> Iterator[str]:
    if isinstance(schema, list):
        for below in schema:
            yield from _codes_of_schema(below)
    elif isinstance(schema, dict):
        yield from (code for code in (*schema.get("enum", ()), schema.get("const")) if isinstance(code, str))
        for below in schema.values():
            yield from _codes_of_schema(below)


def _types_of(catalogue: Catalogue) -> frozenset[str]:
    return frozenset(
        _type_name(name)
        for version in catalogue.all_versions()
        for mapping in map(catalogue.mapping, version.mapping_names())
        for names in (*mapping.document.forms.values(), mapping.document.aliases)
        for name in names
        if not name.lstrip("-").isdigit()
    )


def _type_name(text: str) -> str:
    if text.isascii() and text.isalnum():
        return text.upper()  # there is nothing to leave out
    return " ".join(_SIGN.sub("", drop_parameters(text).upper()).replace("_", " ").split())
