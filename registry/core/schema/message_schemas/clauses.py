"""Clauses: small JSON Schemas about one member of a message, however deeply nested."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from cdc_contracts.registry.core.common.pointers import split_pointer

Clause = Mapping[str, Any]


def within(pointer: str, clause: Clause, *, required: bool = True) -> dict[str, Any]:
    """Return what asks `clause` of the member at a JSON Pointer; where it is not `required`, only if it is there.

    A message is an object in any case; what holds a required member has to be one, too.
    """
    names = split_pointer(pointer)
    for depth, name in reversed(list(enumerate(names))):
        result: dict[str, Any] = {"type": "object"} if required and depth else {}
        clause = {**result, "properties": {name: clause}, **({"required": [name]} if required else {})}
    return dict(clause)


def one_of(values: Sequence[Any]) -> dict[str, Any]:
    """Return what takes one of some values."""
    return {"const": values[0]} if len(values) == 1 else {"enum": list(values)}


def all_of(clauses: Iterable[Clause]) -> dict[str, Any]:
    """Return what asks for all of some clauses; those about members are merged."""
    result: list[dict[str, Any]] = []
    for clause in clauses:
        merged = _merge(result[-1], clause) if result else None
        if merged is not None:
            result[-1] = merged
        elif clause:
            result.append(dict(clause))
    return result[0] if len(result) == 1 else {"allOf": result} if result else {}


def any_of(clauses: Iterable[Clause]) -> dict[str, Any]:
    """Return what asks for at least one of some clauses, each named once."""
    result: list[Clause] = []
    for clause in clauses:
        if clause not in result:
            result.append(clause)
    return dict(result[0]) if len(result) == 1 else {"anyOf": result}


def negate(clause: Clause) -> dict[str, Any]:
    """Return what refuses what `clause` takes."""
    return {"not": clause}


def when(condition: Clause, then: Clause) -> dict[str, Any]:
    """Return what asks `then` of the messages of which `condition` holds; of all, where that is empty."""
    return {"if": condition, "then": then} if condition else dict(then)


def _merge(one: Clause, other: Clause) -> dict[str, Any] | None:
    """Return one clause about members for two, None if they are about more, or about one member in two ways."""
    if not {*one, *other} <= {"type", "properties", "required"}:
        return None
    members: dict[str, Any] = dict(one.get("properties", {}))
    for name, clause in other.get("properties", {}).items():
        merged = _merge(members[name], clause) if name in members else clause
        if merged is None:
            return None
        members[name] = merged
    required = list(dict.fromkeys([*one.get("required", ()), *other.get("required", ())]))
    result: dict[str, Any] = {"type": "object"} if "object" in (one.get("type"), other.get("type")) else {}
    if any(clause.get("type", "object") != "object" for clause in (one, other)):
        return None
    return {**result, "properties": members, **({"required": required} if required else {})}
