"""Instances made for a schema: a first guess is corrected, refusal by refusal, until the validator accepts it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice, product
from typing import Any, Final

import jsonschema_rs
from jsonschema_rs.canonical.schema import clone

from cdc_contracts.registry.authoring.compat.json_schema.pattern_languages import distinguish
from cdc_contracts.registry.authoring.compat.json_schema.pattern_texts import write_text
from cdc_contracts.registry.authoring.compat.json_schema.schema_differences import Way

_ROUNDS: Final = 40
_INSIDE: Final = 40
_LARGEST: Final = 10_000
_LONGEST_ARRAY: Final = 3
_OF_ELEMENTS: Final = ("contains", "items", "additionalItems", "unevaluatedItems")
_FIRST_ELEMENTS: Final = ("prefixItems", "items")
_FIRST: Final[dict[str, Any]] = {
    "null": None, "boolean": False, "integer": 0, "number": 0, "string": "", "array": [], "object": {},
}  # fmt: skip
GENERIC: Final[tuple[Any, ...]] = (None, "", 0, True, {}, [], 1.5, "a", -1, 1, "0", [None], {"member": None})
"""One value of each kind, and a little more."""


def repair(guess: Any, validator: jsonschema_rs.Validator, kept: Way = ()) -> Any:
    """Return a message that the validator accepts, as near to the guess as possible; the value at `kept` stays.

    Raises ValueError if that does not succeed in a few rounds.
    """
    box = {"message": clone(guess)}
    for _ in range(_ROUNDS):
        refusals = list(validator.iter_errors(box["message"]))
        if not refusals:
            return box["message"]
        if not _repair_each(box, refusals, kept):
            break
    raise ValueError("no message was found")


def build_values(schema: Any) -> Iterator[Any]:
    """Yield a value for each alternative of a schema: what it lists, and of an object the members that it requires."""
    if not isinstance(schema, dict):
        yield None
    elif "const" in schema or "enum" in schema:
        yield from [schema["const"]] if "const" in schema else schema["enum"]
    elif "anyOf" in schema:
        yield from (value for part in schema["anyOf"] for value in islice(build_values(part), _INSIDE))
    elif schema.get("type", "object") == "object" and "required" in schema:
        members = schema.get("properties", {})
        yield {name: next(build_values(members.get(name)), None) for name in schema["required"]}
    else:
        kinds = schema.get("type", "object")
        yield clone(_FIRST[kinds if isinstance(kinds, str) else kinds[0]])


def _repair_each(box: dict[str, Any], refusals: Iterable[jsonschema_rs.ValidationError], kept: Way) -> bool:
    """Change the message once at each refused place, and add all members that are missing; say whether any changed.

    What is refused inside a place that was changed in this round waits for the next. Nothing helps where the value that
    has to stay is refused.
    """
    changed: dict[Way, str] = {}
    for one in refusals:
        way, name = tuple(one.instance_path), one.kind.name
        found = next((changed[way[:end]] for end in range(len(way) + 1) if way[:end] in changed), None)
        if found is not None and not found == name == "required":
            continue
        if _repair_one(box, one, kept):
            changed[way] = name
        elif kept and way == kept:
            return False
    return bool(changed)


def _repair_one(box: dict[str, Any], refusal: jsonschema_rs.ValidationError, kept: Way) -> bool:
    """Change the message so that this refusal may go; say whether that was tried."""
    kind: Any = refusal.kind
    way = tuple(_spell(box["message"], refusal.instance_path))
    if kind.name in {"anyOf", "oneOf"} and hasattr(kind, "context"):
        branches = sorted((list(branch) for branch in kind.context if branch), key=len)
        return any(any(_repair_one(box, one, kept) for one in branch) for branch in branches[:8])
    holder, last = _reach(box, way)
    value = holder[last]
    if isinstance(value, dict) and _repair_object(value, kind, way, kept):
        return True
    if isinstance(value, list) and kind.name == "minItems":
        value.extend([None] * (kind.limit - len(value)))
        return True
    is_kept = bool(kept) and way == kept[: len(way)]
    return not is_kept and _replace(holder, last, value, kind)


def _repair_object(value: dict[str, Any], kind: Any, way: Way, kept: Way) -> bool:
    if kind.name == "required":
        if (*way, kind.property) == kept[: len(way) + 1]:
            return False
        value[kind.property] = None
        return True
    if kind.name in {"additionalProperties", "unevaluatedProperties"}:
        spare = [name for name in kind.unexpected if (*way, name) != kept[: len(way) + 1]]
        for name in spare:
            value.pop(name, None)
        return bool(spare)
    if kind.name == "propertyNames":
        return _rename(value, kind.error, way, kept)
    if kind.name == "minProperties":
        for number in range(kind.limit):
            value.setdefault(f"m{number}", None)
        return True
    return False


def _rename(value: dict[str, Any], refusal: jsonschema_rs.ValidationError, way: Way, kept: Way) -> bool:
    """Give a member another name than the refused one: one that the pattern of names finds, if there is one."""
    name: Any = refusal.instance
    if name not in value or (*way, name) == kept[: len(way) + 1]:
        return False
    held = value.pop(name)
    for other in _others(name, refusal.kind):
        if isinstance(other, str):
            value.setdefault(other, held)
            break
    return True


def _replace(holder: Any, last: Any, value: Any, kind: Any) -> bool:
    for other in islice(_others(value, kind), 1):
        holder[last] = other
        return True
    if kind.name in {"false", "falseSchema", "not"} and isinstance(holder, dict) and last != "message":
        del holder[last]
        return True
    return False


def _others(value: Any, kind: Any) -> Iterator[Any]:
    """Yield values to put in place of a refused one."""
    if kind.name == "type":
        yield from (clone(_FIRST[one]) for one in kind.types)
    elif kind.name in _REPLACED:
        yield from _REPLACED[kind.name](value, kind)


_REPLACED: Final[dict[str, Callable[[Any, Any], Iterable[Any]]]] = {
    "enum": lambda value, kind: kind.options,
    "const": lambda value, kind: [kind.expected_value],
    "minLength": lambda value, kind: [str(value) + "a" * (kind.limit - len(str(value)))],
    "maxLength": lambda value, kind: [str(value)[: kind.limit]],
    "pattern": lambda value, kind: write_text(kind.pattern),
    "minimum": lambda value, kind: [kind.limit],
    "maximum": lambda value, kind: [kind.limit],
    "exclusiveMinimum": lambda value, kind: [kind.limit + 1],
    "exclusiveMaximum": lambda value, kind: [kind.limit - 1],
    "multipleOf": lambda value, kind: [kind.multiple_of],
    "maxItems": lambda value, kind: [value[: kind.limit]],
}


def _spell(message: Any, path: Iterable[str | int]) -> Iterator[str | int]:
    """Yield the steps to a place in a message; the validator reports a member called 0 like the first element."""
    for part in path:
        step = str(part) if isinstance(message, dict) else part
        message = message[step]
        yield step


def _reach(box: dict[str, Any], way: Way) -> tuple[Any, Any]:
    holder: Any = box
    last: Any = "message"
    for part in way:
        holder, last = holder[last], part
    return holder, last


def gather_values(schemas: Iterable[Any]) -> Iterator[Any]:
    """Yield values that two schemas may treat differently: those they list, those at limits, and one of each kind."""
    asked = [one for one in schemas if isinstance(one, dict)]
    yield from _distinguished_texts(asked)
    yield from GENERIC
    for schema in asked:
        yield from _values_at_limits(schema)
    yield from (["a", "a"], [0, 0])
    yield from gather_arrays(asked)


def _distinguished_texts(schemas: Iterable[Any]) -> Iterator[str]:
    patterns = {one["pattern"] for one in schemas if isinstance(one.get("pattern"), str)}
    found = distinguish(tuple(sorted(patterns))) if len(patterns) > 1 else None
    yield from (found or {}).values()


def gather_arrays(schemas: Sequence[Any]) -> Iterator[Any]:
    """Yield short arrays of values that the schemas of elements name."""
    schemas = [one for one in schemas if isinstance(one, dict)]
    below = [one[word] for one in schemas for word in _OF_ELEMENTS if isinstance(one.get(word), dict)]
    below += [part for one in schemas for word in _FIRST_ELEMENTS for part in _list_in(one, word)]
    if not below:
        return
    named = [value for one in below for value in islice(_values_at_limits(one), 2)]
    elements = [*named[:1], "b", 1]
    longest = max(len(_list_in(one, word)) for one in schemas for word in _FIRST_ELEMENTS) + 1
    for size in range(1, min(max(longest, 2), _LONGEST_ARRAY) + 1):
        yield from (list(one) for one in product(elements, repeat=size))


def _list_in(schema: Any, word: str) -> list[Any]:
    found = schema.get(word)
    return found if isinstance(found, list) else []


def _values_at_limits(schema: Any) -> Iterator[Any]:
    if not isinstance(schema, dict):
        return
    yield from schema.get("enum", ())
    yield from [schema["const"]] if "const" in schema else ()
    for word, write in _LIMITS.items():
        limit = schema.get(word)
        if isinstance(limit, int | float) and not isinstance(limit, bool):
            yield from write(limit)
    if isinstance(schema.get("pattern"), str):
        yield from write_text(schema["pattern"])
    for word in ("allOf", "anyOf", "oneOf"):
        for part in schema.get(word, ()):
            yield from islice(_values_at_limits(part), _INSIDE)
    yield from islice(_values_at_limits(schema.get("not")), _INSIDE)


def _numbers(limit: Any) -> Iterator[Any]:
    yield from (limit, limit + 1, limit - 1, limit + 0.5, limit - 0.5, limit * 2)


def _sizes(limit: Any) -> Iterator[int]:
    yield from (size for size in (int(limit), int(limit) + 1, int(limit) - 1) if 0 <= size <= _LARGEST)


def _texts(limit: Any) -> Iterator[Any]:
    yield from ("a" * size for size in _sizes(limit))


def _arrays(limit: Any) -> Iterator[Any]:
    yield from (["a"] * size for size in _sizes(limit))
    yield from (list(range(size)) for size in _sizes(limit))


def _objects(limit: Any) -> Iterator[Any]:
    yield from ({f"m{number}": None for number in range(size)} for size in _sizes(limit))


_LIMITS: Final[dict[str, Callable[[Any], Iterator[Any]]]] = {
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"), _numbers),
    **dict.fromkeys(("minLength", "maxLength"), _texts),
    **dict.fromkeys(("minItems", "maxItems", "minContains", "maxContains"), _arrays),
    **dict.fromkeys(("minProperties", "maxProperties"), _objects),
}
