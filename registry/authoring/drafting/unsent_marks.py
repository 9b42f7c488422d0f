"""Unsent marks: what stands in rows for a value that was not sent, by all rows that were seen."""

from __future__ import annotations

import re
from base64 import b64encode
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from cdc_contracts.registry.authoring.drafting.envelope_facts import EnvelopeFacts
from cdc_contracts.registry.authoring.drafting.message_members import Members, ObservedMember, Parts, SampleMessage
from cdc_contracts.registry.authoring.drafting.op_codes import OpCodes
from cdc_contracts.registry.authoring.drafting.row_places import BEFORE, RowPlaces, words_of_image
from cdc_contracts.registry.core.common.json_structures import write_json
from cdc_contracts.registry.core.common.pointers import join_pointer

_PLACEHOLDER: Final = re.compile(r"__\w*(unavailable|unchanged|unsent|not_sent|missing|omitted)\w*", re.ASCII)
"""A text that no person writes: it says of itself that it stands for a value."""
_PARTLY_SENT: Final = frozenset({"update", "upsert", "delete", "update-before", "update-after"})
_MOST_ROWS: Final = 200
"""Rows before a change that are compared with those before them; comparing all takes time by their square."""
_KINDS: Final = frozenset({"connector", "engine", "dialect", "dbms"})
_MOST_KINDS: Final = 8
_Row = frozenset[tuple[str, str]]


@dataclass
class UnsentMarks:
    """What stands for a value that was not sent: texts, and the images in which null does, by kind of source."""

    texts: list[str] = field(default_factory=list)
    found: Counter[str] = field(default_factory=Counter)
    """In how many messages a text was seen."""
    kind: ObservedMember | None = None
    """The member that says the kind of source."""
    nulls: dict[str, list[str]] = field(default_factory=dict)
    messages: int = 0
    """In how many messages null stands for a value that was not sent."""
    first: str = ""

    def says(self) -> dict[str, Any]:
        """Return what `images` of a contract says of them; nothing if there are none."""
        return ({"texts": self.texts} if self.texts else {}) | ({"nulls": self.nulls} if self.nulls else {})

    def questions(self) -> Iterator[str]:
        """Yield what is not certain."""
        if self.found:
            shown = ", ".join(f"{text} in {number:,} messages" for text, number in self.found.items())
            yield f"does the text {shown} stand for a value that was not sent? Its other spellings are listed with it."
        if self.messages and self.nulls:
            at = ", ".join(dict.fromkeys(one for places in self.nulls.values() for one in places))
            yield (
                f"null at {at} stands for values that an earlier row has, in {self.messages:,} messages, first in "
                f"{self.first}: was the value not sent?"
            )
        elif self.messages:
            yield (
                f"in {self.messages:,} messages, first in {self.first}, the row before the change has null where an "
                f"earlier row has a value: is it NULL, or was it not sent? `images.absent.nulls` says so by the kind "
                f"of source, which no member names."
            )


def find_absent(members: Members, places: RowPlaces, codes: OpCodes, envelope: EnvelopeFacts) -> UnsentMarks:
    """Return what stands for values that were not sent: an insert has all values, and such a text is one of them."""
    absent = UnsentMarks(kind=_kind_of_source(members, places))
    for message in (one for one in members.messages if codes.op(one) in _PARTLY_SENT):
        absent.found.update({text for row in _rows(message, places) for text in _placeholders(row)})
    absent.texts = [spelling for text in absent.found for spelling in _spellings(text)]
    _find_nulls(absent, members, places, envelope)
    return absent


def _rows(message: SampleMessage, places: RowPlaces) -> Iterator[dict[str, Any]]:
    for parts in places.images:
        yield from places.rows(message.at(parts))


def _placeholders(row: dict[str, Any]) -> Iterator[str]:
    for value in row.values():
        one = value[0] if isinstance(value, list) and len(value) == 1 else value
        if isinstance(one, str) and _PLACEHOLDER.fullmatch(one):
            yield one


def _spellings(text: str) -> Iterator[str]:
    """Yield a placeholder as columns of texts, bytes, arrays and maps have it."""
    code = text.encode()
    yield from (text, b64encode(code).decode(), code.hex(), write_json([text]))
    yield "[" + ",".join(map(str, code)) + "]"
    yield write_json({text: text})


def _kind_of_source(members: Members, places: RowPlaces) -> ObservedMember | None:
    """Return the member that says of every message with a row from which kind of database it is."""
    if places.flattened is not None:
        return None
    with_rows = [message for message in members.messages if any(_rows(message, places))]
    for member in members:
        is_text = member.is_only("string") and len(member.texts) <= _MOST_KINDS
        is_outside = not any(member.parts[: len(image)] == image for image in places.images)
        everywhere = is_text and all(isinstance(one.at(member.parts), str) for one in with_rows)
        if everywhere and is_outside and {*member.words} & _KINDS:
            return member
    return None


def _find_nulls(absent: UnsentMarks, members: Members, places: RowPlaces, envelope: EnvelopeFacts) -> None:
    """Find out whether null stands for values that were not sent in rows before a change.

    A row that was sent whole is one that an earlier change has left. If no earlier row is like it, and one is but for
    columns that are null in this one, these were not sent.
    """
    left: defaultdict[tuple[str, ...], set[_Row]] = defaultdict(set)
    before = [parts for parts in places.images if words_of_image(parts) & BEFORE]
    unsent: Counter[tuple[str, Parts]] = Counter()
    whole: Counter[tuple[str, Parts]] = Counter()
    first: dict[tuple[str, Parts], str] = {}
    for message in members.messages:
        table = envelope.names_of(message)
        kind = str(message.at(absent.kind.parts)) if absent.kind is not None else ""
        for parts in before:
            for row in places.rows(message.at(parts)):
                if None not in row.values() or unsent[kind, parts] + whole[kind, parts] >= _MOST_ROWS:
                    continue
                held, earlier = _as_set(row), left[table]
                if held in earlier:
                    whole[kind, parts] += 1
                elif held and any(held < one for one in earlier):
                    unsent[kind, parts] += 1
                    first.setdefault((kind, parts), message.place)
        for parts in places.images:
            if parts not in before:
                left[table].update(_as_set(row) for row in places.rows(message.at(parts)))
    shown = [one for one, number in unsent.items() if number > whole[one]]
    absent.messages = sum(unsent[one] for one in shown)
    absent.first = min((first[one] for one in shown), default="")
    for kind, parts in shown if absent.kind is not None else ():
        absent.nulls.setdefault(kind, []).append(join_pointer(*parts))


def _as_set(row: dict[str, Any]) -> _Row:
    """Return the columns of a row that are not null, with their values."""
    return frozenset((name, write_json(value)) for name, value in row.items() if value is not None)
