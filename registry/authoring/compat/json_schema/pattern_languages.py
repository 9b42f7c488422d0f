"""Pattern languages: the regular languages of patterns, and which of several patterns one text can match together.

By derivatives of regular expressions: what is left of each pattern after a character is a pattern again, and there
are finitely many of them. Only what is regular and common in schemas is read; of a class of characters, validators
themselves say which ones it has.
"""

from __future__ import annotations

import re
import string
from collections import deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

from cdc_contracts.registry.authoring.compat.json_schema.pattern_texts import finds
from cdc_contracts.registry.core.schema.json_schemas.schema_checks import pattern_weight

_Node = tuple[Any, ...]
"""A regular expression: `("set", characters)`, `("then", one, next)`, `("or", choices)`, `("many", one)`, or `()`."""

_MOST_STATES: Final = 2_000
_MOST_TIMES: Final = 64
_LONGEST: Final = 200
_HEAVIEST: Final = 200
"""Steps of all patterns together, counts written out."""
_EVERYDAY: Final = string.ascii_letters + string.digits + string.punctuation + " \t\néß名\xa0\u2028\U0001f600\x00"
_SPECIAL: Final = frozenset("\\^$.|?*+()[]{}")
_QUANTIFIER: Final = re.compile(r"(?:([*+?])|\{(\d{1,3})(,(\d{0,3}))?\})\??")
_ATOM: Final = re.compile(
    r"\\(?:[dDwWsSnrtfv]|x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|[^0-9A-Za-z])|\[(?:\\.|[^\]\\])+\]|[^\\\[\](){}*+?|^$]",
    re.DOTALL,
)
_ESCAPED: Final = re.compile(r"\\(?:x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4}))")

_EMPTY: Final[_Node] = ("empty",)
_NOTHING: Final[_Node] = ("or", frozenset())


class _Unreadable(Exception):
    """A pattern uses syntax that is not supported here."""


@lru_cache(256)  # a schema has few patterns, compared in many places
def distinguish(patterns: tuple[str, ...]) -> Mapping[tuple[bool, ...], str] | None:
    """Return each way in which a text can match some patterns and not others, with one of the shortest such texts.

    None if a pattern is not supported, or there are too many combinations.
    """
    if sum(map(len, patterns)) > _LONGEST or sum(map(pattern_weight, patterns)) > _HEAVIEST:
        return None
    try:
        signs = _signs_of(patterns)
        start = tuple(_read(pattern, frozenset(signs)) for pattern in patterns)
    except (_Unreadable, ValueError):
        return None
    found: dict[tuple[bool, ...], str] = {}
    texts = {start: ""}
    waiting = deque([start])
    while waiting:
        state = waiting.popleft()
        found.setdefault(tuple(map(_is_nullable, state)), texts[state])
        for sign in signs:
            after = tuple(_after(node, sign) for node in state)
            if after not in texts:
                texts[after] = texts[state] + sign
                waiting.append(after)
        if len(texts) > _MOST_STATES:
            return None
    is_true = all(
        finds(one, text) is hit for hits, text in found.items() for one, hit in zip(patterns, hits, strict=True)
    )
    return found if is_true else None


def names_beside(patterns: Iterable[str], listed: Collection[str]) -> list[str] | None:
    """Return texts that are not listed, one for each way in which such a text can match some patterns and not others.

    None if that is not known.
    """
    apart = tuple(sorted(set(patterns)))
    kept_out: set[str] = set()
    while True:
        found = distinguish((*apart, *map(_exactly, sorted(kept_out))))
        if found is None:
            return None
        names = [text for hits, text in found.items() if not any(hits[len(apart) :])]
        listed_ones = set(names).intersection(listed)
        if not listed_ones:
            return names
        kept_out |= listed_ones


def _exactly(text: str) -> str:
    return "^" + "".join(f"\\{sign}" if sign in _SPECIAL else sign for sign in text) + "$"


def is_within(inner: str, outer: str) -> bool | None:
    """Return whether each text that one pattern matches is matched by another; None if that is not known."""
    found = distinguish((inner, outer))
    return None if found is None else (True, False) not in found


def _signs_of(patterns: Sequence[str]) -> list[str]:
    """Return one character for each kind that the patterns distinguish."""
    atoms = {atom[0] for pattern in patterns for atom in _ATOM.finditer(pattern)}
    spelled = [chr(int(one[1] or one[2], 16)) for pattern in patterns for one in _ESCAPED.finditer(pattern)]
    named = {sign for atom in atoms for sign in atom} | set(spelled)
    beside = {chr(ord(sign) + step) for sign in named for step in (-1, 1) if 0 <= ord(sign) + step < 0xD800}  # noqa: PLR2004  surrogates
    kinds: dict[tuple[bool, ...], str] = {}
    for sign in dict.fromkeys((*_EVERYDAY, *sorted(named), *sorted(beside))):
        kinds.setdefault(tuple(finds(f"^(?:{atom})$", sign) for atom in sorted(atoms)), sign)
    return list(kinds.values())


def _read(pattern: str, signs: frozenset[str]) -> _Node:
    """Return the language of all texts in which a pattern finds something."""
    reader = _Reader(pattern, signs)
    choices = []
    while True:
        begins, ends, body = reader.whole_sequence()
        anything = ("many", ("set", signs))
        choices.append(_then(_EMPTY if begins else anything, _then(body, _EMPTY if ends else anything)))
        if reader.at == len(pattern):
            return _either(choices)
        reader.expect("|")


class _Reader:
    """Reads one pattern from left to right."""

    def __init__(self, pattern: str, signs: frozenset[str]) -> None:
        self.pattern = pattern
        self.at = 0
        self._signs = signs

    def expect(self, text: str) -> None:
        if not self._skip(text):
            raise _Unreadable

    def whole_sequence(self) -> tuple[bool, bool, _Node]:
        """Return a choice of the whole pattern: whether it is anchored at both ends, and what is between them."""
        begins = self._skip("^")
        body = self._sequence()
        return begins, self._skip("$"), body

    def _skip(self, text: str) -> bool:
        if not self.pattern.startswith(text, self.at):
            return False
        self.at += len(text)
        return True

    def _sequence(self) -> _Node:
        parts: list[_Node] = []
        while self.at < len(self.pattern) and self.pattern[self.at] not in "|)$":
            parts.append(self._repeated(self._one()))
        node = _EMPTY
        for part in reversed(parts):
            node = _then(part, node)
        return node

    def _one(self) -> _Node:
        if self._skip("("):
            if self._skip("?"):
                self.expect(":")
            choices = [self._sequence()]
            while self._skip("|"):
                choices.append(self._sequence())
            self.expect(")")
            return _either(choices)
        atom = _ATOM.match(self.pattern, self.at)
        if atom is None:
            raise _Unreadable
        self.at = atom.end()
        return ("set", frozenset(sign for sign in self._signs if finds(f"^(?:{atom[0]})$", sign)))

    def _repeated(self, node: _Node) -> _Node:
        found = _QUANTIFIER.match(self.pattern, self.at)
        if found is None:
            return node
        self.at = found.end()
        sign, least, more, most = found.groups()
        if sign:
            low, high = {"*": (0, None), "+": (1, None), "?": (0, 1)}[sign]
        else:
            low = int(least)
            high = low if more is None else int(most) if most else None
        if max(low, high or 0) > _MOST_TIMES:
            raise _Unreadable
        rest: _Node = ("many", node) if high is None else _EMPTY
        for _ in range(0 if high is None else high - low):
            rest = _either([_EMPTY, _then(node, rest)])
        for _ in range(low):
            rest = _then(node, rest)
        return rest


def _then(first: _Node, second: _Node) -> _Node:
    if _NOTHING in (first, second):
        return _NOTHING
    if first == _EMPTY:
        return second
    if first[0] == "then":  # to the right, so that the same language is written alike
        return ("then", first[1], _then(first[2], second))
    return first if second == _EMPTY else ("then", first, second)


def _either(choices: Sequence[_Node]) -> _Node:
    flat: set[_Node] = set()
    for one in choices:
        flat.update(one[1] if one[0] == "or" else [one])
    return next(iter(flat)) if len(flat) == 1 else ("or", frozenset(flat))


@lru_cache(8192)
def _is_nullable(node: _Node) -> bool:
    match node:
        case ("empty",) | ("many", _):
            return True
        case ("then", first, second):
            return _is_nullable(first) and _is_nullable(second)
        case ("or", choices):
            return any(map(_is_nullable, choices))
    return False


@lru_cache(65536)
def _after(node: _Node, sign: str) -> _Node:
    """Return what is left to match after a character."""
    match node:
        case ("set", signs):
            return _EMPTY if sign in signs else _NOTHING
        case ("then", first, second):
            left = _then(_after(first, sign), second)
            return _either([left, _after(second, sign)]) if _is_nullable(first) else left
        case ("or", choices):
            return _either([_after(one, sign) for one in choices])
        case ("many", one):
            return _then(_after(one, sign), node)
    return _NOTHING
