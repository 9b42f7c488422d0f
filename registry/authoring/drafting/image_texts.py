"""Image texts: rows that are JSON texts, or that only the key of their record has, put where a draft reads rows."""

from __future__ import annotations

from typing import Any

from cdc_contracts.registry.authoring.drafting.envelope_facts import EnvelopeFacts
from cdc_contracts.registry.authoring.drafting.key_places import KEY, key_place_of
from cdc_contracts.registry.authoring.drafting.message_members import Members, Parts, SampleMessage, words_of
from cdc_contracts.registry.authoring.drafting.object_texts import has_constants, holds_objects, read_object
from cdc_contracts.registry.authoring.drafting.op_codes import OpCodes
from cdc_contracts.registry.authoring.drafting.row_places import BEFORE, JSON_TEXT, RowPlaces, hint_of
from cdc_contracts.registry.core.common.errors import UndetectedError
from cdc_contracts.registry.core.common.pointers import ABSENT, join_pointer
from cdc_contracts.registry.core.message.primary_keys import read_key_columns


def find_lone_text(members: Members, places: RowPlaces, codes: OpCodes, envelope: EnvelopeFacts) -> Parts | None:
    """Return the member that holds rows as texts although its name says no side; None if it may be a column.

    Its name says that it holds rows, and every other member is of the envelope, so that no row is around it.
    """
    if places.images or codes.is_marked:
        return None
    facts = [*envelope.places.values(), *([envelope.ddl] if envelope.ddl else [])]
    taken = {codes.member.pointer, *(str(one.says.get("at", one.says.get("text", {}).get("at"))) for one in facts)}
    others = [
        member for member in members
        if member.held and "object" not in member.kinds and member.pointer not in taken and not {*member.words} & KEY
        and not any(member.parts[: len(block)] == block for block in places.blocks)
    ]  # fmt: skip
    texts = [member for member in others if hint_of(member.parts, own=True) and holds_objects(member)]
    return texts[0].parts if len(texts) == len(others) == 1 else None


def open_texts(members: Members, parts: Parts) -> Members:
    """Return messages with an object in place of each text at a place.

    Raises UndetectedError if a text there holds none.
    """
    opened = [_open(message, parts) for message in members.messages]
    others = [message for message, one in zip(members.messages, opened, strict=True) if one is None]
    if others:
        raise UndetectedError(
            f"no contract can express these messages: {join_pointer(*parts)} holds JSON objects as texts, but in "
            f"{len(others):,} of {len(members.messages):,} messages a text that holds none",
            where=others[0].place,
            hint="An image that is a text holds one JSON object; where there is no row, it is null. Leave the others "
            "out.",
        )
    return Members(message for message in opened if message is not None)


def _open(message: SampleMessage, parts: Parts) -> SampleMessage | None:
    """Return a message with an object in place of its text; None if the text holds none."""
    text = message.at(parts)
    if not isinstance(text, str):
        return message
    row, bare = read_object(text), message.has_constants or has_constants(text)
    return None if row is None else _put(message, parts, row)._replace(has_constants=bare)


def _put(message: SampleMessage, parts: Parts, row: dict[str, Any]) -> SampleMessage:
    """Return a message with a row at a place, which has a holder."""
    *above, last = parts
    content = holder = {**message.content}
    for name in above:
        holder[name] = {**holder[name]}
        holder = holder[name]
    holder[last] = row
    return message._replace(content=content)


def add_rows_of_keys(
    members: Members, places: RowPlaces, codes: OpCodes, envelope: EnvelopeFacts
) -> tuple[Members, Parts] | None:
    """Return messages with the row of their key in each that deletes one and holds none, and the place of these rows.

    None if there is no such message, or images are no texts: only then is a row read from the key.
    """
    place = key_place_of(envelope)
    if places.container != JSON_TEXT or place is None:
        return None
    at, found = _place_of_deleted(members, places), dict[int, SampleMessage]()
    for number, message in enumerate(members.messages):
        is_empty = not message.of_key and all(message.at(parts) in (None, ABSENT) for parts in places.images)
        if is_empty and codes.may_delete(message) and isinstance(message.at(at[:-1]), dict):
            columns = read_key_columns(message.key or b"", place)
            found |= {number: _put(message, at, columns)._replace(of_key=True)} if columns else {}
    if not found:
        return None
    return Members(found.get(number, message) for number, message in enumerate(members.messages)), at


def _place_of_deleted(members: Members, places: RowPlaces) -> Parts:
    """Return where rows before a change are: at an image of such a name, or what is null beside the images."""
    holder = places.images[0][:-1]
    empty = [member.parts for member in members if member.parts[:-1] == holder and not member.held]
    return next((one for one in (*places.images, *empty) if {*words_of(one[-1])} & BEFORE), places.images[0])
