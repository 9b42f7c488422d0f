"""Smallest messages of schemas: how many values they hold, and how deep they are nested."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from typing import Final

from cdc_contracts.registry.core.schema.avro_types.type_graph import AvroType
from cdc_contracts.registry.core.schema.schema_texts import SchemaFault

MAX_VALUES: Final = 1_000_000
"""Values that the smallest message of a schema may hold."""


def refuse_endless(root: AvroType) -> None:
    """Raise SchemaFault if a type holds itself with no way out, or its smallest message is too large."""
    sizes = smallest_sizes(root)
    for type_ in all_types(root):
        if type_ not in sizes:
            raise SchemaFault(
                f"{type_} contains itself unconditionally, so no finite message exists",
                type_.pointer,
                hint="Put the inner type into a union with null, an array or a map.",
            )
        if sizes[type_] > MAX_VALUES:
            raise SchemaFault(
                f"the smallest message of {type_} has more than {MAX_VALUES:,} values",
                type_.pointer,
                hint="Nested types that occur several times multiply; use arrays, or include each type once.",
            )


def all_types(root: AvroType) -> Iterator[AvroType]:
    """Yield each type of a schema once."""
    seen = {root}
    waiting = [root]
    while waiting:
        type_ = waiting.pop()
        yield type_
        for part in type_.parts:
            if part not in seen:
                seen.add(part)
                waiting.append(part)


def smallest_sizes(root: AvroType) -> dict[AvroType, int]:
    """Return how many values the smallest datum of each type holds; types without end are not in it.

    A type is resolved once the parts that its smallest datum needs are: all fields of a record, one branch of a union,
    and none of an array or map. The smallest open one is resolved next, as in Dijkstra's algorithm.
    """
    users: dict[AvroType, list[AvroType]] = {}
    missing: dict[AvroType, int] = {}
    ready: list[tuple[int, int, AvroType]] = []
    sizes: dict[AvroType, int] = {}
    for type_ in all_types(root):
        needed = list(type_.parts) if type_.kind in ("record", "union") else []
        missing[type_] = len(needed)
        for part in needed:
            users.setdefault(part, []).append(type_)
        if not needed:
            heapq.heappush(ready, (1, id(type_), type_))
    while ready:
        size, _, type_ = heapq.heappop(ready)
        if type_ in sizes:
            continue
        sizes[type_] = size
        for user in users.get(type_, ()):
            missing[user] -= 1
            if user.kind == "union":
                heapq.heappush(ready, (size, id(user), user))
            elif not missing[user]:
                total = 1 + sum(sizes[field.type] for field in user.fields)
                heapq.heappush(ready, (min(total, MAX_VALUES + 1), id(user), user))
    return sizes
