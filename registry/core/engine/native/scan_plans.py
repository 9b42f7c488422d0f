"""Scan plans: the layout of a shape in the form the scanner reads, with the tokens that identify the shape."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec
import numpy as np
from msgspec import UNSET

from cdc_contracts.registry.core.common.pointers import join_pointer, split_pointer
from cdc_contracts.registry.core.engine.layouts import decoder_kinds
from cdc_contracts.registry.core.engine.layouts.layout_parts import Image, LayoutColumn, Leaf, Nested, Part, RowShape
from cdc_contracts.registry.core.engine.layouts.listed_values import UNLISTED
from cdc_contracts.registry.core.engine.layouts.struct_layouts import LayoutPlan
from cdc_contracts.registry.core.engine.native.scanned_columns import (
    ARRAY,
    BOOLEANS,
    INTEGER,
    NULL,
    NUMBERS,
    OBJECT,
    TEXTS,
)
from cdc_contracts.registry.core.values.form_schemas import STRUCTURE

_SCALARS: Final = 1 << NULL | TEXTS | NUMBERS | BOOLEANS
_TAKEN: Final = {
    decoder_kinds.TEXT: 1 << NULL | TEXTS,
    decoder_kinds.INT: 1 << NULL | 1 << INTEGER,
    decoder_kinds.TEXT_OR_INT: 1 << NULL | TEXTS | 1 << INTEGER,
    decoder_kinds.BOOL: 1 << NULL | BOOLEANS,
    decoder_kinds.RAW: _SCALARS,
    decoder_kinds.WIDE: _SCALARS,
}
"""The kinds that the scanner takes: what a decoder makes of other kinds is for the parser to say."""
_COLLECTIONS: Final = 1 << ARRAY | 1 << OBJECT
_OBJECT, _LEAF, _IMAGE, _LITERAL = range(4)
_NOWHERE: Final = -1
_IN_ORDER: Final = 6
_MOST_NESTED: Final = 8


class NoScanPlan(Exception):
    """The scanner cannot recognise messages of a shape."""


@dataclass
class ScanPlan:
    """Nodes of eight numbers and members of four, as `scanner.c` reads them, and the meaning of each slot.

    `expected` has the token of each member that identifies the shape, None if the member must be absent.
    Where names are `free`, messages of other tables are taken that have the same columns in the same order. A member
    that is `unlisted` may have any text.
    """

    plan: LayoutPlan
    expected: Mapping[str, bytes | None]
    free: frozenset[str] = frozenset()
    unlisted: frozenset[str] = frozenset()
    nodes: list[list[int]] = field(default_factory=list)
    members: list[list[int]] = field(default_factory=list)
    names: bytearray = field(default_factory=bytearray)
    slots: list[Leaf | Nested] = field(default_factory=list)
    images: list[Image] = field(default_factory=list)

    def takes_names(self, names: frozenset[str]) -> bool:
        """Return whether messages are taken that have other names of tables than those of the shape."""
        return not names.isdisjoint(self.free | self.unlisted)

    def add_message(self, parts: Sequence[Part]) -> None:
        """Add the node of the message and all below it."""
        self._add_object("", parts, _NOWHERE)

    def arrays(self) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any], bytes]:
        """Return nodes, members and names."""
        return np.array(self.nodes, np.int32), np.array(self.members, np.int32).reshape(-1, 4), bytes(self.names)

    def _add_object(self, at: str, parts: Sequence[Part], slot: int) -> tuple[int, bool]:
        """Return the number of the node of an object, and whether the object is required."""
        number, members, own = self._add_node(), list[list[int]](), _NOWHERE
        if at.count("/") > _MOST_NESTED:
            raise NoScanPlan
        for part in parts:
            match part:
                case Image(""):
                    own = len(self.images)
                    self.images.append(part)
                    members += self._columns(own, part.columns, required=part.full)
                case Image(pointer):
                    members.append(self._member(pointer, *self._add_image(part)))
                case Nested(pointer, below):
                    self.slots.append(part)
                    members.append(self._member(pointer, *self._add_object(pointer, below, len(self.slots) - 1)))
                case Leaf(pointer):
                    members += self._leaf(part)
        self._set_object(number, members, slot, own)
        return number, any(member[3] for member in members)

    def _set_object(self, number: int, members: Sequence[list[int]], slot: int, own: int) -> None:
        required = sum(member[3] for member in members)
        self.nodes[number] = [_OBJECT, len(self.members), len(members), required, slot, own, 0, 0]
        self.members += members

    def _leaf(self, leaf: Leaf) -> list[list[int]]:
        slot = _NOWHERE
        if not leaf.fixed:
            slot = len(self.slots)
            self.slots.append(leaf)
        if leaf.pointer in self.expected:
            return self._literal(leaf.pointer, slot, _NOWHERE)
        if leaf.pointer in self.free | self.unlisted:
            return [self._member(leaf.pointer, self._add_node(_LEAF, slot, TEXTS, _NOWHERE, 1), required=True)]
        of_any = leaf.decoder in (decoder_kinds.RAW, decoder_kinds.WIDE)
        taken = _TAKEN[leaf.decoder] | (_COLLECTIONS if of_any else 0)
        return [self._member(leaf.pointer, self._add_node(_LEAF, slot, taken, _NOWHERE, 1), required=False)]

    def _literal(self, pointer: str, slot: int, image: int) -> list[list[int]]:
        token = self.expected[pointer]
        if token is None:
            return []
        start = len(self.names)
        self.names += token
        return [self._member(pointer, self._add_node(_LITERAL, slot, start, len(token), image), required=True)]

    def _add_image(self, part: Image) -> tuple[int, bool]:
        image = len(self.images)
        self.images.append(part)
        node, row = self._add_node(), self._add_node()
        members: list[list[int]] = []
        for one in part.beside:
            if not isinstance(one, Leaf):
                raise NoScanPlan
            members += self._leaf(one)
        demanded = any(member[3] for member in members)
        members += self._columns(image, part.columns, required=part.full)
        types = f"{part.pointer}{join_pointer(self.plan.types.within or '')}"
        if self.plan.types.within is not None:
            if types not in self.expected:
                raise NoScanPlan
            members += self._literal(types, _NOWHERE, image)
            demanded |= self.expected[types] is not None
        self._set_object(row, members, _NOWHERE, _NOWHERE)
        self.nodes[row][_IN_ORDER] = int(bool(self.free))
        self.nodes[node] = [_IMAGE, image, row, int(not self.plan.one_row), 1 if demanded else -2, 0, 0, 0]
        return node, demanded

    def _columns(self, image: int, columns: Sequence[LayoutColumn], *, required: bool) -> list[list[int]]:
        return [
            self._member(
                join_pointer(column.name),
                self._add_node(_LEAF, place, _kinds_taken(column), image, 0),
                required=required,
            )
            for place, column in enumerate(columns)
        ]

    def _member(self, pointer: str, node: int, required: bool) -> list[int]:  # noqa: FBT001
        try:
            name = b'"' + split_pointer(pointer)[-1].encode() + b'"'
        except UnicodeEncodeError as error:
            raise NoScanPlan from error
        start = len(self.names)
        self.names += name
        return [start, len(name), node, int(required)]

    def _add_node(self, *numbers: int) -> int:
        self.nodes.append([*numbers, *[0] * (8 - len(numbers))])
        return len(self.nodes) - 1


def _kinds_taken(column: LayoutColumn) -> int:
    """Return the kinds of values of a column that the scanner takes; structures only where a form reads them."""
    reads = any(use is not None and use.form.wire & STRUCTURE for use in column.uses)
    return _TAKEN[column.decoder] | (_COLLECTIONS if reads else 0)


def free_names(plan: LayoutPlan, shape: RowShape) -> frozenset[str]:
    """Return the names that may be others in messages that are scanned for a shape although it is that of one table.

    Such tables have the columns of the shape if every image has all of them, in its order. Rows that lack columns
    do not show in which order their table has them.
    """
    fixed = plan.types.at or any(image.partial for image in plan.images.values()) or shape.strict is shape.loose
    has_others = any(not at or image.beside for at, image in plan.images.items())
    return frozenset() if fixed or has_others else plan.plain_names_of(shape)


def make_scan_plan(plan: LayoutPlan, shape: RowShape, pointers: Sequence[str | None]) -> ScanPlan:
    """Return the plan of a shape's strict layout; `pointers` lead to the members that identify the shape.

    Raises NoScanPlan if the scanner cannot recognise the shape.
    """
    if shape.strict is None:
        raise NoScanPlan
    free = free_names(plan, shape)
    named = {pointer: value for pointer, value in zip(pointers, shape.key, strict=True) if pointer is not None}
    texts = {pointer for pointer in free if isinstance(named.get(pointer, ""), str)}  # others have a null, or no member
    unlisted = frozenset(pointer for pointer, value in named.items() if value is UNLISTED)
    expected = {pointer: _token(value) for pointer, value in named.items() if pointer not in texts | unlisted}
    found = ScanPlan(plan, expected, free, unlisted)
    found.add_message(shape.strict.parts)
    return found


def _token(value: Any) -> bytes | None:
    if value is UNSET:
        return None
    token = value if isinstance(value, bytes) else msgspec.json.encode(value)
    if token[:1] not in b'"{[n':
        raise NoScanPlan
    return token
