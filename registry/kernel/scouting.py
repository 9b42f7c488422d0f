"""Scouting: what shape a message has, told from a slice of its bytes or from the members a shape hangs on."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from operator import attrgetter
from typing import Any, Final

import msgspec
from msgspec import UNSET, Raw

from cdc_contracts.registry.kernel import lanes
from cdc_contracts.registry.kernel.layouts import Plan, Shape
from cdc_contracts.registry.pointers import ABSENT, follow, join_pointer, split_pointer

MOST_SHAPES: Final = 2048


class Guess:
    """Guesses the shape of a value from a slice of its bytes, which is mostly that of the value before."""

    def __init__(self, plan: Plan, *, by_table: bool) -> None:
        types = [(plan.types_at, plan.types_close)] if plan.types_at is not None else []
        names = [(at, b",") for at in plan.names_at] if by_table else []
        self._marks = [(f'"{split_pointer(at)[-1]}"'.encode(), close) for at, close in (*types, *names)]
        self._known: OrderedDict[Any, Shape] = OrderedDict()

    def remember(self, value: bytes, shape: Shape) -> None:
        """Take values that look like this one for the shape from now on."""
        self._known[self._look(value)] = shape
        if len(self._known) > MOST_SHAPES:
            self._known.popitem(last=False)

    def open(self) -> Callable[[bytes], Shape | None]:
        """Return a function from a value to the shape it may have, None where nothing is known of its like."""
        known, look = self._known, self._look
        if len(self._marks) > 1:
            return lambda value: known.get(look(value))
        ((mark, _),) = self._marks
        latest: Shape | None = None
        slice_ = b"\x00"

        def guess(value: bytes) -> Shape | None:
            nonlocal latest, slice_
            start = value.find(mark)
            if not value.startswith(slice_, start):
                slice_ = look(value)
                latest = known.get(slice_)
            return latest

        return guess

    def _look(self, value: bytes) -> Any:
        parts = []
        for mark, close in self._marks:
            start = value.find(mark)
            parts.append(value[start : value.find(close, start) + 1] if start >= 0 else b"")
        return parts[0] if len(parts) == 1 else tuple(parts)


def make_scout(plan: Plan) -> Callable[[bytes], tuple[bytes | None, tuple[Any, ...]]]:
    """Return a function that reads only what a shape hangs on: the token of the types, and the names."""
    wanted = [*([plan.types_at] if plan.types_at else []), *plan.names_at]
    tree: dict[str, Any] = {}
    for pointer in wanted:
        place = tree
        *above, last = split_pointer(pointer)
        for name in above:
            place = place.setdefault(name, {})
        place[last] = None
    decode = msgspec.json.Decoder(_scout_struct(tree)).decode
    types_parts = split_pointer(plan.types_at) if plan.types_at else None
    names_parts = [split_pointer(pointer) for pointer in plan.names_at]

    def scout(value: bytes) -> tuple[Any, tuple[Any, ...]]:
        found = _as_tree(decode(value), tree)
        token = follow(found, types_parts) if types_parts else ABSENT
        names = tuple(_open_name(follow(found, parts)) for parts in names_parts)
        return (None if token is ABSENT else token), names

    return scout


def _scout_struct(tree: dict[str, Any]) -> Any:
    fields: list[tuple[str, Any, Any]] = []
    for below in tree.values():
        kind = Raw if below is None else (_scout_struct(below) | msgspec.UnsetType | None)
        fields.append((f"f{len(fields)}", kind | msgspec.UnsetType if below is None else kind, UNSET))
    names = {f"f{index}": name for index, name in enumerate(tree)}
    return msgspec.defstruct("Scout", fields, rename=names.__getitem__, gc=False)


def _as_tree(record: Any, tree: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for value, (name, below) in zip(msgspec.structs.astuple(record), tree.items(), strict=True):
        if value is UNSET:
            continue
        if below is None:
            found[name] = bytes(value)
        elif value is not None:
            found[name] = _as_tree(value, below)
    return found


def _open_name(token: Any) -> Any:
    if token is ABSENT:
        return UNSET
    try:
        value = lanes.open_token(token)
    except lanes.Unfit:
        return UNSET
    return value if value is None or isinstance(value, str) else UNSET


def make_picker(properties: Any, pointer: str) -> Callable[[Any], Any]:
    """Return a function from a decoded record to one top-level member of it."""
    first = split_pointer(pointer)[0]
    index = list(properties).index(first)
    name = f"f{index}"
    rest = split_pointer(pointer)[1:]
    if not rest:
        return attrgetter(name)
    inner = make_picker(properties[first]["properties"], join_pointer(*rest))

    def pick(record: Any) -> Any:
        below = getattr(record, name)
        return below if below is UNSET or below is None else inner(below)

    return pick
