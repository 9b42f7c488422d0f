"""Message members: the kind of every member of many messages, how often it occurs, and where it was first seen."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from cdc_contracts.registry.core.common.json_messages import kind_of
from cdc_contracts.registry.core.common.pointers import ABSENT, follow, join_pointer
from cdc_contracts.registry.core.values import Number

Parts = tuple[str, ...]

MOST_TEXTS: Final = 64
_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


class SampleMessage(NamedTuple):
    """One message: where it stands, its bytes, what they hold with rows in place of their texts, and its key.

    `has_constants` says that NaN or Infinity stand bare in a text, `of_key` that the key alone has its row.
    """

    place: str
    value: bytes
    content: dict[str, Any]
    key: bytes | None = None
    has_constants: bool = False
    of_key: bool = False

    def at(self, parts: Parts) -> Any:
        """Return the member at a place, or ABSENT."""
        return follow(self.content, parts)


@dataclass
class ObservedMember:
    """One member of the messages: the kinds of its values, and of its texts the first few that differ."""

    parts: Parts
    first: str
    kinds: Counter[str] = field(default_factory=Counter)
    texts: Counter[str] = field(default_factory=Counter)
    numbers: list[Number] = field(default_factory=list)

    @property
    def pointer(self) -> str:
        return join_pointer(*self.parts)

    @property
    def words(self) -> tuple[str, ...]:
        """The words of its name, in lower case: `tableName` and `table_name` have the same."""
        return words_of(self.parts[-1]) if self.parts else ()

    @property
    def held(self) -> int:
        """The number of messages in which it is present and not null."""
        return self.kinds.total() - self.kinds["null"]

    def is_only(self, *kinds: str) -> bool:
        """Return whether all of its values are of some kinds, or null, and some are not null."""
        return self.held > 0 and {*self.kinds} <= {*kinds, "null"}


def words_of(name: str) -> tuple[str, ...]:
    """Return the words of a name in lower case."""
    return tuple(word.lower() for word in _WORD.findall(name))


class Members:
    """The members of messages that are in objects, by their place; those inside arrays are left out."""

    def __init__(self, messages: Iterable[SampleMessage]) -> None:
        self.messages = list(messages)
        self._members: dict[Parts, ObservedMember] = {}
        for message in self.messages:
            for parts, value in _walk(message.content, ()):
                self._add(parts, value, message.place)

    def __getitem__(self, parts: Parts) -> ObservedMember:
        return self._members[parts]

    def __iter__(self) -> Iterator[ObservedMember]:
        return iter(self._members.values())

    def get(self, parts: Parts) -> ObservedMember | None:
        """Return the member at a place; None if no message has one."""
        return self._members.get(parts)

    def __contains__(self, parts: Parts) -> bool:
        return parts in self._members

    def values(self, parts: Parts) -> Iterator[tuple[SampleMessage, Any]]:
        """Yield every value of a member that is present and not null, with its message."""
        for message in self.messages:
            value = message.at(parts)
            if value is not ABSENT and value is not None:
                yield message, value

    def _add(self, parts: Parts, value: Any, place: str) -> None:
        member = self._members.setdefault(parts, ObservedMember(parts, place))
        member.kinds[kind_of(value)] += 1
        if isinstance(value, str) and (value in member.texts or len(member.texts) <= MOST_TEXTS):
            member.texts[value] += 1
        elif isinstance(value, Number) and not isinstance(value, bool):
            member.numbers.append(value)


def _walk(value: Any, parts: Parts) -> Iterator[tuple[Parts, Any]]:
    if parts:
        yield parts, value
    if isinstance(value, dict):
        for name, below in value.items():
            yield from _walk(below, (*parts, name))
