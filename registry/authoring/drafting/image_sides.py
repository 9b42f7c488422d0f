"""Image sides: which image of a message is the row before its change and which the row after it, for each op."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from cdc_contracts.registry.authoring.drafting.message_members import Members, Parts, SampleMessage
from cdc_contracts.registry.authoring.drafting.op_codes import OpCodes, holding_images
from cdc_contracts.registry.authoring.drafting.row_places import (
    AFTER,
    BEFORE,
    JSON_TEXT,
    RowPlaces,
    hint_of,
    words_of_image,
)
from cdc_contracts.registry.core.common.pointers import join_pointer, split_pointer
from cdc_contracts.registry.core.contract.document_model import ROW_OPS

_ONLY_BEFORE: Final = ("delete", "update-before")

Sides = dict[str, dict[str, Any]]
"""The before and the after side of an op, as a contract writes them."""


@dataclass
class OpImages:
    """The images of one op, with the number of its messages and the first of them."""

    sides: Sides
    messages: int
    first: str
    in_other_image: Counter[str] = field(default_factory=Counter)
    """In how many messages an image holds a row that is not read, by pointer."""
    without_row: Counter[str] = field(default_factory=Counter)
    """In how many messages a side holds no row, by pointer."""
    by_names: bool = True
    """Whether the names of the images say which row is the one before."""
    against_names: str | None = None
    """The image that is read as the row after the change, although its name says that it is the one before."""
    uneven: bool = False
    """Whether each image of an update has columns that the other does not have."""
    holding: Counter[str] = field(default_factory=Counter)
    """In how many messages each image holds a row, by pointer."""
    of_keys: int = 0
    """In how many messages the key of the record alone has the row."""


def find_sides(members: Members, places: RowPlaces, codes: OpCodes) -> dict[str, OpImages]:
    """Return the images of each op that has rows."""
    before, after, by_names = _roles(members, places, codes)
    found = {}
    for op in ROW_OPS:
        mine = [message for message in members.messages if codes.op(message) == op]
        if mine:
            found[op] = _images_of(op, mine, places, before, after, by_names=by_names)
    return found


class TableRow(NamedTuple):
    """A row after a change: where its message is, what this says of its table, and the row."""

    place: str
    table: object
    row: dict[str, Any]


def rows_after(
    members: Members, places: RowPlaces, sides: Mapping[str, OpImages], names_of: Callable[[SampleMessage], object]
) -> Iterator[TableRow]:
    """Yield the rows after changes, in order, but for those that another image completes."""
    after = [side for one in sides.values() for name, side in one.sides.items() if name == "after"]
    completed = {side["at"] for side in after if "completed_from" in side}
    images = [split_pointer(at) for at in dict.fromkeys(side["at"] for side in after) if at not in completed]
    for message in members.messages:
        for parts in images:
            for row in places.rows(message.at(parts)):
                yield TableRow(message.place, names_of(message), row)


def find_row_without_column(rows: Iterable[TableRow]) -> str | None:
    """Return the place of the first row with other columns than one of its table; None if there is none."""
    columns: dict[object, set[str]] = {}
    return next((place for place, table, row in rows if columns.setdefault(table, {*row}) != row.keys()), None)


def find_gap_in_column(rows: Iterable[TableRow]) -> str | None:
    """Return the place of the first row without a column that rows of its table have before it and behind it."""
    lacking: dict[object, dict[str, str | None]] = {}
    for place, table, row in rows:
        first = lacking.setdefault(table, {})
        gaps = [gap for name in row if (gap := first.setdefault(name, None)) is not None]
        if gaps:
            return gaps[0]
        for name in first.keys() - row.keys():
            first[name] = first[name] or place
    return None


def _roles(members: Members, places: RowPlaces, codes: OpCodes) -> tuple[list[Parts], list[Parts], bool]:
    """Return the images of rows before a change and those after it, and whether their names say so."""
    images = sorted(places.images, key=lambda parts: (-hint_of(parts), -_cells(members, places, parts)))
    words = {parts: words_of_image(parts) for parts in images}
    before = [parts for parts in images if words[parts] & BEFORE]
    if before or any(words[parts] & AFTER for parts in images):
        return before, [parts for parts in images if parts not in before], True
    holding = Counter[Parts]()
    for message in members.messages:
        if codes.op(message) in ("insert", "snapshot", "upsert"):
            holding.update(holding_images(message, places))
    main = max(images, key=lambda parts: holding[parts], default=None)
    return [parts for parts in images if parts != main], [main] if main is not None else [], False


def _cells(members: Members, places: RowPlaces, parts: Parts) -> int:
    """Return how many values an image has: a row has more than its key alone."""
    return sum(len(row) for _, value in members.values(parts) for row in places.rows(value))


def _images_of(
    op: str,
    messages: list[SampleMessage],
    places: RowPlaces,
    before: list[Parts],
    after: list[Parts],
    *,
    by_names: bool,
) -> OpImages:
    holding = Counter(parts for message in messages for parts in holding_images(message, places))
    early = [parts for parts in before if holding[parts]]
    late = [parts for parts in after if holding[parts]]
    sides: Sides = {}
    found = OpImages(sides, len(messages), messages[0].place, by_names=by_names)
    if op in _ONLY_BEFORE:
        sides["before"] = _side(messages, places, early or late)
    else:
        both = op in ("update", "update-after") and early and late
        if both:
            sides["before"] = _side(messages, places, early[:1])
        either = late or early
        sides["after"] = _side(messages, places, either[:1] if op in ("update", "update-after") else either)
        if both:
            found.uneven = _complete(sides, messages, places, early[0], late[0])
        elif early and not late and by_names:
            found.against_names = join_pointer(*early[0])
    named = {sides[name][key] for name in sides for key in ("at", "or") if key in sides[name]}
    for message in messages:
        held = [join_pointer(*parts) for parts in holding_images(message, places)]
        found.in_other_image.update(pointer for pointer in held if pointer not in named)
        found.without_row.update(
            side["at"] for side in sides.values() if not {side["at"], side.get("or")} & {*held} and "optional" in side
        )
    found.of_keys = sum(message.of_key for message in messages)
    sent = Counter(parts for one in messages if not one.of_key for parts in holding_images(one, places))
    found.holding = Counter({join_pointer(*parts): number for parts, number in sent.items()})
    return found


def _side(messages: list[SampleMessage], places: RowPlaces, held: list[Parts]) -> dict[str, Any]:
    """Return one side: the image that holds the row, and the other one that does where this one does not."""
    first, *others = held
    side: dict[str, Any] = {"at": join_pointer(*first)}
    if places.not_columns and first == places.flattened:
        side["not_columns"] = list(places.not_columns)
    without = [message for message in messages if first not in holding_images(message, places)]
    other = next((one for one in others if any(one in holding_images(message, places) for message in without)), None)
    if other is not None and not any({first, other} <= {*holding_images(one, places)} for one in messages):
        side["or"] = join_pointer(*other)
        without = [message for message in without if other not in holding_images(message, places)]
    if any(message.of_key for message in messages):
        side["or_key"] = True
    if without:
        side["optional"] = True
    return side


def _complete(sides: Sides, messages: list[SampleMessage], places: RowPlaces, early: Parts, late: Parts) -> bool:
    """Say which image has the changed columns only, and is completed by the other; return whether neither is whole."""
    fewer, uneven = Counter[str](), False
    for message in messages:
        for old, new in zip(places.rows(message.at(early)), places.rows(message.at(late)), strict=False):
            fewer["before"] += old.keys() < new.keys()
            fewer["after"] += new.keys() < old.keys()
            uneven |= not (old.keys() <= new.keys() or new.keys() <= old.keys())
            if places.container == JSON_TEXT and old.keys() != new.keys():  # it may be a field that was removed
                uneven |= any(old[name] == new[name] for name in old.keys() & new.keys())
    if uneven or (fewer["before"] and fewer["after"]):
        return True
    if fewer["before"]:
        sides["before"]["completed_from"] = join_pointer(*late)
    elif fewer["after"]:
        sides["after"]["completed_from"] = join_pointer(*early)
    return False
