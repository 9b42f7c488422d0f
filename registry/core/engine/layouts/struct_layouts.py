"""Layouts: a contract compiled to msgspec structs, for messages whose rows have the same columns.

A shape is what a message says about its columns (its type map, or its table if it has none). The envelope comes from
`envelope.schema.json`, the columns from the shape, their decoders from the value forms of all versions of the subject.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from typing import Any, Final, NamedTuple

import msgspec
from msgspec import UNSET

from cdc_contracts.registry.core.common.pointers import join_pointer, split_pointer
from cdc_contracts.registry.core.contract.column_model import ColumnTypes
from cdc_contracts.registry.core.contract.envelope_model import Place
from cdc_contracts.registry.core.contract.image_model import AbsentValues
from cdc_contracts.registry.core.contract.relations import Relation
from cdc_contracts.registry.core.engine.layouts import decoder_kinds
from cdc_contracts.registry.core.engine.layouts.layout_parts import (
    Image,
    Layout,
    LayoutColumn,
    Leaf,
    Nested,
    Part,
    RowShape,
)
from cdc_contracts.registry.core.engine.layouts.listed_values import UNLISTED, ListedValues

TYPES_FIELD: Final = "types"
_MOST_NESTED: Final = 64
"""Structs of objects that are kept; beyond that, they are made anew."""
_DECODERS_OF_TYPES: Final = {
    frozenset({"string"}): decoder_kinds.TEXT,
    frozenset({"integer"}): decoder_kinds.INT,
    frozenset({"boolean"}): decoder_kinds.BOOL,
    frozenset({"string", "integer"}): decoder_kinds.TEXT_OR_INT,
}


class AskedColumn(NamedTuple):
    """What tests of a contract ask of a column: whether it is one of some texts, and what is inside of an object."""

    texts: frozenset[str] = frozenset()
    inside: bool = False


class ImagePlan(NamedTuple):
    """What is known of an image before a message is read.

    If it is `partial`, it may hold the changed columns only, and those in `completed_from` complete it; for the op
    codes in `whole_for` it holds a whole row. `named` are the columns that the schemas of messages name, and `beside`
    the members that are no columns, by what these schemas say of them; none of a message that is itself a row.
    """

    partial: bool
    completed_from: frozenset[str]
    whole_for: frozenset[str]
    named: frozenset[str]
    beside: Mapping[str, Any]


class TypePlan(NamedTuple):
    """Where the types of columns are (`at`, those in after images first), how they are written, and how they end.

    Of `others`, which are no columns, types may be said too.
    """

    at: tuple[str, ...]
    written: ColumnTypes | None
    close: bytes
    others: frozenset[str] = frozenset()

    @property
    def within(self) -> str | None:
        """The member of each image that holds the types of its columns, if they are there."""
        return None if self.written is None else self.written.in_image


@dataclass(frozen=True)
class LayoutPlan:
    """What the envelopes of a subject's versions have in common, as far as parsing needs it.

    `plain_names` are names of which only the structure can affect a verdict, unless a table contract lists them. Of
    `discrete` members a verdict may depend on the value, of those in `listed` only if it is listed.
    """

    properties: Mapping[str, Any]
    images: Mapping[str, ImagePlan]
    op_at: str
    one_row: bool
    absent: AbsentValues | None
    types: TypePlan
    names_at: tuple[str, ...]
    plain_names: frozenset[str]
    by_kind: bool
    discrete: frozenset[str]
    listed: Mapping[str, ListedValues]
    constraints: Mapping[str, tuple[tuple[str, Any], ...]]
    filled: tuple[str, ...]
    whole_seconds_at: tuple[str, ...]
    times: tuple[Place, ...]
    relations: tuple[Relation, ...]
    asked_columns: Mapping[str, AskedColumn]
    """The columns in which tests of a contract look, by their places."""

    @cached_property
    def _known(self) -> dict[Any, tuple[tuple[Part, ...], Any]]:
        """The parts and structs of objects without rows."""
        return {}

    def plain_names_of(self, shape: RowShape) -> frozenset[str]:
        """Return the names that no verdict on messages of a shape depends on but for how they are built."""
        return frozenset() if shape.listed else self.plain_names

    def kind_of(self, name: Any) -> Any:
        """Return a kind of source as the shape of a message depends on it."""
        listed = self.listed.get(self.names_at[-1])
        return UNLISTED if listed is not None and type(name) is str and not listed.hold(name) else name

    def build(
        self, shape: RowShape, extras: Sequence[str], widened: frozenset[str], *, loose: bool, family: int
    ) -> Layout:
        """Return the layout of a shape; `extras` are members the contract does not know, `widened` accept any kind."""
        columns = tuple(column for column in shape.columns if loose or column.typed or column.by_kind)
        return Layout(family, partial(self._compile, columns, tuple(extras), widened, loose=loose))

    def _compile(
        self, columns: tuple[LayoutColumn, ...], extras: Sequence[str], widened: frozenset[str], *, loose: bool
    ) -> tuple[tuple[Part, ...], msgspec.json.Decoder[Any]]:
        parts, struct = self._struct("", self.properties, columns, extras, widened, loose=loose)
        return parts, _decoder_of(struct)

    def _struct(
        self, at: str, properties: Mapping[str, Any], columns: tuple[LayoutColumn, ...], extras: Sequence[str],
        widened: frozenset[str], *, loose: bool,
    ) -> tuple[tuple[Part, ...], Any]:  # fmt: skip
        """Return the parts and the struct of an object; the last part of one that is a row is its image."""
        parts: list[Part] = []
        members: list[tuple[str, Any]] = []
        own_extras = [pointer for pointer in extras if pointer.rpartition("/")[0] == at]
        for name, schema in [*properties.items(), *((split_pointer(extra)[-1], None) for extra in own_extras)]:
            pointer = at + join_pointer(name)
            image = self.images.get(pointer)
            if image is not None and image.beside:
                below, row = self._struct(pointer, image.beside, columns, extras, widened, loose=loose)
                kind = row | msgspec.UnsetType | None
                parts.append(self._image(pointer, columns, below[:-1], loose=loose))
            elif image is not None:
                part = self._image(pointer, columns, (), loose=loose)
                row = _row_struct(
                    tuple((column.name, column.decoder) for column in columns), self.types.within, required=part.full
                )
                kind = (row if self.one_row else list[row]) | msgspec.UnsetType | None  # type: ignore[valid-type]
                parts.append(part)
            elif schema is not None and "properties" in schema and pointer not in widened:
                below, struct = self._nested(pointer, schema["properties"], columns, extras, widened, loose=loose)
                kind = struct | msgspec.UnsetType | None
                parts.append(Nested(pointer, below))
            else:
                decoder = decoder_kinds.WIDE if schema is None or pointer in widened else decoder_of_schema(schema)
                kind = decoder_kinds.TYPES[decoder]
                parts.append(Leaf(pointer, decoder, fixed=pointer in self.types.at and decoder == decoder_kinds.RAW))
            members.append((name, kind))
        if at not in self.images:
            return tuple(parts), _object_struct(tuple(members), (), required=False)
        own = self._image(at, columns, (), loose=loose)
        in_row = tuple((column.name, column.decoder) for column in columns)
        return (*parts, own), _object_struct(tuple(members), in_row, required=own.full)

    def _nested(
        self, at: str, properties: Mapping[str, Any], columns: tuple[LayoutColumn, ...], extras: Sequence[str],
        widened: frozenset[str], *, loose: bool,
    ) -> tuple[tuple[Part, ...], Any]:  # fmt: skip
        """Return the parts and the struct of an object; all layouts share those of one that holds no rows."""
        below = f"{at}/"
        if any(pointer.startswith(below) for pointer in (*self.images, *self.types.at)):
            return self._struct(at, properties, columns, extras, widened, loose=loose)
        own = tuple([pointer for pointer in extras if pointer.startswith(below)])
        wide = frozenset([pointer for pointer in widened if pointer.startswith(below)])
        key = (at, own, wide)
        if key not in self._known:
            if len(self._known) >= _MOST_NESTED:
                self._known.clear()
            self._known[key] = self._struct(at, properties, (), own, wide, loose=True)
        return self._known[key]

    def _image(
        self, pointer: str, columns: tuple[LayoutColumn, ...], beside: tuple[Part, ...], *, loose: bool
    ) -> Image:
        image = self.images[pointer]
        full = not loose and not image.partial
        return Image(pointer, columns, full, image.partial, self.op_at, image.whole_for, image.named, beside)


def can_be_field(name: str) -> bool:
    """Return whether the parser can look for a member of that name; records with others go to the reference."""
    return not any(character in '\\"' or character < " " for character in name)


@lru_cache(maxsize=256)
def _object_struct(
    members: tuple[tuple[str, Any], ...], columns: tuple[tuple[str, str], ...], *, required: bool
) -> Any:
    """Return the struct of an object by its members and their types, with the columns of a row next to them, if any.

    Like those of rows, all plans of one process share it.
    """
    fields: list[Any] = [(f"f{index}", kind, UNSET) for index, (_, kind) in enumerate(members)]
    fields += _column_fields([decoder for _, decoder in columns], required=required)
    renamed = {f"f{index}": name for index, (name, _) in enumerate(members)}
    renamed |= {f"c{index}": name for index, (name, _) in enumerate(columns)}
    return msgspec.defstruct(
        "Message", fields, rename=renamed.__getitem__, forbid_unknown_fields=True, gc=False, kw_only=True
    )


@lru_cache(maxsize=256)
def _decoder_of(struct: Any) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(struct)


@lru_cache(maxsize=256)
def _row_struct(columns: tuple[tuple[str, str], ...], types_within: str | None, *, required: bool) -> Any:
    """Return the struct of a row by names and decoders; types inside the image are its last field.

    Both images, layouts of several subjects and tasks of one process have rows of the same struct.
    """
    fields = _column_fields([decoder for _, decoder in columns], required=required)
    renamed = {f"c{index}": name for index, (name, _) in enumerate(columns)}
    if types_within is not None:
        fields.append((TYPES_FIELD, decoder_kinds.TYPES[decoder_kinds.RAW], UNSET))
        renamed[TYPES_FIELD] = types_within
    return msgspec.defstruct("Row", fields, rename=renamed.__getitem__, forbid_unknown_fields=True, gc=False)


def _column_fields(decoders: Sequence[str], *, required: bool) -> list[Any]:
    kinds = [(f"c{index}", decoder_kinds.TYPES[decoder]) for index, decoder in enumerate(decoders)]
    return [*kinds] if required else [(*field, UNSET) for field in kinds]


def decoder_of_schema(schema: Mapping[str, Any]) -> str:
    """Return the decoder of an envelope member."""
    kinds = schema.get("type", [])
    wanted = frozenset([kinds] if isinstance(kinds, str) else kinds) - {"null"}
    return _DECODERS_OF_TYPES.get(wanted, decoder_kinds.RAW)
