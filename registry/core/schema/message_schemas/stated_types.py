"""Stated types: a schema in which every clause says of which type the values are that it is about.

Code generators and strict validators look at one clause at a time. They take one without `type` for an object or an
array, or refuse it; one that names several types besides null they cannot map to a type of their language. So each
clause repeats the type that the envelope gives the member, which changes no verdict: the envelope refuses any other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from cdc_contracts.registry.core.schema.message_schemas.clauses import Clause

_KEYWORDS: Final[Mapping[str, tuple[str, ...]]] = {
    "object": ("properties", "required", "additionalProperties", "propertyNames", "minProperties", "maxProperties"),
    "array": ("items", "contains", "minItems", "maxItems"),
    "string": ("pattern",),
    "number": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
}
"""Which keywords hold for values of a type only."""
_SAME_VALUE: Final = ("allOf", "anyOf", "if", "then", "not")
"""Keywords whose schemas are about the same value."""
_DEFINED: Final = "#/$defs/"


def state_types(whole: Mapping[str, Any]) -> dict[str, Any]:
    """Return a schema of messages with the types stated; one of which they are stated already stays as it is."""
    return _Writer(whole).write()


class _Writer:
    def __init__(self, whole: Mapping[str, Any]) -> None:
        self._whole = whole
        self._definitions: Mapping[str, Clause] = whole.get("$defs", {})
        self._written: dict[str, Clause] = {}
        self._envelope = {key: value for key, value in whole.items() if key not in ("allOf", "$defs")}

    def write(self) -> dict[str, Any]:
        result: dict[str, Any] = self._state(dict(self._whole), [self._envelope])
        for name, clause in self._definitions.items():  # those that nothing refers to
            if name not in self._written:
                self._written[name] = self._state(clause, [])
        return result | ({"$defs": {name: self._written[name] for name in self._definitions}} if self._written else {})

    def _state(self, clause: Any, declared: Sequence[Clause]) -> Any:
        """Return a clause with types, given what the envelope says of the same value."""
        if not isinstance(clause, dict):
            return clause
        name = clause.get("$ref", "").removeprefix(_DEFINED)
        if name in self._definitions and name not in self._written:
            self._written[name] = {}  # it may refer to itself
            self._written[name] = self._state(self._definitions[name], declared)
        clause = self._narrow(clause, declared)
        if "type" in clause:
            declared = [{"type": clause["type"]}, *declared]
        result = {key: self._state_below(key, value, declared) for key, value in clause.items()}
        if "required" in result:
            lacking = [one for one in result["required"] if one not in result.get("properties", {})]
            held = {one: self._member_type(declared, one) for one in lacking}
            result |= {"properties": {**result.get("properties", {}), **held}} if held else {}
        return self._with_type(result, declared)

    def _state_below(self, key: str, value: Any, declared: Sequence[Clause]) -> Any:
        if key == "properties":
            return {name: self._state(below, self._members(declared, name)) for name, below in value.items()}
        if key in _SAME_VALUE:
            if isinstance(value, list):
                return [self._state(one, declared) for one in value]
            return self._state(value, declared)
        if key in ("items", "contains"):
            return self._state(value, [one["items"] for one in self._all(declared) if "items" in one])
        return self._state(value, self._others(declared)) if key == "additionalProperties" else value

    def _narrow(self, clause: dict[str, Any], declared: Sequence[Clause]) -> dict[str, Any]:
        """Return a clause about numbers as one about integers, where the envelope takes no others."""
        is_integer = "integer" in (held := self._types(declared)) and "number" not in held
        return {**clause, "type": "integer"} if clause.get("type") == "number" and is_integer else clause

    def _with_type(self, clause: dict[str, Any], declared: Sequence[Clause]) -> dict[str, Any]:
        """Return a clause that names one type besides null, or a choice of such clauses."""
        kinds = {kind: [key for key in keys if key in clause] for kind, keys in _KEYWORDS.items()}
        kinds = {kind: keys for kind, keys in kinds.items() if keys}
        types = self._all_types(clause) or self._types(declared)
        if (not kinds and "not" not in clause and "type" not in clause) or not types:
            return clause  # nothing depends on the type, or the envelope takes a value of any
        if _is_plain(types):
            return clause if "type" in clause else {**_typed(types), **clause}
        if not kinds and "type" not in clause:
            return clause
        choices: list[Clause] = []
        for one in (one for one in types if one != "null"):
            own = kinds.get("number" if one == "integer" else one, [])
            may_be_null = "null" in types and not choices
            choices.append({**_typed([one, "null"] if may_be_null else [one]), **_keep(clause, own)})
        rest = _drop(clause, ["type", *(key for keys in kinds.values() for key in keys)])
        return {"allOf": [rest, {"anyOf": choices}]} if "anyOf" in rest else {**rest, "anyOf": choices}

    def _member_type(self, declared: Sequence[Clause], name: str) -> Any:
        types = self._types(self._members(declared, name))
        return _typed(types) if types and _is_plain(types) else True

    def _types(self, declared: Sequence[Clause]) -> list[str]:
        """Return the types that every clause about a value takes; none if nothing is said of them."""
        return next((types for one in self._all(declared) if (types := self._all_types(one))), [])

    def _all_types(self, clause: Clause) -> list[str]:
        if "type" in clause:
            return _list_types(clause)
        if (target := self._target(clause)) is not None:
            return self._all_types(target)
        branches = [self._all_types(one) for one in clause.get("anyOf", ())]
        return list(dict.fromkeys(one for types in branches for one in types)) if all(branches) else []

    def _members(self, declared: Sequence[Clause], name: str) -> list[Clause]:
        named = [one["properties"][name] for one in self._all(declared) if name in one.get("properties", {})]
        return named or self._others(declared)

    def _others(self, declared: Sequence[Clause]) -> list[Clause]:
        others = (one.get("additionalProperties") for one in self._all(declared))
        return [one for one in others if isinstance(one, dict)]

    def _all(self, declared: Sequence[Clause]) -> Iterator[Clause]:
        """Yield clauses of the envelope about a value, those that they refer to, and the choices in them."""
        for one in declared:
            if isinstance(one, dict):
                yield one
                target = self._target(one)
                yield from self._all([] if target is None else [target])
                yield from self._all(one.get("anyOf", ()))

    def _target(self, clause: Clause) -> Clause | None:
        """Return the definition that a clause leads to, None if to none: it names none, or one that leads to itself."""
        target, names = clause, list[str]()
        while (name := target.get("$ref", "").removeprefix(_DEFINED)) in self._definitions:
            if name in names:
                return None
            names.append(name)
            target = self._definitions[name]
        return target if names else None


def _list_types(clause: Clause) -> list[str]:
    types = clause.get("type", [])
    return [types] if isinstance(types, str) else list(types)


def _is_plain(types: Sequence[str]) -> bool:
    """Return whether types are one type, or one besides null."""
    return len(types) - ("null" in types) <= 1


def _typed(types: Sequence[str]) -> dict[str, Any]:
    return {"type": types[0] if len(types) == 1 else list(types)}


def _keep(clause: Clause, keys: Sequence[str]) -> dict[str, Any]:
    return {key: value for key, value in clause.items() if key in keys}


def _drop(clause: Clause, keys: Sequence[str]) -> dict[str, Any]:
    return {key: value for key, value in clause.items() if key not in keys}
