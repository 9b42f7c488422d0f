"""Type places: which members of messages say the types of columns, and how they say them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from cdc_contracts.registry.authoring.drafting.message_members import Members, Parts, SampleMessage, words_of
from cdc_contracts.registry.core.common.pointers import ABSENT
from cdc_contracts.registry.core.contract.connect_schemas import list_fields
from cdc_contracts.registry.core.message.schema_block_types import read_block_types

_MOST_KNOWN: Final = 0.8
"""An object of texts of which more than this share are names of types holds types."""
_TYPE_NAME: Final = re.compile(
    r"(?i)u?(tiny|small|medium|big)?int(eger)?|integer|number|numeric|decimal|dec|float|double|real|bit|bool(ean)?|year|"
    r"n?var(char2?|binary)|n?char|character|binary|(tiny|medium|long)?(text|blob)|clob|raw|date|time|datetime|"
    r"timestamp(tz)?|json|enum|set|string|bytes|long|interval|geometry|uuid|serial"
)

BLOCK: Final = "connect-schema"
_SIGN: Final = re.compile(r"(?i)^(un)?signed ")


@dataclass(frozen=True)
class TypesPlace:
    """Where the types of columns are: their place, how they are written, and the members with name and type."""

    parts: Parts
    reading: str
    name: str | None = None
    type: str | None = None
    field: str | None = None
    """The field of a schema block that describes a row; without it the block itself does."""

    @property
    def is_block(self) -> bool:
        """Whether types are in a schema block, which says how values are written."""
        return self.reading == BLOCK


def find_types(
    members: Members, held: dict[Parts, list[dict[str, Any]]], typed: set[Parts], images: list[Parts]
) -> TypesPlace | None:
    """Return where the types of the columns of images are; None where messages name none."""
    columns = {name for parts in images for row in held[parts] for name in row}
    for parts in typed:
        if share_of(names_in(held[parts]), columns) > 1 / 2:
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


def find_block_types(members: Members, blocks: list[Parts], images: list[Parts]) -> TypesPlace | None:
    """Return where a schema block describes the columns of every row, as those of the first image that it can."""
    for block in blocks:
        for image in images:
            if image and all(_describes(message, block, image[-1], images) for message in members.messages):
                return TypesPlace(block, BLOCK, field=image[-1])
    return None


def find_described(members: Members, blocks: list[Parts]) -> dict[Parts, Parts]:
    """Return the objects beside schema blocks of which these have a type for each member, with the block of each."""
    return {
        member.parts: block
        for block in blocks
        for member in members
        if member.parts[:-1] == block[:-1] and member.parts != block and member.is_only("object")
        and all(_describes(message, block, None, [member.parts]) for message in members.messages)
    }  # fmt: skip


def _describes(message: SampleMessage, block: Parts, field: str | None, images: list[Parts]) -> bool:
    """Return whether the block of a message has a type for each column of its rows."""
    rows = [row for parts in images if isinstance(row := message.at(parts), dict)]
    types = read_block_types(message.at(block), field) or {}
    return all(row.keys() <= types.keys() for row in rows)


def are_blocks(members: Members, parts: Parts) -> bool:
    """Return whether a member is a schema block in every message: a struct with fields that each have a type."""
    for _, value in members.values(parts):
        fields = list_fields(value)
        if value.get("type") != "struct" or not all(isinstance(one, dict) and "type" in one for one in fields):
            return False
    return True


def types_within(members: Members, images: list[Parts]) -> tuple[str, str] | None:
    """Return the member of every image that holds types, and the member of its objects that names the type."""
    for parts in images:
        for _, value in members.values(parts):
            for row in [value] if isinstance(value, dict) else value:
                for name, one in row.items():
                    if isinstance(one, dict) and one and are_types_objects([one]):
                        first = next(iter(one.values()))
                        return name, next(key for key, text in first.items() if _is_type_name(text))
    return None


def name_types(members: Members, parts: Parts, columns: set[str]) -> bool:
    """Return whether a member beside columns is an object of their types."""
    rows = [value for _, value in members.values(parts) if isinstance(value, dict)]
    return bool(rows) and members[parts].is_only("object") and hold_types(rows) and names_in(rows) < columns


def list_types(members: Members, parts: Parts, rows: list[dict[str, Any]]) -> bool:
    """Return whether lists of objects name a type in each, and so may be no rows but the columns of rows."""
    if not members[parts].is_only("array"):
        return False
    types = [*_members_like(rows, None, _is_type_name)]
    return bool(types) and any({"type"} & {*words_of(name)} for name in types)


def hold_types(rows: list[dict[str, Any]]) -> bool:
    """Return whether the values of objects are names of types, nearly all of them."""
    values = [value for row in rows for value in row.values()]
    known = sum(map(_is_type_name, values))
    return known > _MOST_KNOWN * len(values) and all(isinstance(value, str) for value in values)


def are_types_objects(values: list[Any]) -> bool:
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


def names_in(rows: list[dict[str, Any]]) -> set[str]:
    """Return the names of the members of objects."""
    return {name for row in rows for name in row}


def share_of(names: set[str], columns: set[str]) -> float:
    """Return which share of names are among those of columns."""
    return len(names & columns) / len(names) if names else 0
