"""Row images: which members of the messages hold rows, and which hold the types and codes of columns."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from cdc_contracts.registry.authoring.drafting.message_members import Members, ObservedMember, Parts, words_of
from cdc_contracts.registry.authoring.drafting.object_texts import read_object
from cdc_contracts.registry.authoring.drafting.type_places import (
    BLOCK,
    TypesPlace,
    are_blocks,
    are_types_objects,
    find_block_types,
    find_described,
    find_types,
    hold_types,
    list_types,
    name_types,
    names_in,
    share_of,
    types_within,
)
from cdc_contracts.registry.core.common.json_messages import kind_of
from cdc_contracts.registry.core.common.pointers import join_pointer
from cdc_contracts.registry.core.values import Number

BEFORE: Final = frozenset({"before", "old", "prev", "previous", "pre", "undo"})
AFTER: Final = frozenset({"after", "new", "post", "current", "cur", "redo"})
_ROWS: Final = frozenset({
    "data", "row", "rows", "record", "records", "values", "value", "columns", "image", "fields", "body", "doc",
})  # fmt: skip
SIDE: Final = 2
"""How clearly a name suggests rows that says on which side of a change they are."""
_NAMES: Final = frozenset({"name", "column", "col", "field"})


TEXTS: Final = "texts of objects"
"""What members hold that are images as JSON texts."""
JSON_TEXT: Final = "json-text"
"""The container of such images."""


@dataclass(frozen=True)
class UnreadableRows:
    """What a member holds that looks like rows and cannot be read as rows, where, and the names of its plain values."""

    holds: str
    place: str
    plain: frozenset[str] = frozenset()
    by_columns: bool = False
    """Whether they are rows with arrays or objects as values, so that a contract can keep these as JSON."""
    objects: tuple[tuple[str, int], ...] = ()
    """The values that are objects, by name, with the number of different members of each."""

    @property
    def can_be_read(self) -> bool:
        """Whether they are read once it is known that the member holds rows: they are whole, but hard to tell."""
        return self.by_columns or self.holds == TEXTS

    def says(self, parts: Parts) -> str:
        """Return why no contract can express the member at a place."""
        return f"{join_pointer(*parts)} holds {self.holds} (as in {self.place})"


@dataclass
class RowPlaces:
    """The members that hold rows, in order of their places, and their neighbours."""

    container: str = "object"
    images: list[Parts] = field(default_factory=list)
    types: TypesPlace | None = None
    types_in_image: tuple[str, str] | None = None
    blocks: tuple[Parts, ...] = ()
    """Schema blocks: what is in them describes members, and is none."""
    described: dict[Parts, Parts] = field(default_factory=dict)
    """The objects that a schema block beside them describes, and so may be rows, with the block of each."""
    codes: Parts | None = None
    flattened: Parts | None = None
    """The row with parts of the envelope among its columns: the message itself, or what a schema block describes."""
    not_columns: tuple[str, ...] = ()
    """The members of this row that are no columns."""
    refused: dict[Parts, UnreadableRows] = field(default_factory=dict)
    """Members that look like rows and cannot be read as rows."""
    refused_beside: tuple[Parts, ...] = ()
    """Objects because of which the message itself is not read as a row: any of them could be the row."""
    mixed: bool = False
    """Whether some images are objects and others are lists."""
    columns: frozenset[str] = frozenset()
    """The names of all columns of the images."""
    structures: frozenset[str] = frozenset()
    """Of `array` and `object` those that columns of the images hold as values."""
    guessed: bool = False
    """Whether no name says which members hold rows."""

    @property
    def named(self) -> list[Parts]:
        """The members whose own name says that they are the row of one side, readable or not, but for their columns."""
        rows = [*self.images, *(parts for parts, one in self.refused.items() if one.can_be_read)]
        named = [parts for parts in rows if hint_of(parts, own=True) == SIDE]
        return [parts for parts in named if not _is_inside(parts, named)]

    def may_be_column(self, parts: Parts) -> bool:
        """Return whether a member is in one whose name says that it is a row, with no member in it that may be one."""
        rows = [*self.images, *(one for one, why in self.refused.items() if why.by_columns)]
        named = [one for one in rows if one and hint_of(one, own=True)]
        around = [one for one in named if one == parts[: len(one)] != parts]
        return any(not any(one == other[: len(one)] != other for other in named) for one in around) or any(
            hint_of(one, own=True) == SIDE for one in around
        )

    def name_in_flattened(self, parts: Parts) -> str | None:
        """Return which member of the flattened row a place is, or is in; None if it is outside of the row."""
        at = self.flattened
        return parts[len(at)] if at is not None and at == parts[: len(at)] != parts else None

    def rows(self, value: Any) -> list[dict[str, Any]]:
        """Return the rows of an image, without what is no column."""
        hidden = {*self.not_columns, *((self.types_in_image[0],) if self.types_in_image else ())}
        held = [value] if isinstance(value, dict) else value if isinstance(value, list) else []
        rows = [{name: one for name, one in row.items() if name not in hidden} for row in held if isinstance(row, dict)]
        return [row for row in rows if row]


def find_rows(members: Members, wide: Collection[Parts] = (), texts: Collection[Parts] = ()) -> RowPlaces:
    """Return the members that hold rows; none if there is none.

    `wide` are members known to hold rows, whose columns may be arrays or objects: what is inside them is a column.
    `texts` are those of them that were texts.
    """
    places = RowPlaces()
    blocks = [member.parts for member in members if member.is_only("object") and are_blocks(members, member.parts)]
    places.blocks, places.described = tuple(blocks), find_described(members, blocks)
    outside = [member.parts for member in members if not _is_inside(member.parts, [*wide, *blocks])]
    outside = [parts for parts in outside if parts not in blocks]
    held = {
        parts: rows
        for parts in outside
        if (rows := _rows_of(members, parts, places, is_wide=parts in wide)) is not None
    }
    held = {parts: rows for parts, rows in held.items() if not _is_column(parts, places)}
    typed = {parts for parts, rows in held.items() if hold_types(rows)}
    coded = {parts for parts, rows in held.items() if _hold_codes(rows)}
    listed = {parts for parts, rows in held.items() if parts not in typed and list_types(members, parts, rows)}
    images = _choose(members, {parts: rows for parts, rows in held.items() if parts not in typed | listed})
    columns = {name for parts in images for row in held[parts] for name in row}
    images = [parts for parts in images if parts not in coded or not _are_codes(held, parts, images)]
    places.images = images
    places.columns = frozenset(name for parts in images for row in held[parts] for name in row)
    places.structures = structures_in(value for parts in images for row in held[parts] for value in row.values())
    places.guessed = bool(images) and not any(hint_of(parts) for parts in images)
    places.types_in_image = types_within(members, images)
    late = sorted(images, key=lambda parts: not words_of_image(parts) & AFTER)
    if places.types_in_image is None:
        places.types = find_block_types(members, blocks, late) or find_types(members, held, typed, images)
    beside = [parts for parts in coded if parts not in images and share_of(names_in(held[parts]), columns) > 1 / 2]
    places.codes = beside[0] if beside else None
    _set_container(members, places)
    if places.container == "object" and not {*images}.isdisjoint(texts):
        places.container, places.structures = JSON_TEXT, frozenset({"array", "object"})
    return places


def take_flattened(
    places: RowPlaces, members: Members, at: Parts, names: Collection[str], named: Collection[str]
) -> None:
    """Take what is at a place for the row: `names` are its members, and `named` those that are no columns."""
    columns, block = {*names} - {*named}, places.described.get(at)
    typed = (name for name in names if name in columns and name_types(members, (*at, name), columns))
    types = next(typed, None) if block is None else None
    places.types = None if types is None else TypesPlace((*at, types), "name-to-type")
    if block is not None:
        places.types = TypesPlace(block, BLOCK)
    places.not_columns = tuple(dict.fromkeys([*named, *([] if types is None else [types])]))
    places.columns = frozenset(columns - {types})
    places.images, places.flattened, places.container = [at], at, "object"
    places.refused, places.types_in_image, places.codes = {}, None, None
    places.guessed = places.mixed = False


def _is_column(parts: Parts, places: RowPlaces) -> bool:
    """Return whether a member is in one that is named like the row of one side and has values of its own."""
    above = (parts[:end] for end in range(1, len(parts)))
    return any(one in places.refused and places.refused[one].plain and hint_of(one, own=True) == SIDE for one in above)


def structures_in(values: Iterable[Any]) -> frozenset[str]:
    """Return the kinds of the arrays and objects among values of columns."""
    return frozenset(kind_of(value) for value in values if isinstance(value, list | dict))


def _is_inside(parts: Parts, others: Collection[Parts]) -> bool:
    return any(parts[:end] in others for end in range(1, len(parts)))


def _rows_of(members: Members, parts: Parts, places: RowPlaces, *, is_wide: bool) -> list[dict[str, Any]] | None:
    """Return the rows that a member holds in all messages; None if some value is no row.

    Values of columns are arrays or objects only where the member is known to hold rows (`is_wide`).
    """
    found: list[dict[str, Any]] = []
    for message, value in members.values(parts):
        rows = [value] if isinstance(value, dict) else value if isinstance(value, list) else None
        if rows is None or not all(isinstance(row, dict) for row in rows):
            if rows and _looks_like_cells(rows):
                texts = frozenset(row for row in rows if isinstance(row, str))
                plain = texts if len(texts) == len(rows) else frozenset()
                places.refused[parts] = UnreadableRows("arrays of values", message.place, plain)
            elif isinstance(value, str) and hint_of(parts, own=True) == SIDE and _has_object(members[parts]):
                places.refused[parts] = UnreadableRows(TEXTS, message.place)
            return None
        if isinstance(value, list) and rows and _are_cells(rows):
            places.refused[parts] = UnreadableRows("lists of objects, one for each column", message.place)
            return None
        found += rows
    nested = {name for row in found for name, one in row.items() if isinstance(one, dict | list)}
    types = {name for name in nested if are_types_objects([row[name] for row in found if name in row])}
    if nested - types and not is_wide:
        plain = frozenset(name for row in found for name, one in row.items() if not isinstance(one, dict | list | None))
        first = next(message.place for message, value in members.values(parts) if _has_any(value, nested - types))
        objects = {name: {key for row in found for one in _objects(row.get(name)) for key in one}
                   for name in sorted(nested)}  # fmt: skip
        sizes = tuple((name, len(keys)) for name, keys in objects.items() if keys)
        places.refused[parts] = UnreadableRows(
            "rows with arrays or objects as values", first, plain - nested, by_columns=True, objects=sizes
        )
        return None
    return [{name: one for name, one in row.items() if name not in types} for row in found if row] or None


def _has_object(member: ObservedMember) -> bool:
    """Return whether some text of a member holds an object."""
    return any(read_object(text) is not None for text in member.texts)


def _objects(value: Any) -> list[dict[str, Any]]:
    """Return an object, or those that a list consists of; none of any other value."""
    held = value if isinstance(value, list) else [value]
    return held if all(isinstance(one, dict) for one in held) else []


def _has_any(value: Any, names: set[str]) -> bool:
    """Return whether an object, or one in a list, has an array or an object under one of some names."""
    rows = value if isinstance(value, list) else [value]
    return any(isinstance(row.get(name), dict | list) for row in rows for name in names)


def _looks_like_cells(rows: list[Any]) -> bool:
    return all(not isinstance(row, dict) for row in rows)


def _are_cells(rows: list[dict[str, Any]]) -> bool:
    """Return whether a list of objects is one row, each object the name and the value of a column."""
    keys = {frozenset(row) for row in rows}
    if len(keys) != 1:
        return False
    names = {name for name in next(iter(keys)) if words_of(name)[-1:] and words_of(name)[-1] in _NAMES}
    values = {name for name in next(iter(keys)) if {"value", "val", "v"} & {*words_of(name)}}
    return bool(names) and bool(values)


def _hold_codes(rows: list[dict[str, Any]]) -> bool:
    values = [value for row in rows for value in row.values()]
    return bool(values) and all(isinstance(one, Number) and one.token.lstrip("-").isdigit() for one in values)


def _are_codes(held: dict[Parts, list[dict[str, Any]]], parts: Parts, images: list[Parts]) -> bool:
    """Return whether a member of whole numbers names the columns of others instead of holding a row itself."""
    others = {name for other in images if other != parts for row in held[other] for name in row}
    return not hint_of(parts) and bool(others) and share_of(names_in(held[parts]), others) == 1


def words_of_image(parts: Parts) -> frozenset[str]:
    """Return the words of the name of an image, and of the member that it is in."""
    return frozenset(word for part in parts[-2:] for word in words_of(part))


def hint_of(parts: Parts, *, own: bool = False) -> int:
    """Return how clearly a name suggests rows: 2 if it names a side, 1 if it means data, else 0.

    The name of the member above counts too, unless only the `own` one is to.
    """
    mine = frozenset(word for name in parts[-1:] for word in words_of(name))
    words = mine if own else words_of_image(parts)
    return SIDE if words & (BEFORE | AFTER) else 1 if mine & _ROWS else 0


def _choose(members: Members, held: dict[Parts, list[dict[str, Any]]]) -> list[Parts]:
    """Return the members that hold rows, by their names and by the columns they share."""
    hints = {parts: hint_of(parts) for parts in held}
    best = max(hints.values(), default=0)
    chosen = [parts for parts in held if hints[parts] == best and best]
    if best == 1:
        deepest = [parts for parts in chosen if not any(parts == other[: len(parts)] != other for other in chosen)]
        chosen = deepest or chosen
    if best == SIDE and all(words_of_image(parts) & BEFORE for parts in chosen):  # the other side is called data
        data = [parts for parts in held if hints[parts] == 1]
        chosen += [parts for parts in data if any(parts[:-1] == one[:-1] for one in chosen)] or data
    if not chosen:
        chosen = _by_variety(members, held)
    columns = {name for parts in chosen for row in held[parts] for name in row}
    kinds = {kind for parts in chosen for kind in members[parts].kinds}
    for parts, rows in held.items():
        names, most = names_in(rows), 1 / 2
        likely = share_of(names, columns) > most or (hints[parts] > 0 and share_of(columns, names) > most)
        alike = {*members[parts].kinds} - {"null"} <= kinds  # objects beside objects, lists beside lists
        if parts not in chosen and likely and alike and not _hold_codes(rows):
            chosen.append(parts)
    return [member.parts for member in members if member.parts in chosen]


def _by_variety(members: Members, held: dict[Parts, list[dict[str, Any]]]) -> list[Parts]:
    """Return the member whose objects have the most different columns, if no name helps."""
    varied = {parts: len({frozenset(row) for row in rows}) for parts, rows in held.items() if len(rows[0]) > 1}
    if not varied:
        return []
    most = max(varied.values())
    best = [parts for parts, number in varied.items() if number == most]
    return best[:1] if len(best) == 1 else []


def _set_container(members: Members, places: RowPlaces) -> None:
    """Find how images hold their rows, which has to be the same for all."""
    sizes: set[int] = set()
    kinds: set[str] = set()
    for parts in places.images:
        for _, value in members.values(parts):
            kinds.add("list" if isinstance(value, list) else "object")
            if isinstance(value, list):
                sizes.add(len(value))
    places.mixed = kinds == {"object", "list"}
    places.container = "object" if "list" not in kinds else "list-of-one" if sizes <= {0, 1} else "list-of-rows"
