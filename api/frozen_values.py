"""Frozen values: dictionaries and lists that cannot be changed, and so can be shared, compared and hashed.

They are dictionaries and lists to everything else: JSON, pandas, `**`, `|` and equality take them as such. `copy()` is
one that can be changed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn, TypeVar

Key = TypeVar("Key")
Item = TypeVar("Item")


def _refuse(self: object, *_given: object, **_named: object) -> NoReturn:
    raise TypeError("results cannot be changed: change a copy(), which is independent of them")


class FrozenDict(dict[Key, Item]):
    """A dictionary that cannot be changed."""

    __slots__ = ()
    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))

    def __reduce__(self) -> tuple[Any, ...]:
        return FrozenDict, (dict(self),)


class FrozenList(list[Item]):
    """A list that cannot be changed."""

    __slots__ = ()
    __setitem__ = __delitem__ = __iadd__ = __imul__ = _refuse
    append = clear = extend = insert = pop = remove = reverse = sort = _refuse

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(tuple(self))

    def __reduce__(self) -> tuple[Any, ...]:
        return FrozenList, (list(self),)


def freeze_document(value: Any) -> Any:
    """Return a JSON value with all its objects and lists frozen."""
    if isinstance(value, Mapping):
        return FrozenDict({name: freeze_document(below) for name, below in value.items()})
    if isinstance(value, list | tuple):
        return FrozenList(map(freeze_document, value))
    return value
