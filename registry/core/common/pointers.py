"""Pointers, as JSON has them (RFC 6901): where a member is in a message."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final, NewType
from urllib.parse import unquote

Pointer = NewType("Pointer", str)


class _Absent:
    """The value of an absent member, as distinct from null."""

    def __repr__(self) -> str:
        return "ABSENT"

    def __bool__(self) -> bool:
        return False


ABSENT: Final = _Absent()


@lru_cache(4096)  # the same few of a contract, over and over
def split_pointer(pointer: str) -> tuple[str, ...]:
    """Return the member names on the way; `""` is the whole message.

    Raises ValueError if the text is no JSON Pointer.
    """
    if not pointer:
        return ()
    if not pointer.startswith("/"):
        raise ValueError(f"not a JSON Pointer (it has to start with /): {pointer}")
    return tuple(part.replace("~1", "/").replace("~0", "~") for part in pointer[1:].split("/"))


@lru_cache(4096)
def split_reference(reference: str) -> tuple[str, ...] | None:
    """Return the names on the way that a `$ref` leads inside its own document; None if it leads elsewhere."""
    if reference != "#" and not reference.startswith("#/"):
        return None
    return split_pointer(unquote(reference[1:]))


@lru_cache(4096)
def join_pointer(*parts: str) -> str:
    """Return the pointer that leads along these member names."""
    return "".join("/" + part.replace("~", "~0").replace("/", "~1") for part in parts)


def follow(value: Any, parts: tuple[str, ...]) -> Any:
    """Return the value at the end of `parts`, or ABSENT if the path ends early."""
    for part in parts:
        if not isinstance(value, dict) or part not in value:
            return ABSENT
        value = value[part]
    return value


def find_in_document(document: Any, parts: tuple[str, ...]) -> Any:
    """Return the value at the end of `parts`, which lead through lists by number as well, or ABSENT."""
    for part in parts:
        if isinstance(document, list):
            document = document[int(part)] if part.isdigit() and int(part) < len(document) else ABSENT
        else:
            document = document.get(part, ABSENT) if isinstance(document, Mapping) else ABSENT
    return document
