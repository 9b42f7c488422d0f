"""Common members: what the messages of a group have in common at a place, as far as its layout and key say it."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from cdc_contracts.registry.core.common.pointers import ABSENT, follow, join_pointer, split_pointer
from cdc_contracts.registry.core.contract.discriminator_model import Test
from cdc_contracts.registry.core.contract.discriminators import Alike, asked_texts, pointers_of
from cdc_contracts.registry.core.engine.layouts import decoder_kinds
from cdc_contracts.registry.core.engine.layouts.layout_parts import Image, Layout, Leaf
from cdc_contracts.registry.core.engine.layouts.struct_layouts import LayoutPlan


class CommonMembers:
    """What messages of one layout, with the same grouping key and flags, share with the first of them."""

    def __init__(
        self,
        layout: Layout,
        plan: LayoutPlan,
        plain_names: Collection[str],
        message: dict[str, Any],
        asked: Collection[str],
    ) -> None:
        self._parts, self._plan, self._message, self._asked = layout.by_pointer, plan, message, asked
        self._valued = plan.discrete - frozenset(plain_names)

    def alike(self, test: Test) -> Alike:
        """Return what the messages share at the places of a test.

        Flags tell whether a relation of ours holds, and whether a member has a text that a test asks for.
        """
        places = pointers_of([test])
        then = test.then or ""
        if any(relation.places == places and relation.then == then for relation in self._plan.relations):
            return Alike.VALUE
        common = min(map(self.at, places), default=Alike.VALUE)
        if not asked_texts([test]) and not self._plan.listed.keys().isdisjoint(places):
            common = min(common, Alike.KIND)  # values that nobody lists are alike to tests of texts alone
        return Alike.VALUE if common is Alike.KIND and any(map(self._is_text_flagged, asked_texts([test]))) else common

    def _is_text_flagged(self, pointer: str) -> bool:
        part = self._parts.get(pointer)
        return isinstance(part, Leaf) and part.decoder != decoder_kinds.RAW and pointer in self._asked

    def at(self, pointer: str) -> Alike:
        """Return what the messages share at a place."""
        part = self._parts.get(pointer)
        if part is None:
            return self._below(pointer)
        return Alike.VALUE if pointer in self._valued or (isinstance(part, Leaf) and part.fixed) else Alike.KIND

    def _below(self, pointer: str) -> Alike:
        """Return the same of a place for which the layout has no part: mostly no message has a member there."""
        if self._plan.one_row and pointer in self._plan.types.at:
            return Alike.VALUE  # belongs to the shape
        names = split_pointer(pointer)
        holder, name = "", names[0]
        for depth in range(len(names) - 1, 0, -1):
            if (above := join_pointer(*names[:depth])) in self._parts:
                holder, name = above, names[depth]
                break
        part = self._parts.get(holder)
        if isinstance(part, Image):
            held = name == self._plan.types.within or any(column.name == name for column in part.columns)
            if held and name != self._plan.types.within and names[:-1] == split_pointer(holder):
                return Alike.KIND if pointer in self._asked else Alike.NOTHING
        else:
            held = isinstance(part, Leaf) and isinstance(follow(self._message, split_pointer(holder)), dict)
            if isinstance(part, Leaf) and part.decoder == decoder_kinds.WIDE and pointer in self._asked:
                held = follow(self._message, names) is not ABSENT  # flags tell it of the others
        return Alike.NOTHING if held else Alike.VALUE
