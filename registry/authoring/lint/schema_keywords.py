"""Schema keywords: whether a JSON Schema is well formed, for the closed list of keywords.

The metaschema gives the same results for these keywords, a hundred times slower; a test compares the two.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final

from cdc_contracts.registry.core.common.errors import ContractError
from cdc_contracts.registry.core.common.linear_patterns import compile_pattern
from cdc_contracts.registry.core.common.pointers import ABSENT, follow, join_pointer, split_pointer
from cdc_contracts.registry.core.contract.envelope_schemas import KEYWORDS

_KINDS: Final = frozenset({"null", "boolean", "string", "number", "integer", "array", "object"})


def schema_faults(schema: Any) -> Iterator[tuple[str, str]]:
    """Yield every place where a schema is malformed, or uses a keyword outside the closed list: pointer and problem."""
    broken = list(_malformed(schema, ())) or list(_dangling(schema, schema, ()))
    yield from broken
    if not broken:
        yield from _outside(schema, ())


def _malformed(schema: Any, parts: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    if isinstance(schema, bool):
        return
    if not isinstance(schema, dict):
        yield join_pointer(*parts), "neither a schema nor true or false"
        return
    for keyword, value in schema.items():
        here = (*parts, keyword)
        expected, holds = _VALUES.get(keyword, _ANY)
        if not holds(value):
            yield join_pointer(*here), f"`{keyword}` is not {expected}"
        elif keyword in ("properties", "$defs"):
            for name, below in value.items():
                yield from _malformed(below, (*here, name))
        elif keyword == "allOf":
            for index, below in enumerate(value):
                yield from _malformed(below, (*here, str(index)))
        elif keyword in ("items", "if", "then", "additionalProperties"):
            yield from _malformed(value, here)


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


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_kind(value: Any) -> bool:
    if isinstance(value, str):
        return value in _KINDS
    return isinstance(value, list) and bool(value) and _are_unique_texts(value) and set(value) <= _KINDS


def _are_unique_texts(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_text, value)) and len(set(value)) == len(value)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_pattern(value: Any) -> bool:
    try:
        return isinstance(value, str) and bool(compile_pattern(value))
    except ContractError:
        return False


def _is_object(value: Any) -> bool:
    return isinstance(value, dict)


def _is_list(value: Any) -> bool:
    return isinstance(value, list) and bool(value)


def _is_anything(value: Any) -> bool:
    return True


_Rule = tuple[str, Callable[[Any], bool]]
_ANY: Final[_Rule] = ("", _is_anything)
_VALUES: Final[Mapping[str, _Rule]] = MappingProxyType({
    "type": ("one or more of " + ", ".join(sorted(_KINDS)), _is_kind),
    "properties": ("an object of schemas", _is_object),
    "$defs": ("an object of schemas", _is_object),
    "required": ("a list of member names, each once", _are_unique_texts),
    "minItems": ("a count", _is_count),
    "maxItems": ("a count", _is_count),
    "minimum": ("a number", _is_number),
    "enum": ("a list of values", _is_list),
    "examples": ("a list of values", _is_list),
    "pattern": ("a pattern of ECMAScript that does not look around or back", _is_pattern),
    "allOf": ("a list of branches", _is_list),
    **dict.fromkeys(("$schema", "$id", "title", "description", "$ref"), ("a text", _is_text)),
})  # fmt: skip
