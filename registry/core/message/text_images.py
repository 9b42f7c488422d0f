"""Text images: rows that are JSON texts in their message, or that only the Kafka key names, put where rows are read.

Other members keep their bytes: only what leads to an image is decoded, so that a message is not parsed twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from json import JSONDecoder
from operator import itemgetter
from typing import Final

import msgspec
from msgspec import Raw

from cdc_contracts.registry.core.common.json_messages import (
    Unreadable,
    has_duplicates,
    parse_message,
    parse_value,
    taking_constants,
)
from cdc_contracts.registry.core.common.json_structures import write_json
from cdc_contracts.registry.core.common.pointers import follow, split_pointer
from cdc_contracts.registry.core.contract.model import Meaning
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.message.reading import Reading

_BLANK: Final = b" \t\r\n"
_NULL: Final = b"null"

Members = dict[str, Raw]
_decode_members: Final = msgspec.json.Decoder(Members).decode
_decode_text: Final = msgspec.json.Decoder(str).decode
_BROKEN: Final = (msgspec.DecodeError, UnicodeDecodeError, RecursionError, Unreadable)


class TextImages:
    """Opens the images of the messages of a version, each at one of `places`."""

    def __init__(self, meaning: Meaning, reading_options: ReadingOptions) -> None:
        self._meaning, self.reading_options = meaning, reading_options
        self.places = tuple(split_pointer(at) for at in meaning.images.pointers())
        constants = meaning.images.constants
        self._decoder = None if constants is None else taking_constants(constants)

    @property
    def takes_keys(self) -> bool:
        """Whether the row of a message may be that of its key."""
        return self._meaning.images.read_keys

    @property
    def any_key(self) -> bytes | None:
        """A key that names a row, for values whose keys are not known; None if no version reads keys."""
        place = self._meaning.envelope.key_place
        return None if place is None else write_json({member: "null" for member, _ in place.json_texts}).encode()

    def open(self, value: bytes, key: bytes | None = None) -> bytes:
        """Return a message with an object for each image that is the text of one, and for one that its key holds.

        A value that is no message stays as it is, as does an image that holds anything else. The key is asked where no
        image holds anything, so that opening a message again changes nothing.
        """
        if len(value) > self.reading_options.max_bytes or (self.reading_options.strict_json and has_duplicates(value)):
            return value
        try:
            members = _read_members(value)
            opened = self._open_within(members, self.places)
            if key is not None and self.takes_keys and opened.count(None) == len(opened):
                return self._with_key(value, key, members)
        except _BROKEN:
            return value
        return msgspec.json.encode(members) if any(opened) else value

    def close(self, text: str) -> str:
        """Return the text of a message with its images as texts, as they are sent."""
        message = parse_message(text.encode())
        for *above, last in self.places:
            holder = follow(message, tuple(above))
            if isinstance(holder, dict) and isinstance(holder.get(last), dict):
                holder[last] = write_json(holder[last])
        return write_json(message)

    def _open_within(self, members: Members, places: Sequence[tuple[str, ...]]) -> list[bool | None]:
        """Put objects in the places of their texts, and return whether there is one; None where nothing is."""
        found: list[bool | None] = []
        for name, those in groupby(places, itemgetter(0)):
            below = [place[1:] for place in those]
            raw = bytes(members.get(name, _NULL))
            if raw == _NULL:
                found += [None] * len(below)
            elif not any(below):
                text = _decode_text(raw) if raw.startswith(b'"') else ""
                row = open_text(text, strict=self.reading_options.strict_json, decoder=self._decoder)
                members[name] = members[name] if row is None else Raw(row)
                found.append(row is not None)
            elif raw.startswith(b"{"):
                inner = _read_members(raw)
                inside = self._open_within(inner, below)
                members[name] = Raw(msgspec.json.encode(inner)) if any(inside) else members[name]
                found += inside
            else:
                found.append(False)
        return found

    def _with_key(self, value: bytes, key: bytes, members: Members) -> bytes:
        """Return a message without a row with that of its key, where its op takes one."""
        reading = Reading(self._meaning, parse_message(value), self.reading_options, key)
        row = reading.key_columns
        taking = [split_pointer(side.at) for side in reading.sides if side.or_key] if row else []
        for place in taking:
            _put_where_nothing_is(members, place, Raw(write_json(row).encode()))
        return msgspec.json.encode(members) if taking else value


def _put_where_nothing_is(members: Members, place: Sequence[str], row: Raw) -> None:
    """Put a row in a place of a message, if the object that it is a member of is there, and holds nothing in it."""
    name, *below = place
    raw = bytes(members.get(name, _NULL))
    if not below:
        members[name] = row if raw == _NULL else members[name]
    elif raw.startswith(b"{"):
        inner = _read_members(raw)
        _put_where_nothing_is(inner, below, row)
        members[name] = Raw(msgspec.json.encode(inner))


def open_text(text: str, *, strict: bool = False, decoder: JSONDecoder | None = None) -> bytes | None:
    """Return the object that a text holds, as JSON; None if it holds none.

    `decoder` is one of `taking_constants`, for texts in which such may stand bare.
    """
    value = text.encode()
    if strict and has_duplicates(value):
        return None
    try:
        _decode_members(value)
    except _BROKEN:
        return None if decoder is None else _read_constants(value, decoder)
    return value


def _read_constants(value: bytes, decoder: JSONDecoder) -> bytes | None:
    if not value.lstrip(_BLANK).startswith(b"{"):
        return None  # also a constant, which would be read as an object
    try:
        row = parse_value(value, decoder=decoder)
    except Unreadable:
        return None
    return write_json(row).encode() if isinstance(row, dict) else None


def _read_members(text: bytes) -> Members:
    """Return the members of an object. Raises one of `_BROKEN`: it is none.

    Of two with one name the first is left out, but it has to be readable as well.
    """
    members = _decode_members(text)
    if len(msgspec.json.encode(members)) < len(text):  # a name twice, or blanks
        parse_message(text)
    return members
