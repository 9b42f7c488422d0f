"""Layouts: a contract compiled to msgspec structs, for messages whose rows have the same columns.

A shape is what a message says of its columns (its type map, or its table where it has none). The envelope comes from
`envelope.schema.json`, the columns from the shape, their lanes from the value forms of all versions of the subject.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Final

import msgspec
from msgspec import UNSET

from cdc_contracts.registry.common.pointers import join_pointer, split_pointer
from cdc_contracts.registry.contract.discriminators import pointers_of
from cdc_contracts.registry.contract.document_model import ROW_OPS
from cdc_contracts.registry.contract.envelope_model import Place
from cdc_contracts.registry.contract.model import Meaning
from cdc_contracts.registry.contract.relations import Relation, is_number, relations_of
from cdc_contracts.registry.engine import decoder_kinds
from cdc_contracts.registry.message.reading import members_beside
from cdc_contracts.registry.validate.cross_field_checks import reads_of
from cdc_contracts.registry.validate.rule_inputs import join_reads
from cdc_contracts.registry.values import Context, ValueForm
from cdc_contracts.registry.values.type_bounds import TypeBound

TYPES_FIELD: Final = "types"
_LANES_OF_TYPES: Final = {
    frozenset({"string"}): decoder_kinds.TEXT,
    frozenset({"integer"}): decoder_kinds.INT,
    frozenset({"boolean"}): decoder_kinds.BOOL,
    frozenset({"string", "integer"}): decoder_kinds.TEXT_OR_INT,
}

_CLOSE: Final = {"name-to-type": b"}", "list-of-objects": b"]", "name-to-object": b"}}"}
_BOUNDS: Final = frozenset({"enum", "const", "pattern", "minimum", "minItems", "maxItems", "$ref"})


@dataclass(frozen=True)
class FormUse:
    """A form as one version uses it; a lenient use keeps broken text as it was sent.

    `declared` where a table contract tells the type of the column, `bound` what of it a value may break.
    """

    form: ValueForm
    context: Context
    lenient: bool
    bound: TypeBound | None = None
    declared: bool = False


@dataclass(frozen=True)
class LayoutColumn:
    """A column of a shape: its lane, and how each version reads its values (None: the version does not know the type).

    `typed` is False for a column that the message has no type for, `by_kind` True where that is how the dialect is:
    each value is then read by its JSON kind, and `by_kind` columns have the uses for text, number and boolean.
    `sure` is False while only nulls were seen in a column that is read by kind. `never_null` where a table contract
    says so.
    """

    name: str
    decoder: str
    uses: tuple[FormUse | None, ...]
    typed: bool = True
    by_kind: bool = False
    sure: bool = True
    never_null: bool = False


@dataclass(frozen=True)
class Leaf:
    """A member of the envelope that is not taken apart; `told` where the shape already says its value."""

    pointer: str
    decoder: str
    told: bool = False


@dataclass(frozen=True)
class Image:
    """A member that holds rows.

    `full`: every row has every column. `partial`: it may hold the changed columns only, but not for the op codes in
    `whole_for` (at `op_at`).
    `told` are the columns that the schema itself speaks of, as it does of a DDL statement in the place of a row.
    """

    pointer: str
    columns: tuple[LayoutColumn, ...]
    full: bool
    partial: bool
    op_at: str
    whole_for: frozenset[str]
    told: frozenset[str]


@dataclass(frozen=True)
class Nested:
    """An object of the envelope with members of its own."""

    pointer: str
    parts: tuple[Part, ...]


Part = Leaf | Image | Nested


@dataclass(frozen=True, eq=False)
class Layout:
    """A compiled message: `decode` turns bytes into nested structs whose fields follow `parts`.

    `decode_lines` does so for many messages at once. Shapes of one `family` have the same types and columns.
    """

    parts: tuple[Part, ...]
    decode: Any
    decode_lines: Any
    family: int

    def leaves(self) -> Iterator[Leaf]:
        yield from _walk(self.parts, Leaf)

    def images(self) -> Iterator[Image]:
        yield from _walk(self.parts, Image)


@dataclass(eq=False)
class RowShape:
    """Messages whose rows have the same columns: what they say of them, and the layouts that decode them.

    `strict` demands every column in images that are full; `loose` takes any subset and has learnt what the
    strict one refused.
    """

    key: tuple[Any, ...]
    columns: list[LayoutColumn]
    strict: Layout | None = None
    loose: Layout | None = None
    built_for: int = -1
    refusals: int = 0
    lessons: int = 0

    @cached_property
    def by_name(self) -> dict[str, int]:
        """Where each column is."""
        return {column.name: index for index, column in enumerate(self.columns)}

    def copy(self, key: tuple[Any, ...]) -> RowShape:
        """Return the shape of other messages with the same columns, which may learn others from here on."""
        return RowShape(key, [*self.columns], self.strict, self.loose, self.built_for)


@dataclass(frozen=True)
class LayoutPlan:
    """What the versions of a subject have in common of the envelope, as far as parsing needs it.

    `plain_names` are names of which a verdict can depend on no more than how they are built, but for table contracts.
    """

    properties: Mapping[str, Any]
    images: tuple[str, ...]
    partial: frozenset[str]
    over: Mapping[str, frozenset[str]]
    op_at: str
    whole_for: Mapping[str, frozenset[str]]
    told: Mapping[str, frozenset[str]]
    one_row: bool
    types_at: tuple[str, ...]
    types_within: str | None
    types_close: bytes
    type_members: tuple[str | None, str | None]
    names_at: tuple[str, ...]
    plain_names: frozenset[str]
    by_kind: bool
    discrete: frozenset[str]
    constraints: Mapping[str, tuple[tuple[str, Any], ...]]
    filled: tuple[str, ...]
    whole_seconds_at: tuple[str, ...]
    times: tuple[Place, ...]
    relations: tuple[Relation, ...]

    def build(
        self, shape: RowShape, extras: Sequence[str], widened: frozenset[str], *, loose: bool, family: int
    ) -> Layout:
        """Return the layout of a shape; `extras` are members the contract does not know, `widened` take any kind."""
        parts, struct = self._struct("", self.properties, shape, extras, widened, loose=loose)
        decoder = msgspec.json.Decoder(struct)
        return Layout(parts, decoder.decode, decoder.decode_lines, family)

    def _struct(
        self, at: str, properties: Mapping[str, Any], shape: RowShape, extras: Sequence[str], widened: frozenset[str],
        *, loose: bool,
    ) -> tuple[tuple[Part, ...], Any]:  # fmt: skip
        parts: list[Part] = []
        fields: list[tuple[str, Any, Any]] = []
        names: list[str] = []
        own_extras = [pointer for pointer in extras if pointer.rpartition("/")[0] == at]
        for name, schema in [*properties.items(), *((split_pointer(extra)[-1], None) for extra in own_extras)]:
            pointer = at + join_pointer(name)
            names.append(name)
            if pointer in self.images:
                columns = tuple(column for column in shape.columns if loose or column.typed or column.by_kind)
                full = not loose and pointer not in self.partial
                row = _row_struct(
                    tuple((column.name, column.decoder) for column in columns), self.types_within, required=full
                )
                kind = (row if self.one_row else list[row]) | msgspec.UnsetType | None  # type: ignore[valid-type]
                parts.append(self._image(pointer, columns, full=full))
            elif schema is not None and "properties" in schema and pointer not in widened:
                below, struct = self._struct(pointer, schema["properties"], shape, extras, widened, loose=loose)
                kind = struct | msgspec.UnsetType | None
                parts.append(Nested(pointer, below))
            else:
                decoder = decoder_kinds.WIDE if schema is None or pointer in widened else decoder_of_schema(schema)
                kind = decoder_kinds.TYPES[decoder]
                parts.append(Leaf(pointer, decoder, told=pointer in self.types_at and decoder == decoder_kinds.RAW))
            fields.append((f"f{len(fields)}", kind, UNSET))
        renamed = {f"f{index}": name for index, name in enumerate(names)}
        if at in self.images:  # the message itself is the row: its columns stand beside the members
            columns = tuple(column for column in shape.columns if loose or column.typed or column.by_kind)
            fields += _column_fields([column.decoder for column in columns], required=not loose)
            renamed |= {f"c{index}": column.name for index, column in enumerate(columns)}
            parts.append(self._image(at, columns, full=not loose))
        struct = msgspec.defstruct(
            "Message", fields, rename=renamed.__getitem__, forbid_unknown_fields=True, gc=False, kw_only=True
        )
        return tuple(parts), struct

    def _image(self, pointer: str, columns: tuple[LayoutColumn, ...], *, full: bool) -> Image:
        partial, whole_for, result = pointer in self.partial, self.whole_for[pointer], self.told[pointer]
        return Image(pointer, columns, full, partial, self.op_at, whole_for, result)


def make_plan(meanings: Sequence[Meaning], schemas: Sequence[Mapping[str, Any]]) -> LayoutPlan | None:
    """Return what parsing needs of the versions of a subject, or None where they place their rows too differently."""
    first = meanings[-1]
    alike = {(meaning.images.container, meaning.columns.model_dump_json(include={"types"})) for meaning in meanings}
    if len(alike) > 1:
        return None
    types = first.columns.types
    images = tuple(dict.fromkeys(at for meaning in meanings for at in meaning.images.pointers()))
    properties: dict[str, Any] = {}
    for schema in schemas:
        properties = _unite(properties, schema.get("properties", {}))
    reads = join_reads(map(reads_of, meanings))
    discrete = {*reads.values, *(at for meaning in meanings for at in _discrete(meaning))}
    constraints: dict[str, dict[tuple[str, Any], None]] = {}
    for schema in schemas:
        for pointer, keyword, value in _constraints(schema, ""):
            if keyword in ("enum", "const"):
                discrete.add(pointer)
            else:
                constraints.setdefault(pointer, {})[keyword, value] = None
    for pointer, pattern in reads.patterns:
        constraints.setdefault(pointer, {})["pattern", pattern] = None
    discrete |= {at for schema in schemas for at in _bounded_within(schema, "") if at not in images}
    names = frozenset(at for meaning in meanings for at in _names_at(meaning))
    return LayoutPlan(
        properties=properties,
        images=images,
        partial=_partial(first),
        over={at: frozenset(below for meaning in meanings for below in _places_below(meaning, at)) for at in images},
        op_at=first.envelope.op.at,
        whole_for={
            at: frozenset(code for meaning in meanings for code in _codes_of_whole(meaning, at)) for at in images
        },
        told={
            at: frozenset(name for schema in schemas for name in _told_columns(schema, at)) - members_beside(first, at)
            for at in images
        },
        one_row=first.images.hold_one_row,
        types_at=_types_at(first, images),
        types_within=None if types == "none" else types.in_image,
        types_close=b"}" if types == "none" else _CLOSE[types.reading],
        type_members=(None, None) if types == "none" else (types.name, types.type),
        names_at=_names_at(first),
        plain_names=names - discrete if len({_names_read(meaning) for meaning in meanings}) == 1 else frozenset(),
        by_kind=first.values.kind_at is not None,
        discrete=names | discrete,
        constraints={pointer: tuple(found) for pointer, found in constraints.items()},
        filled=tuple(dict.fromkeys((*reads.filled, *_statements(meanings)))),
        whole_seconds_at=reads.seconds,
        times=tuple(dict.fromkeys(place for meaning in meanings for place in meaning.envelope.times)),
        relations=tuple({
            (relation.name, relation.places): relation
            for relation in (*reads.relations, *(one for meaning in meanings for one in relations_of(meaning)))
        }.values()),
    )  # fmt: skip


def _types_at(meaning: Meaning, images: Sequence[str]) -> tuple[str, ...]:
    """Where types may stand; those of rows after a change come before those of rows before it."""
    types = meaning.columns.types
    if types == "none":
        return ()
    if types.at is not None:
        return (types.at,)
    after = [side.at for op in ROW_OPS if (sides := meaning.images.of(op)) and (side := sides.after)]
    return tuple(f"{at}{join_pointer(types.in_image or '')}" for at in dict.fromkeys([*after, *images]))


def can_be_field(name: str) -> bool:
    """Say whether the parser can look for a member of that name; records with others are for the reference."""
    return not any(character in '\\"' or character < " " for character in name)


@lru_cache(maxsize=256)
def _row_struct(columns: tuple[tuple[str, str], ...], types_within: str | None, *, required: bool) -> Any:
    """Return the struct of a row by names and lanes; where types stand in the image they are its last field.

    Both images, layouts of several subjects and tasks of one process have rows of the same struct.
    """
    fields = _column_fields([decoder for _, decoder in columns], required=required)
    renamed = {f"c{index}": name for index, (name, _) in enumerate(columns)}
    if types_within is not None:
        fields.append((TYPES_FIELD, decoder_kinds.TYPES[decoder_kinds.RAW], UNSET))
        renamed[TYPES_FIELD] = types_within
    return msgspec.defstruct("Row", fields, rename=renamed.__getitem__, forbid_unknown_fields=True, gc=False)


def _column_fields(lanes_of: Sequence[str], *, required: bool) -> list[Any]:
    kinds = [(f"c{index}", decoder_kinds.TYPES[decoder]) for index, decoder in enumerate(lanes_of)]
    return [*kinds] if required else [(*field, UNSET) for field in kinds]


def decoder_of_schema(schema: Mapping[str, Any]) -> str:
    """Return the lane of an envelope member."""
    kinds = schema.get("type", [])
    wanted = frozenset([kinds] if isinstance(kinds, str) else kinds) - {"null"}
    return _LANES_OF_TYPES.get(wanted, decoder_kinds.RAW)


def _unite(left: Mapping[str, Any], right: Mapping[str, Any]) -> dict[str, Any]:
    """Two versions' properties as one: a member that both have takes the kinds of both."""
    united = dict(left)
    for name, schema in right.items():
        if name not in united:
            united[name] = schema
            continue
        mine = united[name]
        kinds = {
            kind
            for one in (mine, schema)
            for kind in ([one["type"]] if isinstance(one.get("type"), str) else one.get("type", []))
        }
        merged = {**mine, **schema, "type": sorted(kinds)}
        if "properties" in mine or "properties" in schema:
            merged["properties"] = _unite(mine.get("properties", {}), schema.get("properties", {}))
        united[name] = merged
    return united


def _partial(meaning: Meaning) -> frozenset[str]:
    """Images that may hold the changed columns only."""
    partial = set()
    for op in ("insert", "update", "delete", "snapshot", "upsert", "update-before", "update-after"):
        sides = meaning.images.of(op)
        for side in (sides.before, sides.after) if sides else ():
            if side is not None and side.over is not None:
                partial.add(side.at)
    return frozenset(partial)


def _places_below(meaning: Meaning, pointer: str) -> Iterator[str]:
    """Yield the images that complete a partial image."""
    for op in ROW_OPS:
        sides = meaning.images.of(op)
        for side in (sides.before, sides.after) if sides else ():
            if side is not None and side.at == pointer and side.over is not None:
                yield side.over


def _codes_of_whole(meaning: Meaning, pointer: str) -> Iterator[str]:
    """The op codes for which an image holds a whole row."""
    flags = meaning.envelope.op.flags
    for code, op in meaning.ops.items():
        for reached in (op, *(flag.means for flag in flags if flag.of is None or op in flag.of)):
            sides = meaning.images.of(reached)
            for side in (sides.before, sides.after) if sides else ():
                if side and ((side.at == pointer and side.over is None) or side.either == pointer):
                    yield code


def _told_columns(schema: Mapping[str, Any], pointer: str) -> Iterator[str]:
    """The names that a schema or one of its branches has below an image."""
    below: Any = schema
    for part in split_pointer(pointer):
        below = below.get("properties", {}).get(part, {})
    yield from below.get("properties", ())
    for branch in schema.get("allOf", ()):
        yield from _told_columns(branch.get("then", {}), pointer)


def _statements(meanings: Sequence[Meaning]) -> Iterator[str]:
    """Where statements stand: a message is DDL or not whatever they say, and is counted by whether there is one."""
    for meaning in meanings:
        if meaning.ddl and meaning.ddl.text and meaning.ddl.text.at:
            yield meaning.ddl.text.at


def _names_at(meaning: Meaning) -> tuple[str, ...]:
    """Where a message says its table, and the kind of its source where that decides how values are read."""
    names = tuple(place.at for place in _names_read(meaning) if place is not None and place.at is not None)
    return names if meaning.values.kind_at is None else (*names, meaning.values.kind_at)


def _names_read(meaning: Meaning) -> tuple[Place | None, ...]:
    """How a message's database, schema and table are read."""
    envelope = meaning.envelope
    return envelope.database, envelope.schema_name, envelope.table, envelope.database_table


def _discrete(meaning: Meaning) -> Iterator[str]:
    """Members whose very value a verdict may depend on, besides the names of its table."""
    envelope, columns = meaning.envelope, meaning.columns
    yield envelope.op.at
    yield from (flag.at for flag in envelope.op.flags if not is_number(flag.equals))
    yield from meaning.enums
    source = envelope.source_kind
    if source is not None and source.at is not None and (source.kinds or source.never):
        yield source.at
    if meaning.values.kind_at is not None:
        yield meaning.values.kind_at
    if envelope.primary_key and envelope.primary_key.at:
        yield envelope.primary_key.at
    if columns.codes:
        yield columns.codes.at
    if columns.types != "none" and columns.types.at:
        yield columns.types.at
    for test in meaning.discriminators:
        for one in (test, *(test.any or ())):
            valued = one.equals or one.within or one.outside  # a prefix is a relation: marked, not told apart by value
            if valued:
                yield from pointers_of([one])


def _constraints(schema: Any, at: str) -> Iterator[tuple[str, str, Any]]:
    """Every constraint on a member that looks at its value, wherever it stands: `(pointer, keyword, value)`."""
    if not isinstance(schema, dict):
        return
    for keyword in ("pattern", "minimum"):
        if keyword in schema:
            yield at, keyword, schema[keyword]
    for keyword in ("enum", "const"):
        if keyword in schema:
            yield at, keyword, None
    for name, below in schema.get("properties", {}).items():
        yield from _constraints(below, at + join_pointer(name))
    for branch in schema.get("allOf", ()):
        yield from _constraints(branch.get("if"), at)
        yield from _constraints(branch.get("then"), at)


def _bounded_within(schema: Mapping[str, Any], at: str) -> Iterator[str]:
    """Yield the lists and maps whose values a schema bounds by more than their kind."""
    for name, below in schema.get("properties", {}).items():
        pointer = at + join_pointer(name)
        if "properties" in below:
            yield from _bounded_within(below, pointer)
        elif any(_has_bound(below.get(part)) for part in ("items", "additionalProperties")):
            yield pointer


def _has_bound(schema: Any) -> bool:
    if not isinstance(schema, dict):
        return False
    return not _BOUNDS.isdisjoint(schema) or any(
        _has_bound(below)
        for below in (schema.get("items"), schema.get("additionalProperties"), *schema.get("properties", {}).values())
    )


def _walk(parts: tuple[Part, ...], kind: Any) -> Iterator[Any]:
    for part in parts:
        if isinstance(part, kind):
            yield part
        elif isinstance(part, Nested):
            yield from _walk(part.parts, kind)
