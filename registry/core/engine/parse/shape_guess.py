"""Shape guess: the likely shape of a message, from a slice of its bytes or the members that determine a shape."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any, Final

import msgspec
import numpy as np
from msgspec import UNSET, Raw
from numpy.typing import NDArray

from cdc_contracts.registry.core.common.pointers import ABSENT, follow, join_pointer, split_pointer
from cdc_contracts.registry.core.engine.layouts import decoder_kinds
from cdc_contracts.registry.core.engine.layouts.layout_parts import RowShape
from cdc_contracts.registry.core.engine.layouts.listed_values import UNLISTED
from cdc_contracts.registry.core.engine.layouts.struct_layouts import TYPES_FIELD, LayoutPlan
from cdc_contracts.registry.core.engine.native.message_fingerprints import fingerprint_messages
from cdc_contracts.registry.core.records.message_values import MessageValues
from cdc_contracts.registry.core.records.record_batches import split_by_code

Numbers = NDArray[np.int64]

MOST_SHAPES: Final = 4_096
"""Each takes up to 300 KB with its layouts and the verdicts on its records."""
_PEEK: Final = 3
"""The bytes behind an image's name that mostly tell whether it holds a row."""


class ShapeGuess:
    """Guesses the shape of a value from a slice of its bytes; mostly the slice of the previous value recurs."""

    def __init__(self, plan: LayoutPlan, identified_by: Sequence[str | None]) -> None:
        first = len(plan.types.at)
        types: list[tuple[str, bytes | int]] = [(at, plan.types.close) for at in plan.types.at[:1]]
        places = [at for at in range(first, len(identified_by)) if identified_by[at] is not None]
        names = [(at, b",") for at in identified_by[first:] if at is not None]
        images = [(at, _PEEK) for at in plan.images] if plan.types.within is not None else []
        self._marks = [(f'"{split_pointer(at)[-1]}"'.encode(), close) for at, close in (*types, *names, *images)]
        self._names = [(len(types) + number, place) for number, place in enumerate(places)]
        """The mark of each name, and its place in the key of a shape."""
        self._hidden: list[tuple[int, ...]] = []
        """Which marks are hidden of some shape: those of names that it does not depend on."""
        self._known: OrderedDict[Any, RowShape] = OrderedDict()

    def remember(self, value: bytes, shape: RowShape, *, again: bool) -> None:
        """From now on, guess this shape for values that look like this one; not `again` if another one is guessed."""
        hidden = tuple([mark for mark, place in self._names if shape.key[place] is UNLISTED])
        if hidden and hidden not in self._hidden:
            self._hidden.append(hidden)
        looks = _hide(self._look(value), hidden)
        if not again and looks in self._known:
            return
        self._known[looks] = shape
        if len(self._known) > MOST_SHAPES:
            self._known.popitem(last=False)

    def open(self) -> Callable[[bytes], RowShape | None]:
        """Return a function from a value to the shape it may have; None if no similar value is known."""
        find, look = self._find, self._look
        if len(self._marks) != 1:
            return lambda value: find(look(value))
        ((value_flag, _),) = self._marks
        latest: RowShape | None = None
        slice_ = b"\x00"

        def guess(value: bytes) -> RowShape | None:
            nonlocal latest, slice_
            start = value.find(value_flag)
            if not slice_ or not value.startswith(slice_, start):  # every value starts with that of one without a mark
                slice_ = look(value)
                latest = find(slice_)
            return latest

        return guess

    def sort(self, values: MessageValues, numbers: Numbers) -> tuple[dict[RowShape, Numbers], Numbers]:
        """Return the numbers of some values by the shape that each may have, and of those that look like none known.

        One guess is for all values with the same fingerprint.
        """
        fingerprints = fingerprint_messages(values, numbers, self._marks)
        guess, places = self.open(), dict[RowShape | None, int]()
        firsts = numbers[np.unique(fingerprints, return_index=True)[1]]
        guessed = [places.setdefault(guess(value or b""), len(places)) for value in values.take(firsts)]
        sorted_ = {place: numbers[chosen] for place, chosen in split_by_code(np.array(guessed)[fingerprints])}
        rest = sorted_.pop(places.pop(None, -1), np.zeros(0, np.int64))
        return {shape: sorted_[place] for shape, place in places.items() if shape is not None}, rest

    def _find(self, looks: Any) -> RowShape | None:
        """Return the shape of values that look like this; where none is known, of those with any unlisted names."""
        found = self._known.get(looks)
        for hidden in self._hidden if found is None else ():
            found = self._known.get(_hide(looks, hidden))
            if found is not None:
                break
        return found

    def _look(self, value: bytes) -> Any:
        parts = []
        for value_flag, close in self._marks:
            start = value.find(value_flag)
            stop = start + len(value_flag) + close if isinstance(close, int) else value.find(close, start) + 1
            parts.append(value[start:stop] if start >= 0 else b"")
        return parts[0] if len(parts) == 1 else tuple(parts)


def _hide(looks: Any, hidden: Sequence[int]) -> Any:
    """Return looks without some marks."""
    if not hidden or not isinstance(looks, tuple):
        return UNLISTED if hidden else looks
    return tuple([UNLISTED if mark in hidden else part for mark, part in enumerate(looks)])


def make_key_reader(plan: LayoutPlan) -> Callable[[bytes], tuple[tuple[Any, ...], tuple[Any, ...]]]:
    """Return a function that reads only the members that determine a shape: the tokens of the types, and the names."""
    wanted = [*plan.types.at, *plan.names_at]
    tree: dict[str, Any] = {}
    for pointer in wanted:
        place = tree
        *above, last = split_pointer(pointer)
        for name in above:
            place = place.setdefault(name, {})
        place[last] = None
    decode = msgspec.json.Decoder(_key_struct(tree)).decode
    types_parts = [split_pointer(pointer) for pointer in plan.types.at]
    names_parts = [split_pointer(pointer) for pointer in plan.names_at]

    def read_key(value: bytes) -> tuple[Any, tuple[Any, ...]]:
        found = _as_tree(decode(value), tree)
        tokens = tuple(UNSET if (token := follow(found, parts)) is ABSENT else token for parts in types_parts)
        names = tuple(open_name(follow(found, parts)) for parts in names_parts)
        return tokens, names

    return read_key


def _key_struct(tree: dict[str, Any]) -> Any:
    fields: list[tuple[str, Any, Any]] = []
    for below in tree.values():
        kind = Raw if below is None else (_key_struct(below) | msgspec.UnsetType | None)
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


def open_name(token: Any) -> Any:
    """Return a name as the shape of a message has it, from its token: a text, None, or else UNSET."""
    if token is ABSENT:
        return UNSET
    try:
        value = decoder_kinds.open_token(token)
    except decoder_kinds.Unfit:
        return UNSET
    return value if value is None or isinstance(value, str) else UNSET


def make_picker(plan: LayoutPlan, pointer: str) -> Callable[[Any], Any]:
    """Return a function from a decoded record to one of its members; UNSET if a member on the path is missing."""
    return _picker(plan, plan.properties, "", split_pointer(pointer))


def _picker(plan: LayoutPlan, properties: Any, at: str, parts: tuple[str, ...]) -> Callable[[Any], Any]:
    first, *rest = parts
    if at in plan.images and first == plan.types.within:  # else a member beside the columns of a row
        return attrgetter(TYPES_FIELD)
    get = attrgetter(f"f{list(properties).index(first)}")
    if not rest:
        return get
    inner = _picker(plan, properties[first].get("properties"), at + join_pointer(first), tuple(rest))

    def pick(record: Any) -> Any:
        below = get(record)
        return UNSET if below is UNSET or below is None else inner(below)

    return pick
