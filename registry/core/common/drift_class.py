"""Drift class: the whole of one class of drift, as one record in one file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

Path = tuple[str | int, ...]
"""The way to a place in a message: names of members, and places in lists."""


class NumberToken(str):
    """A number as written in JSON."""

    __slots__ = ()


class ConformingMessage(Protocol):
    """A message that conforms, and the ways to change it. Numbers in it are tokens.

    `op_at` leads to its op code; `is_record` is whether it is a record of Avro.
    """

    @property
    def value(self) -> bytes: ...
    @property
    def op_at(self) -> Path: ...
    @property
    def is_record(self) -> bool: ...

    def places(self) -> list[tuple[Path, Any]]:
        """Return everything in the message with the way to it, outermost first."""

    def columns_first(self) -> list[tuple[Path, Any]]:
        """Return the scalars of the message with the way to each, those of images before others."""

    def objects(self) -> list[Path]:
        """Return the ways to objects below the message that are no images."""

    def is_in_image(self, path: Path) -> bool:
        """Return whether a place is in an image."""

    def in_another_record(self, value: str) -> str | None:
        """Return a text in another record, where values say in which record they are."""

    def put(self, path: Path, value: Any) -> Iterator[bytes]:
        """Yield the message with another value in one place, if it can be written; ABSENT removes the member."""

    def by_other_versions(self) -> Iterator[bytes]:
        """Yield the same change or control message as written by other versions of the subject."""

    def by_other_subjects(self) -> Iterator[bytes]:
        """Yield the same change or control message as written by other subjects."""

    def breaking_rules(self) -> Iterator[bytes]:
        """Yield the message as it breaks the rules across fields of its contract, one after the other."""


class EventStream(Protocol):
    """A stream of events as far as it went.

    `version` is that of its messages. `rises` is whether positions are promised to rise in some way, `repeats` whether
    they may fall and only a repeated one breaks the promise. `may_lack_columns` is whether a row may lack columns that
    others of its table have, `lists_tables` whether table contracts were given, `names_table` whether messages name
    their table. `seen` are the ops of unchanged events, `tables` the changed tables, `latest` is the previous event.
    """

    tables: dict[Any, Any]
    seen: set[str]
    latest: Any

    @property
    def version(self) -> Any: ...
    @property
    def rises(self) -> bool: ...
    @property
    def repeats(self) -> bool: ...
    @property
    def may_lack_columns(self) -> bool: ...
    @property
    def lists_tables(self) -> bool: ...
    @property
    def names_table(self) -> bool: ...

    def op_of(self, event: Any) -> str:
        """Return the op of an event as the contract has it."""


def accept(stream: EventStream) -> None:
    """Accept any stream."""


@dataclass(frozen=True, slots=True)
class DriftCause:
    """One cause within a class of drift: `name` is the part of a rule id after the dot, `says` its text.

    `instead`: its text replaces that of the class; `of_another_subject` replaces it if only the subject differs.
    `per_column`: it has a finding for each column of a table, which are reported as one. `of_shapes`: rows of another
    shape break it together with the other causes so marked.
    """

    name: str
    says: str = ""
    instead: bool = False
    of_another_subject: str = ""
    per_column: bool = False
    of_shapes: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class DriftClass:
    """One class of drift: what triggers it, its severity, what to do, and its causes.

    `breaks` yields how a conforming message is changed to show it, the clearest way first. A class that only a stream
    can show has `drifts`, which returns the drifting event or None, and `refuse`, which raises UsageError if a stream
    cannot show it.
    """

    id: str
    name: str
    severity: str
    says: str
    action: str
    good: str
    bad: str
    causes: tuple[DriftCause, ...] = ()
    breaks: Callable[[ConformingMessage], Iterator[bytes]] | None = None
    drifts: Callable[[EventStream, Any, bool], Any] | None = None
    refuse: Callable[[EventStream], None] = accept
