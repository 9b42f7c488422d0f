"""Shape names: the names of a message, as far as its shape depends on them.

How a table is read may follow from its name where messages have no types, or where a table contract lists it. Messages
with types of all tables that no contract lists have a shape together.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import Raw

from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.engine.layouts.listed_values import UNLISTED
from cdc_contracts.registry.core.engine.layouts.struct_layouts import LayoutPlan
from cdc_contracts.registry.core.engine.parse.shape_guess import make_picker, open_name

Names = tuple[Any, ...]
IsListed = Callable[[Names], bool]
"""Whether a table contract lists the table of a message with some names."""


class ShapeNames:
    """Reads the part of a shape's key that follows the types: a value for each of `plan.names_at`, or nothing."""

    def __init__(self, plan: LayoutPlan, reading_options: ReadingOptions, is_listed: IsListed) -> None:
        self._plan, self._has_contracts, self._is_listed = plan, bool(reading_options.tables), is_listed
        by_table = not plan.types.at or self._has_contracts
        self._at = plan.names_at if by_table or plan.by_kind else ()
        self._free = plan.plain_names if self._at and not by_table else frozenset[str]()
        self._hidden = plan.plain_names if plan.types.at and self._has_contracts else frozenset[str]()
        self.identified_by = [*plan.types.at, *(None if at in self._free else at for at in self._at)]
        """The pointer of each part of a shape's key; None for a name that the shape does not depend on."""

    def identify(self, names: Names) -> tuple[Names, bool]:
        """Return the names of a message as far as its shape depends on them, and whether a contract lists its table."""
        listed = self._has_contracts and self._is_listed(names)
        if self._plan.by_kind:
            names = (*names[:-1], self._plan.kind_of(names[-1]))
        if self._free:
            names = tuple([None if at in self._free else name for at, name in zip(self._at, names, strict=True)])
        elif self._hidden and not listed:
            names = tuple([
                UNLISTED if type(name) is str and at in self._hidden else name
                for at, name in zip(self._at, names, strict=True)
            ])  # fmt: skip
        return names, listed

    def key(self, tokens: Names, names: Names) -> Names:
        """Return the key of a shape from the tokens of its types and from its names."""
        return (*tokens, *(names if self._at else ()))

    def picks(self) -> list[tuple[int | slice, Callable[[Any], Any]]]:
        """Return functions from a decoded record to parts of the key of its shape, each with the place of its part."""
        first = len(self._plan.types.at)
        found: list[tuple[int | slice, Callable[[Any], Any]]] = [
            (at, self._pick(pointer))
            for at, pointer in enumerate(self.identified_by)
            if pointer and not (self._hidden and at >= first)
        ]
        if self._hidden:  # whether a table is listed follows from its names together
            picks = [make_picker(self._plan, pointer) for pointer in self._at]
            names = (slice(first, None), lambda record: self.identify(tuple([_name(of(record)) for of in picks]))[0])
            found.append(names)
        return found

    def _pick(self, pointer: str) -> Callable[[Any], Any]:
        pick, kind_of = make_picker(self._plan, pointer), self._plan.kind_of
        is_kind = self._plan.by_kind and pointer == self._plan.names_at[-1]
        return (lambda record: kind_of(pick(record))) if is_kind else pick


def _name(value: Any) -> Any:
    return open_name(bytes(value)) if type(value) is Raw else value
