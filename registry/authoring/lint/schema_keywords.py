"""Schema keywords: whether a JSON Schema is well formed, and keeps to the closed list of keywords."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final

import jsonschema_rs

from cdc_contracts.registry.core.common.errors import ContractError
from cdc_contracts.registry.core.common.linear_patterns import compile_pattern
from cdc_contracts.registry.core.common.pointers import ABSENT, follow, join_pointer, split_pointer
from cdc_contracts.registry.core.contract.envelope_schemas import KEYWORDS

_METASCHEMA: Final = jsonschema_rs.Draft202012Validator({"$ref": "https://json-schema.org/draft/2020-12/schema"})
_STEPS: Final = {
    **dict.fromkeys(("properties", "$defs", "allOf"), 2),
    **dict.fromkeys(("items", "if", "then", "additionalProperties"), 1),
}
"""How many names lead from a schema to those inside a keyword."""
_VALUES: Final[Mapping[str, str]] = MappingProxyType({
    "type": "one or more of array, boolean, integer, null, number, object, string",
    "required": "a list of member names, each once",
    "minimum": "a number",
    "pattern": "a pattern of ECMAScript that does not look around or back",
    "allOf": "a list of branches",
    **dict.fromkeys(("properties", "$defs"), "an object of schemas"),
    **dict.fromkeys(("minItems", "maxItems"), "a count"),
    **dict.fromkeys(("enum", "examples"), "a list of values"),
    **dict.fromkeys(("$schema", "$id", "title", "description", "$ref"), "a text"),
})  # fmt: skip


def schema_faults(schema: Any) -> Iterator[tuple[str, str]]:
    """Yield every place where a schema is malformed, or uses a keyword outside the closed list: pointer and problem."""
    broken = list(_malformed(schema)) or list(_dangling(schema, schema, ()))
    yield from broken
    if not broken:
        yield from _outside(schema, ())


def _malformed(schema: Any) -> Iterator[tuple[str, str]]:
    """Yield what the metaschema refuses: each keyword once, or what stands in place of a schema."""
    found: dict[tuple[str, ...], str] = {}
    for error in _METASCHEMA.iter_errors(schema):
        parts, is_keyword = _keyword_at(tuple(map(str, error.instance_path)))
        expected = _VALUES.get(parts[-1], "as JSON Schema defines it") if is_keyword else ""
        found[parts] = f"`{parts[-1]}` is not {expected}" if is_keyword else "neither a schema nor true or false"
    yield from ((join_pointer(*parts), problem) for parts, problem in found.items())


def _keyword_at(parts: tuple[str, ...]) -> tuple[tuple[str, ...], bool]:
    """Return the place of the keyword whose value holds a place, and True; the place itself where a schema stands."""
    at = 0
    while at < len(parts):
        step = _STEPS.get(parts[at])
        if step is None or at + step > len(parts):
            return parts[: at + 1], True
        at += step
    return parts, False


def _dangling(whole: Any, value: Any, parts: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Yield the references within the file that lead nowhere."""
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, below in entries:
        here = (*parts, str(key))
        if key == "$ref" and isinstance(below, str) and below.startswith("#"):
            if follow(whole, split_pointer(below.removeprefix("#"))) is ABSENT:
                yield join_pointer(*here), f"`{below}` leads nowhere"
        else:
            yield from _dangling(whole, below, here)


def _outside(schema: Any, parts: tuple[str, ...]) -> Iterator[tuple[str, str]]:  # noqa: C901  one question per keyword
    """Yield the keywords of a well-formed schema that are outside the closed list, or misplaced."""
    for keyword, value in schema.items() if isinstance(schema, dict) else ():
        here = (*parts, keyword)
        if keyword not in KEYWORDS:
            yield join_pointer(*here), "keyword outside the closed list"
        elif keyword == "allOf" and parts:
            yield join_pointer(*here), "allOf is allowed only at the top, for branches by op or flag"
        elif keyword == "$ref" and not value.startswith("#/"):
            yield join_pointer(*here), "only references within the file are followed"
        elif (keyword in ("enum", "examples") and not value) or (keyword == "pattern" and not _is_pattern(value)):
            yield join_pointer(*here), f"`{keyword}` is not {_VALUES[keyword]}"
        elif keyword in ("properties", "$defs"):
            for name, below in value.items():
                yield from _outside(below, (*here, name))
        elif keyword in ("items", "if", "then", "additionalProperties"):
            yield from _outside(value, here)
        elif keyword == "allOf":
            for index, below in enumerate(value):
                at = (*here, str(index))
                if isinstance(below, dict) and below.keys() - {"if", "then", "description", "title"}:
                    yield join_pointer(*at), "a branch has `if` and `then` only"
                yield from _outside(below, at)


def _is_pattern(value: str) -> bool:
    try:
        return bool(compile_pattern(value))
    except ContractError:
        return False
