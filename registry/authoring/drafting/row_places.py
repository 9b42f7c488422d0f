"""Row images: which members of the messages hold rows, and which hold the types and codes of columns."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from cdc_contracts.registry.authoring.drafting.message_members import Members, Parts, words_of
from cdc_contracts.registry.core.common.pointers import ABSENT, join_pointer
from cdc_contracts.registry.core.values import Number

BEFORE: Final = frozenset({"before", "old", "prev", "previous", "pre", "undo"})
AFTER: Final = frozenset({"after", "new", "post", "current", "cur", "redo"})
_ROWS: Final = frozenset({
    "data", "row", "rows", "record", "records", "values", "value", "columns", "image", "fields", "body", "doc",
})  # fmt: skip
SIDE: Final = 2
"""How clearly a name suggests rows that says on which side of a change they are."""
_MOST_KNOWN: Final = 0.8
"""An object of texts of which more than this share are names of types holds types."""
_NAMES: Final = frozenset({"name", "column", "col", "field"})
_TYPE_NAME: Final = re.compile(
    r"(?i)u?(tiny|small|medium|big)?int(eger)?|integer|number|numeric|decimal|dec|float|double|real|bit|bool(ean)?|year|"
    r"n?var(char2?|binary)|n?char|character|binary|(tiny|medium|long)?(text|blob)|clob|raw|date|time|datetime|"
    r"timestamp(tz)?|json|enum|set|string|bytes|long|interval|geometry|uuid|serial"
)

_SIGN: Final = re.compile(r"(?i)^(un)?signed ")


@dataclass(frozen=True)
class TypesPlace:
    """Where the types of columns are: their place, how they are written, and the members with name and type."""

    parts: Parts
    reading: str
    name: str | None = None
    type: str | None = None


@dataclass(frozen=True)
class UnreadableRows:
    """What a member holds that looks like rows and cannot be read as rows, where, and the names of its plain values."""

    holds: str
    place: str
    plain: frozenset[str] = frozenset()

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
    codes: Parts | None = None
    not_columns: tuple[str, ...] = ()
    refused: dict[Parts, UnreadableRows] = field(default_factory=dict)
    """Members that look like rows and cannot be read as rows."""
    refused_beside: tuple[Parts, ...] = ()
    """Arrays and objects because of which the message itself is not read as a row."""
    mixed: bool = False
    """Whether some images are objects and others are lists."""
    columns: frozenset[str] = frozenset()
    """The names of all columns of the images."""
    guessed: bool = False
    """Whether no name says which members hold rows."""

    def rows(self, value: Any) -> list[dict[str, Any]]:
        """Return the rows of an image, without what is no column."""
        hidden = {*self.not_columns, *((self.types_in_image[0],) if self.types_in_image else ())}
        held = [value] if isinstance(value, dict) else value if isinstance(value, list) else []
        rows = [{name: one for name, one in row.items() if name not in hidden} for row in held if isinstance(row, dict)]
        return [row for row in rows if row]


def find_rows(members: Members) -> RowPlaces:
    """Return the members that hold rows; none if there is none."""
    places = RowPlaces()
    held = {member.parts: rows for member in members if (rows := _rows_of(members, member.parts, places)) is not None}
    held = {parts: rows for parts, rows in held.items() if not _is_column(parts, places)}
    typed = {parts for parts, rows in held.items() if _hold_types(rows)}
    coded = {parts for parts, rows in held.items() if _hold_codes(rows)}
    listed = {parts for parts, rows in held.items() if parts not in typed and _list_types(members, parts, rows)}
    images = _choose(members, {parts: rows for parts, rows in held.items() if parts not in typed | listed})
    columns = {name for parts in images for row in held[parts] for name in row}
    images = [parts for parts in images if parts not in coded or not _are_codes(held, parts, images)]
    places.images = images
    places.columns = frozenset(name for parts in images for row in held[parts] for name in row)
    places.guessed = bool(images) and not any(hint_of(parts) for parts in images)
    places.types_in_image = _types_within(members, images)
    if places.types_in_image is None:
        places.types = _find_types(members, held, typed, images)
    beside = [parts for parts in coded if parts not in images and _share(_names(held[parts]), columns) > 1 / 2]
    places.codes = beside[0] if beside else None
    _set_container(members, places)
    return places


def _is_column(parts: Parts, places: RowPlaces) -> bool:
    """Return whether a member is in one that is named like the row of one side and has values of its own."""
    above = (parts[:end] for end in range(1, len(parts)))
    return any(one in places.refused and places.refused[one].plain and hint_of(one, own=True) == SIDE for one in above)


def _rows_of(members: Members, parts: Parts, places: RowPlaces) -> list[dict[str, Any]] | None:
    """Return the rows that a member holds in all messages; None if some value is no row."""
    found: list[dict[str, Any]] = []
    for message, value in members.values(parts):
        rows = [value] if isinstance(value, dict) else value if isinstance(value, list) else None
        if rows is None or not all(isinstance(row, dict) for row in rows):
            if rows and _looks_like_cells(rows):
                texts = frozenset(row for row in rows if isinstance(row, str))
                plain = texts if len(texts) == len(rows) else frozenset()
                places.refused[parts] = UnreadableRows("arrays of values", message.place, plain)
            return None
        if isinstance(value, list) and rows and _are_cells(rows):
            places.refused[parts] = UnreadableRows("lists of objects, one for each column", message.place)
            return None
        found += rows
    nested = {name for row in found for name, one in row.items() if isinstance(one, dict | list)}
    types = {name for name in nested if _are_types_objects([row[name] for row in found if name in row])}
    if nested - types:
        plain = frozenset(name for row in found for name, one in row.items() if not isinstance(one, dict | list | None))
        first = next(message.place for message, value in members.values(parts) if _has_any(value, nested - types))
        places.refused[parts] = UnreadableRows("rows with arrays or objects as values", first, plain - nested)
        return None
    return [{name: one for name, one in row.items() if name not in types} for row in found if row] or None


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


def _are_types_objects(values: list[Any]) -> bool:
    """Return whether values are objects of objects of which most name a type, one for each column."""
    if not all(isinstance(value, dict) for value in values):
        return False
    columns = [one for value in values for one in value.values()]
    known = sum(isinstance(one, dict) and any(map(_is_type_name, one.values())) for one in columns)
    return all(isinstance(one, dict) for one in columns) and known > len(columns) / 2


def _is_type_name(value: Any) -> bool:
    if not isinstance(value, str):
        return False
    head = re.split(r"[ (_]", _SIGN.sub("", value.strip()), maxsplit=1)[0]
    return _TYPE_NAME.fullmatch(head) is not None or _TYPE_NAME.fullmatch(re.sub(r"[0-9]+$", "", head)) is not None


def _hold_types(rows: list[dict[str, Any]]) -> bool:
    values = [value for row in rows for value in row.values()]
    known = sum(map(_is_type_name, values))
    return known > _MOST_KNOWN * len(values) and all(isinstance(value, str) for value in values)


def _hold_codes(rows: list[dict[str, Any]]) -> bool:
    values = [value for row in rows for value in row.values()]
    return bool(values) and all(isinstance(one, Number) and one.token.lstrip("-").isdigit() for one in values)


def _are_codes(held: dict[Parts, list[dict[str, Any]]], parts: Parts, images: list[Parts]) -> bool:
    """Return whether a member of whole numbers names the columns of others instead of holding a row itself."""
    others = {name for other in images if other != parts for row in held[other] for name in row}
    return not hint_of(parts) and bool(others) and _share(_names(held[parts]), others) == 1


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
        names, most = _names(rows), 1 / 2
        likely = _share(names, columns) > most or (hints[parts] > 0 and _share(columns, names) > most)
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


def _names(rows: list[dict[str, Any]]) -> set[str]:
    return {name for row in rows for name in row}


def _share(names: set[str], columns: set[str]) -> float:
    return len(names & columns) / len(names) if names else 0


def _types_within(members: Members, images: list[Parts]) -> tuple[str, str] | None:
    """Return the member of every image that holds types, and the member of its objects that names the type."""
    for parts in images:
        for _, value in members.values(parts):
            for row in [value] if isinstance(value, dict) else value:
                for name, one in row.items():
                    if isinstance(one, dict) and one and _are_types_objects([one]):
                        first = next(iter(one.values()))
                        return name, next(key for key, text in first.items() if _is_type_name(text))
    return None


def _list_types(members: Members, parts: Parts, rows: list[dict[str, Any]]) -> bool:
    """Return whether lists of objects name a type in each, and so may be no rows but the columns of rows."""
    if not members[parts].is_only("array"):
        return False
    types = [*_members_like(rows, None, _is_type_name)]
    return bool(types) and any({"type"} & {*words_of(name)} for name in types)


def _find_types(
    members: Members, held: dict[Parts, list[dict[str, Any]]], typed: set[Parts], images: list[Parts]
) -> TypesPlace | None:
    columns = {name for parts in images for row in held[parts] for name in row}
    for parts in typed:
        if _share(_names(held[parts]), columns) > 1 / 2:
            return TypesPlace(parts, "name-to-type")
    for member in members:
        if not member.is_only("array"):
            continue
        listed = [one for _, value in members.values(member.parts) for one in value]
        if not listed or not all(isinstance(one, dict) for one in listed):
            continue
        names, types = list(_members_like(listed, columns, None)), list(_members_like(listed, None, _is_type_name))
        if names and types and _is_beside_rows(members, member.parts, images):
            return TypesPlace(member.parts, "list-of-objects", names[0], types[0])
    return None


def _is_beside_rows(members: Members, parts: Parts, images: list[Parts]) -> bool:
    """Return whether more than half of the messages with rows have a member: DDL may list columns with types too."""
    with_rows = [message for message in members.messages if any(message.at(image) for image in images)]
    return sum(bool(message.at(parts)) for message in with_rows) * 2 > len(with_rows)


def _members_like(listed: list[dict[str, Any]], columns: set[str] | None, test: Any) -> Iterator[str]:
    for name in listed[0]:
        values = [one.get(name, ABSENT) for one in listed]
        if all(value in columns if columns is not None and isinstance(value, str) else test is not None and test(value)
               for value in values):  # fmt: skip
            yield name


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
