"""Key places: which member lists the columns of the key, or where these are in the keys of records."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import Any, Final

from cdc_contracts.registry.authoring.drafting.envelope_facts import EnvelopeFacts, EnvelopePlace, evidence_of
from cdc_contracts.registry.authoring.drafting.message_members import (
    Members,
    ObservedMember,
    Parts,
    SampleMessage,
    words_of,
)
from cdc_contracts.registry.authoring.drafting.op_codes import OpCodes
from cdc_contracts.registry.authoring.drafting.row_places import RowPlaces
from cdc_contracts.registry.core.common.pointers import ABSENT, join_pointer
from cdc_contracts.registry.core.contract.document_model import ROW_OPS
from cdc_contracts.registry.core.contract.envelope_model import KeyPlace
from cdc_contracts.registry.core.message.primary_keys import are_alike, parse_key, read_key_columns

KEY: Final = frozenset({"key", "keys", "pk", "pks", "pkeys", "primary", "identity"})
_LISTED_FOR_ONE: Final = 9
"""A list of names in this many messages is the key although one message contradicts it."""


def find_key(
    found: EnvelopeFacts, members: Members, outside: list[ObservedMember], places: RowPlaces, codes: OpCodes
) -> None:
    """Find which columns identify a row: as a member lists them, or as the keys of records hold them."""
    for member in outside:
        reading, read = ("joined-u0001", _joined) if member.is_only("string") else ("list", _listed)
        if not {*member.words} & KEY:
            continue
        with_rows = [message for message in members.messages if codes.op(message) in ROW_OPS]
        listed = _listing(with_rows, member, places, read)
        against = [message for message, lists in listed if not lists]
        if not listed or len(listed) - len(against) < max(1, _LISTED_FOR_ONE * len(against)):
            continue
        question = f"do the columns that {member.pointer} lists identify a row?"
        if against:
            question += f" In {len(against):,} of {len(listed):,} messages, as in {against[0].place}, it names none."
        says = {"at": member.pointer, "as": reading}
        found.places["primary_key"] = EnvelopePlace(says, evidence_of(members, member, "names of columns"), question)
        return
    if not _find_kafka_key(found, members, places, codes):
        found.questions.append("no member lists the columns of the key: table contracts may (`primary_key: [...]`).")


def _find_kafka_key(found: EnvelopeFacts, members: Members, places: RowPlaces, codes: OpCodes) -> bool:
    """Take the columns of the key from the keys of records, where these hold columns of their rows."""
    keyed = [message for message in members.messages if message.key is not None and codes.op(message) in ROW_OPS]
    for at in dict.fromkeys(place for message in keyed for place in _objects_in_key(message.key or b"")):
        against = [message for message in keyed if not _is_of_row(message, at, places)]
        if len(keyed) - len(against) < max(1, _LISTED_FOR_ONE * len(against)):
            continue
        says = {"from": "kafka-key", "at": at}
        held = len(keyed) - len(against)
        evidence = f"columns of the row in {held:,} of {len(keyed):,} keys of records, first in {keyed[0].place}"
        question = "do the columns in the key of the Kafka record identify a row?"
        if against:
            question += f" In {len(against):,} keys, as in {against[0].place}, they differ from the row."
        found.places["primary_key"] = EnvelopePlace(says, evidence, question)
        return True
    return False


def _objects_in_key(key: bytes) -> Iterator[str]:
    """Yield the pointers to objects in a key: the whole key, and its members."""
    content = parse_key(key)
    if content is None:
        return
    yield from (join_pointer(name) for name, value in content.items() if isinstance(value, dict))
    yield ""


def _is_of_row(message: SampleMessage, at: str, places: RowPlaces) -> bool:
    """Return whether a key holds columns of a row of its message, with their values."""
    columns = read_key_columns(message.key or b"", KeyPlace(at))
    rows = [row for parts in places.images for row in places.rows(message.at(parts))]
    return bool(columns) and any(
        all(name in row and are_alike(value, row[name]) for name, value in (columns or {}).items()) for row in rows
    )


def lists_key(members: Members, parts: Parts, columns: Collection[str]) -> bool:
    """Return whether a member beside columns is called a key, and lists some of them in every message."""
    lists = [_listed(value) for _, value in members.values(parts)]
    named = {*words_of(parts[-1])} & KEY and any(lists)
    return bool(named) and all(one is not None and {*one} <= {*columns} for one in lists)


def _listed(value: Any) -> list[str] | None:
    return value if isinstance(value, list) and all(isinstance(one, str) for one in value) else None


def _joined(value: Any) -> list[str] | None:
    return value.split("\x01") if isinstance(value, str) and value else None


def _listing(
    messages: list[SampleMessage], member: ObservedMember, places: RowPlaces, read: Callable[[Any], list[str] | None]
) -> list[tuple[SampleMessage, bool]]:
    """Return the messages with a row in which a member lists something, and whether it lists columns of that row."""
    found = []
    for message in messages:
        value = message.at(member.parts)
        if value is ABSENT or value is None:
            continue
        names = read(value)
        columns = {name for parts in places.images for row in places.rows(message.at(parts)) for name in row}
        if names is None or (columns and names):
            found.append((message, names is not None and {*names} <= columns))
    return found
