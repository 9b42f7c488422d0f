"""Layout parts: members of the envelope, images, and columns with the forms of their values."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import msgspec

from cdc_contracts.registry.core.common.pointers import join_pointer
from cdc_contracts.registry.core.values import Context, ValueForm
from cdc_contracts.registry.core.values.type_bounds import TypeBound


@dataclass(frozen=True)
class FormUse:
    """A form as one version uses it; a lenient use keeps broken text as it was sent.

    `declared` if a table contract gives the type of the column; `bound` is the part of the type a value may break.
    """

    form: ValueForm
    context: Context
    lenient: bool
    bound: TypeBound | None = None
    declared: bool = False

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        """The hash, made once: each batch looks up the uses of all its columns."""
        return hash((self.form, self.context, self.lenient, self.bound, self.declared))

    @cached_property
    def takes_all(self) -> bool:
        """Whether every value of the kinds that the form takes is read, and nothing is noted of any."""
        return self.form.takes_all and not self._singles_out

    @cached_property
    def takes_all_texts(self) -> bool:
        """Whether every text is a value, its own canonical text, and nothing is noted of any."""
        return self.form.takes_any_text and not self._singles_out

    @property
    def _singles_out(self) -> bool:
        context = self.context
        return bool(context.invalid_literals or context.zeros_left_out or context.substitutes)


@dataclass(frozen=True)
class LayoutColumn:
    """A column of a shape: its decoder, and the form by which each version reads its values (None: unknown type).

    `typed` is False for a column that the message has no type for: each value is then read by its JSON kind, and the
    column has uses for text, number and boolean. `by_kind` is True if the message has no types at all. `sure` is False
    while only nulls were seen in a column that is read by kind. `never_null` if a table contract says so.
    """

    name: str
    decoder: str
    uses: tuple[FormUse | None, ...]
    typed: bool = True
    by_kind: bool = False
    sure: bool = True
    never_null: bool = False

    @cached_property
    def own_uses(self) -> tuple[FormUse, ...]:
        """The distinct uses of forms by which some version reads its values."""
        return tuple(dict.fromkeys(use for use in self.uses if use is not None))


@dataclass(frozen=True)
class Leaf:
    """A member of the envelope that is not parsed further; `fixed` if the shape already determines its value."""

    pointer: str
    decoder: str
    fixed: bool = False


@dataclass(frozen=True)
class Image:
    """A member that holds rows.

    `full`: every row has every column. `partial`: it may hold the changed columns only, but not for the op codes in
    `whole_for` (at `op_at`).
    `named` are the columns that the schema itself names, such as a DDL statement in place of a row, and `beside` the
    members that are no columns; those of a message that is itself a row are parts of the message.
    """

    pointer: str
    columns: tuple[LayoutColumn, ...]
    full: bool
    partial: bool
    op_at: str
    whole_for: frozenset[str]
    named: frozenset[str]
    beside: tuple[Part, ...]

    @cached_property
    def places(self) -> tuple[str, ...]:
        """The pointer of each column, as far as the image is one row."""
        return tuple(f"{self.pointer}{join_pointer(column.name)}" for column in self.columns)


@dataclass(frozen=True)
class Nested:
    """An object of the envelope with declared members."""

    pointer: str
    parts: tuple[Part, ...]


Part = Leaf | Image | Nested


@dataclass(frozen=True, eq=False)
class Layout:
    """A message whose columns are known: `decode` turns bytes into nested structs whose fields follow `parts`.

    `decode_lines` does so for many messages at once. Shapes of one `family` have the same types and columns, and nulls
    mean the same in them. Compiled by `compiles` on first use: most layouts of a message that drifts are never used to
    decode.
    """

    family: int
    compiles: Callable[[], tuple[tuple[Part, ...], msgspec.json.Decoder[Any]]]

    @cached_property
    def _compiled(self) -> tuple[tuple[Part, ...], msgspec.json.Decoder[Any]]:
        return self.compiles()

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        return self._compiled[0]

    @cached_property
    def decode(self) -> Any:
        return self._compiled[1].decode

    @cached_property
    def decode_lines(self) -> Any:
        return self._compiled[1].decode_lines

    @cached_property
    def by_pointer(self) -> dict[str, Part]:
        """Every part by its pointer, those of nested objects too."""
        return {part.pointer: part for part in _walk(self.parts)}


@dataclass(eq=False)
class RowShape:
    """The shape of messages whose rows have the same columns, and the layouts that decode them.

    `has_types` if the messages say types of columns, though perhaps not of all. `listed` if a table contract lists
    their table: it may say anything of it, so that a verdict depends on the name.
    `strict` requires every column in full images; `loose` accepts any subset, and whatever else was learnt from
    messages that the strict layout rejected. `met` once a batch had messages of the shape.
    """

    key: tuple[Any, ...]
    columns: list[LayoutColumn]
    has_types: bool
    listed: bool = False
    strict: Layout | None = None
    loose: Layout | None = None
    built_for: int = -1
    refusals: int = 0
    learned_fields: int = 0
    met: bool = False

    @cached_property
    def by_name(self) -> dict[str, int]:
        """The index of each column."""
        return {column.name: index for index, column in enumerate(self.columns)}

    def copy(self, key: tuple[Any, ...]) -> RowShape:
        """Return a copy for other messages with the same columns, which may learn different ones from now on."""
        return RowShape(key, [*self.columns], self.has_types, self.listed, self.strict, self.loose, self.built_for)


def _walk(parts: tuple[Part, ...]) -> Iterator[Part]:
    for part in parts:
        yield part
        if isinstance(part, Nested | Image):
            yield from _walk(part.parts if isinstance(part, Nested) else part.beside)
