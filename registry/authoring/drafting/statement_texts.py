"""Statement texts: whether the statements in messages define tables, or change their rows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

from cdc_contracts.registry.authoring.drafting.message_members import Members, SampleMessage
from cdc_contracts.registry.authoring.drafting.row_places import RowPlaces

STATEMENT_WORDS: Final = frozenset({"sql", "ddl", "query", "statement", "text"})
_COMMENT: Final = re.compile(r"\s+|/\*.*?\*/|--[^\n]*(\n|$)|#[^\n]*(\n|$)", re.DOTALL)
_DEFINES: Final = re.compile(
    r"(create|alter|drop|truncate|rename|comment|grant|revoke|analyze|optimize|repair)\b", re.IGNORECASE
)


def statements_of(members: Members, messages: Iterable[SampleMessage], places: RowPlaces) -> Iterator[str]:
    """Yield the statement of each message that has one."""
    named = (member for member in members if {*member.words} & STATEMENT_WORDS and member.is_only("string"))
    at = [member.parts for member in named if not places.may_be_column(member.parts)]
    for message in messages:
        texts: list[Any] = [message.at(parts) for parts in at]
        yield from (text for text in texts[:1] if isinstance(text, str) and text)


def defines_tables(statement: str) -> bool:
    """Return whether a statement defines tables; comments before it do not count."""
    at = 0
    while (found := _COMMENT.match(statement, at)) is not None and found.end() > at:
        at = found.end()
    return _DEFINES.match(statement, at) is not None
