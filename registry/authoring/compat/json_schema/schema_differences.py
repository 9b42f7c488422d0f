"""Schema differences: where a reader's schema accepts less than a writer's sends, and what finding them needs."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final, Protocol

from cdc_contracts.registry.authoring.compat.json_schema.schema_shapes import Parts, SchemaShape

MEMBER: Final = "member"
ELEMENT: Final = "element"
OTHER_MEMBER: Final = "other member"

Step = tuple[str, str]
"""A step into a message: `(MEMBER, name)`, `(ELEMENT, index)`, or `(OTHER_MEMBER, pattern of its name or "")`."""
Route = tuple[Step, ...]
Way = tuple[str | int, ...]
"""Where a value lies in a message: names of members and indexes of elements."""


@dataclass(frozen=True, slots=True)
class SchemaDifference:
    """A requirement of the reader that the writer does not promise; `name` is Confluent's where Confluent has one.

    The places are those of the keyword, None if a side does not have it. `route` leads to the value in a message, and
    `way` names the members that it leaves open, if only some names show the difference.
    `inside` are differences of two alternatives that would else go together: what to look at for a message.
    """

    name: str
    writer: SchemaShape
    reader: SchemaShape
    writer_at: Parts | None
    reader_at: Parts | None
    route: Route
    member: str = ""
    inside: tuple[SchemaDifference, ...] = ()
    way: Way = ()


class TooMuchToCompare(Exception):
    """The schemas have too many combinations to compare."""


class Walking(Protocol):
    """A walk over two schemas, as the comparisons of one kind of shape use it."""

    def compare(self, writer: SchemaShape, reader: SchemaShape, route: Route) -> list[SchemaDifference]:
        """Return the differences of two shapes."""

    def compare_back(self, writer: SchemaShape, reader: SchemaShape, route: Route) -> list[SchemaDifference]:
        """Return the differences of two shapes whose roles are exchanged: under `not`."""

    def breaks(self, differences: Iterable[SchemaDifference]) -> bool:
        """Return whether any of the differences counts in this walk."""

    def is_same(self, mine: Any, theirs: Any) -> bool:
        """Return whether a schema of the writer and one of the reader are written alike, and so mean the same."""

    def read_writer(self, schema: Any, at: Parts) -> SchemaShape:
        """Return the shape of a schema of the writer's document."""

    def read_reader(self, schema: Any, at: Parts) -> SchemaShape:
        """Return the shape of a schema of the reader's document."""

    def writer_parts(self, shape: SchemaShape) -> tuple[SchemaShape, ...]:
        """Return the parts of a combination of the writer."""

    def reader_parts(self, shape: SchemaShape) -> tuple[SchemaShape, ...]:
        """Return the parts of a combination of the reader."""


def differ(
    name: str, writer: SchemaShape, reader: SchemaShape, route: Route, *words: str, member: str = ""
) -> SchemaDifference:
    """Return a difference that stands at a keyword of both shapes, or at a member of it."""
    return SchemaDifference(
        name, writer, reader, _place(writer, words), _place(reader, words), route, member=member or "".join(words[1:])
    )


def _place(shape: SchemaShape, words: Parts) -> Parts | None:
    """Return where the words lead in a shape's schema; None if the first is missing there."""
    schema = shape.schema
    if words and not (isinstance(schema, dict) and words[0] in schema):
        return None
    if len(words) > 1 and isinstance(schema[words[0]], dict):
        return (*shape.at, *words) if words[1] in schema[words[0]] else None
    return (*shape.at, *words[:1])


def is_same(one: Any, other: Any) -> bool:
    """Return whether two JSON values are written alike: for Python, true is 1, but not in its text."""
    return one is other or (bool(one == other) and repr(one) == repr(other))


def as_key(value: Any) -> str:
    """Return a text that two JSON values share when JSON Schema takes them for equal: 1 is 1.0, and true is not 1."""
    return json.dumps(_plain(value), sort_keys=True)


def _plain(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {name: _plain(below) for name, below in value.items()}
    return [_plain(below) for below in value] if isinstance(value, list) else value
