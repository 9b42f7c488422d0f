"""Key places: which member lists the columns of the key, or where these are in the keys of records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
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
from cdc_contracts.registry.authoring.drafting.row_places import JSON_TEXT, RowPlaces
from cdc_contracts.registry.authoring.drafting.type_forms import EXTENDED
from cdc_contracts.registry.core.common.pointers import ABSENT, join_pointer
from cdc_contracts.registry.core.contract.column_model import MappingDocument
from cdc_contracts.registry.core.contract.document_model import ROW_OPS
from cdc_contracts.registry.core.contract.envelope_model import KeyPlace
from cdc_contracts.registry.core.contract.value_mappings import ValueMapping
from cdc_contracts.registry.core.message.primary_keys import parse_key, read_key_columns
from cdc_contracts.registry.core.validate.key_values import has_value

KEY: Final = frozenset({"key", "keys", "pk", "pks", "pkeys", "primary", "identity"})
_LISTED_FOR_ONE: Final = 9
"""A list of names in this many messages is the key although one message contradicts it."""
_COMPARED: Final = 100
"""So many keys say which columns their texts hold; whether they do is then asked of all keys."""
_NOTATIONS: Final = ValueMapping(MappingDocument.model_validate({"mapping": "keys", "untyped": {**EXTENDED}}))
"""Reads the values of keys and of rows: what is no Extended JSON is read as JSON."""


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
        keys = any(message.key is not None for message in members.messages)
        texts = "" if keys or places.container != JSON_TEXT else (
            " No record here has a key; the keys of a topic, or of a Parquet file, may say which row is deleted."
        )  # fmt: skip
        found.questions.append(
            f"no member lists the columns of the key: table contracts may (`primary_key: [...]`).{texts}"
        )


def key_place_of(envelope: EnvelopeFacts) -> KeyPlace | None:
    """Return where the columns of the key are in the keys of records; None if they are not there."""
    says = envelope.places["primary_key"].says if "primary_key" in envelope.places else {}
    return KeyPlace(says["at"], (), tuple(says.get("json_texts", {}).items())) if "from" in says else None


def _find_kafka_key(found: EnvelopeFacts, members: Members, places: RowPlaces, codes: OpCodes) -> bool:
    """Take the columns of the key from the keys of records, where these hold columns of their rows."""
    changes = (message for message in members.messages if codes.op(message) in ROW_OPS and not message.of_key)
    keyed = [message for message in changes if message.key is not None and _rows(message, places)]
    for place in _places_in_keys(keyed, places):
        against = [message for message in keyed if not _is_of_row(message, place, places)]
        if len(keyed) - len(against) < max(1, _LISTED_FOR_ONE * len(against)):
            continue
        says: dict[str, Any] = {"from": "kafka-key", "at": place.at}
        says |= {"json_texts": dict(place.json_texts)} if place.json_texts else {}
        held = len(keyed) - len(against)
        evidence = f"columns of the row in {held:,} of {len(keyed):,} keys of records, first in {keyed[0].place}"
        question = "do the columns in the key of the Kafka record identify a row?"
        if against:
            question += f" In {len(against):,} keys, as in {against[0].place}, they differ from the row."
        found.places["primary_key"] = EnvelopePlace(says, evidence, question)
        return True
    return False


def _rows(message: SampleMessage, places: RowPlaces) -> list[dict[str, Any]]:
    return [row for parts in places.images for row in places.rows(message.at(parts))]


def _places_in_keys(keyed: Sequence[SampleMessage], places: RowPlaces) -> Iterator[KeyPlace]:
    """Yield the objects in keys that may hold columns: the whole key, and its members.

    Where rows are JSON texts, values in keys may be such texts too.
    """
    for at in dict.fromkeys(pointer for message in keyed for pointer in _objects_in_key(message.key or b"")):
        yield KeyPlace(at)
        texts = tuple(_columns_as_texts(keyed[:_COMPARED], at, places)) if places.container == JSON_TEXT else ()
        if texts:
            yield KeyPlace(at, (), texts)


def _objects_in_key(key: bytes) -> Iterator[str]:
    """Yield the pointers to objects in a key: the whole key, and its members."""
    content = parse_key(key)
    if content is None:
        return
    yield from (join_pointer(name) for name, value in content.items() if isinstance(value, dict))
    yield ""


def _columns_as_texts(keyed: Sequence[SampleMessage], at: str, places: RowPlaces) -> Iterator[tuple[str, str]]:
    """Yield the members of keys that hold the value of a column as JSON text, each with its column.

    That is the one whose value is most often the same, of several the one with the name of the member.
    """
    names = dict.fromkeys(name for one in keyed for name in read_key_columns(one.key or b"", KeyPlace(at)) or ())
    for name in names:
        same = Counter[str]()
        for message in keyed:
            place = KeyPlace(at, (), ((name, name),))
            value = (read_key_columns(message.key or b"", place) or {}).get(name)
            rows = _rows(message, places) if value is not None else ()
            same.update({column for row in rows for column, held in row.items() if _is_same(value, held, column)})
        most = max(same.values(), default=0)
        columns = [column for column, number in same.items() if number == most]
        named = [column for column in columns if words_of(column) == words_of(name)]
        if len(named or columns) == 1:
            yield name, (named or columns)[0]


def _is_same(value: Any, held: Any, column: str) -> bool:
    """Return whether a value that is a JSON text in a key is that of a column, which may be written otherwise."""
    return has_value(held, value, column, KeyPlace("", (), ((column, column),)), _NOTATIONS)


def _is_of_row(message: SampleMessage, place: KeyPlace, places: RowPlaces) -> bool:
    """Return whether a key holds columns of a row of its message, with their values."""
    columns = read_key_columns(message.key or b"", place) or {}
    return bool(columns) and any(
        all(name in row and has_value(row[name], value, name, place, _NOTATIONS) for name, value in columns.items())
        for row in _rows(message, places)
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
        columns = {name for row in _rows(message, places) for name in row}
        if names is None or (columns and names):
            found.append((message, names is not None and {*names} <= columns))
    return found
