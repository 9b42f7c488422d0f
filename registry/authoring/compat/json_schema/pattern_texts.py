"""Pattern texts: texts that match a regular expression, for messages; of the simple expressions that schemas use."""

from __future__ import annotations

import re
import string
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

import jsonschema_rs

_CLASSES: Final = {"d": "0", "w": "a", "s": " ", "D": "a", "W": "-", "S": "a"}
_ALPHABET: Final = string.digits + string.ascii_letters + string.punctuation + " "
_QUANTIFIER: Final = re.compile(r"\{(\d+)(?:,(\d*))?\}|([*+?])")
_CASE: Final = 3


class _Unreadable(Exception):
    """The expression uses syntax that is not supported here."""


@lru_cache(1024)  # a schema has few patterns, used for many members
def _validator_of(pattern: str) -> jsonschema_rs.Validator:
    return jsonschema_rs.Draft7Validator({"pattern": pattern})


def finds(pattern: str, text: str) -> bool:
    """Return whether a pattern finds something in a text, as validators do."""
    return _validator_of(pattern).is_valid(text)


def write_text(pattern: str) -> Iterator[str]:
    """Yield texts that the pattern finds, the shortest first; none if it is not supported."""
    for more in (0, 1, _CASE):
        try:
            text, rest = _write_choice(pattern, 0, more)
            if rest == len(pattern) and finds(pattern, text):
                yield text
        except (_Unreadable, re.error, ValueError, IndexError):
            return


def _write_choice(pattern: str, at: int, more: int) -> tuple[str, int]:
    """Return a text for the first alternative at `at`, and where the alternatives end."""
    first: str | None = None
    while True:
        text, at = _write_sequence(pattern, at, more)
        first = text if first is None else first
        if at >= len(pattern) or pattern[at] == ")":
            return first, at
        at += 1


def _write_sequence(pattern: str, at: int, more: int) -> tuple[str, int]:
    written = []
    while at < len(pattern) and pattern[at] not in "|)":
        text, at = _write_atom(pattern, at, more)
        found = _QUANTIFIER.match(pattern, at)
        if found:
            at = found.end() + (1 if pattern[found.end() : found.end() + 1] == "?" else 0)
            text *= _times(found, more)
        written.append(text)
    return "".join(written), at


def _times(found: re.Match[str], more: int) -> int:
    if found[3]:
        most = 1 if found[3] == "?" else more + 1
        return max(min(more, most), 1 if found[3] == "+" else 0)
    least = int(found[1])
    if found[2] is None:
        return least
    return least + more if found[2] == "" else min(least + more, int(found[2]))


def _write_atom(pattern: str, at: int, more: int) -> tuple[str, int]:
    sign = pattern[at]
    if sign in "^$":
        return "", at + 1
    if sign == ".":
        return "a", at + 1
    if sign == "\\":
        return _write_escape(pattern[at + 1]), at + 2
    if sign == "[":
        return _write_class(pattern, at)
    if sign == "(":
        if pattern.startswith("(?", at) and not pattern.startswith("(?:", at):
            raise _Unreadable
        text, end = _write_choice(pattern, at + (3 if pattern.startswith("(?:", at) else 1), more)
        return text, end + 1
    if sign in "*+?{":
        raise _Unreadable
    return sign, at + 1


def _write_escape(sign: str) -> str:
    if sign in _CLASSES:
        return _CLASSES[sign]
    if sign.isalnum():
        raise _Unreadable
    return sign


def _write_class(pattern: str, at: int) -> tuple[str, int]:
    """Return one character of a class."""
    end = at + 2
    while pattern[end] != "]" or pattern[end - 1] == "\\":
        end += 1
    one = re.compile(pattern[at : end + 1])
    found = next((sign for sign in _ALPHABET if one.match(sign)), None)
    if found is None:
        raise _Unreadable
    return found, end + 1
