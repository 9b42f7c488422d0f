"""Unread members: what messages hold that a contract takes neither for a column nor for a part of the envelope."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from cdc_contracts.registry.authoring.drafting.message_members import Parts, SampleMessage
from cdc_contracts.registry.core.common.pointers import join_pointer, split_pointer
from cdc_contracts.registry.core.contract.catalogue import Version
from cdc_contracts.registry.core.message.reading import Reading, non_column_members
from cdc_contracts.registry.core.validate.drift_rule import drift_rules

_PLACES: Final = ("at", "index", "size", "by", "pair_by")
"""Keys of a contract that name a member by its pointer."""
_SECTIONS: Final = ("envelope", "ddl", "columns", "values", "split_update")


@dataclass
class UnreadMember:
    """One member that nothing reads: how many messages have it, and where it was first seen with a value."""

    first: str
    messages: int = 0
    holds: bool = False
    """Whether some message holds a value there, so that it is not always null or empty."""


def find_unread(
    version: Version, validated: Iterable[tuple[SampleMessage, Reading]], known: Mapping[str, Any] | None = None
) -> dict[Parts, UnreadMember]:
    """Return the members of messages that a version does not read, besides those that the schema `known` describes."""
    envelope = {split_pointer(pointer) for name in _SECTIONS for pointer in _pointers(version.resolved.get(name))}
    rules = (drift_rules()[name].reads(version.meaning) for name in version.meaning.rules)
    envelope |= {split_pointer(pointer) for reads in rules for pointer in reads.places - {*reads.objects}}
    images = {split_pointer(pointer) for pointer in version.meaning.images.pointers()}
    found: dict[Parts, UnreadMember] = {}
    for message, reading in validated:
        rows = _flattened(reading)
        taken = (envelope | _images(reading)) - rows.keys()
        for parts, value in _unread(message.content, (), taken, rows):
            if (known is not None and _describes(known, parts)) or (parts in images and not _holds(value)):
                continue
            one = found.setdefault(parts, UnreadMember(message.place))
            one.messages += 1
            if _holds(value) and not one.holds:
                one.holds, one.first = True, message.place
    return found


def unread_questions(unread: Mapping[Parts, UnreadMember], total: int) -> list[str]:
    """Return what to ask the author of members that nothing reads: one question for all that hold values."""
    shown = {
        holds: ", ".join(_shown(parts, one, total) for parts, one in unread.items() if one.holds is holds)
        for holds in (True, False)
    }
    found = []
    if shown[True]:
        found.append(f"nothing reads {shown[True]}: does any of it belong to the row, its key, its time or its table?")
    if shown[False]:
        found.append(f"null or empty in every message: {shown[False]}. What stands there otherwise?")
    return found


def _shown(parts: Parts, one: UnreadMember, total: int) -> str:
    """Return a member as a question names it: with its number of messages where not all of them have it."""
    where = f" ({one.messages:,} of {total:,} messages, first in {one.first})"
    return join_pointer(*parts) + (where if one.messages < total else "")


def _pointers(says: Any, key: str = "") -> Iterator[str]:
    """Yield the pointers below a section of a contract."""
    if isinstance(says, Mapping):
        for name, one in says.items():
            yield from _pointers(one, name)
    elif isinstance(says, list):
        for one in says:
            yield from _pointers(one, key)
    elif isinstance(says, str) and key in _PLACES and says.startswith("/"):
        yield says


def _images(reading: Reading) -> set[Parts]:
    """Return the places of the rows that the op of a message has."""
    pointers = {pointer for side in reading.sides for pointer in (side.at, side.completed_from, side.either)}
    return {split_pointer(pointer) for pointer in pointers if pointer}


def _flattened(reading: Reading) -> dict[Parts, frozenset[str]]:
    """Return the members that are no columns of each row of a message which is the message itself, or has some."""
    hidden = {side.at: non_column_members(reading.meaning, side.at) for side in reading.sides}
    held = {at: names for at, names in hidden.items() if not at or (names and isinstance(reading.at(at), dict))}
    return {split_pointer(at): names for at, names in held.items()}


def _unread(
    value: dict[str, Any], parts: Parts, taken: set[Parts], rows: Mapping[Parts, frozenset[str]]
) -> Iterator[tuple[Parts, Any]]:
    """Yield the topmost members that are not taken; those of rows with others among their columns are columns."""
    for name, one in value.items():
        place = (*parts, name)
        if place in taken or (parts in rows and name not in rows[parts]):
            continue
        if isinstance(one, dict) and any(other[: len(place)] == place for other in (*taken, *rows)):
            yield from _unread(one, place, taken, rows)
        else:
            yield place, one


def _holds(value: Any) -> bool:
    """Return whether there is anything in a value: no null, no empty text, and not only such members."""
    if isinstance(value, dict):
        return any(map(_holds, value.values()))
    return any(map(_holds, value)) if isinstance(value, list) else value is not None and value != ""


def _describes(schema: Mapping[str, Any], parts: Parts) -> bool:
    for name in parts:
        schema = schema.get("properties", {}).get(name)
        if schema is None:
            return False
    return True
