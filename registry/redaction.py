"""Redaction: a message as it may be shown, its names and codes kept and every value of a row told by its shape.

Values are shapes unless they are members that the contract knows outside of rows: what it does not know is redacted.
The text is read token by token and only as far as it is shown, so that a long or broken message costs no more.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from cdc_contracts.registry.catalogue import Version
from cdc_contracts.registry.forms import describe_shape
from cdc_contracts.registry.forms.shapes import STEPS
from cdc_contracts.registry.pointers import join_pointer, split_pointer

MOST_CHARACTERS: Final = 2_000
CUT: Final = "…"

_TOKEN: Final = re.compile(
    r"""[ \t\r\n]*(?:("(?:[^"\\]|\\.)*+")|(-?[0-9][0-9.eE+-]*+)|(true|false)|(null)|([{}\[\]:,]))""", re.DOTALL
)
_COLON: Final = re.compile(r"[ \t\r\n]*:")
_IN_STATEMENT: Final = re.compile(
    r"""(?P<comment>--[^\n]*|/\*.*?(?:\*/|\Z))"""
    r"""|'(?P<text>(?:[^'\\]|\\.|'')*+)'?"""
    r"""|(?P<name>`[^`]*`|\.\s*"[^"]*"|"[^"]*"(?=\s*\.)"""
    r"""|\b(?:TABLE|COLUMN|ADD|MODIFY|CHANGE|DROP|RENAME|TO|INDEX|ON|KEY|EXISTS|AFTER|INTO|FROM)\s*\(?\s*"[^"]*")"""
    r"""|"(?P<quoted>(?:[^"\\]|\\.)*+)"?"""
    r"""|(?P<type>\b(?!VALUES\b|IN\b|THAN\b|CHECK\b)[A-Za-z_]\w*+(?:\([0-9]+(?:\s*,\s*[0-9]+)?\))?)"""
    r"""|(?P<number>[0-9]+)""",
    re.DOTALL | re.IGNORECASE,
)
_STRING, _NUMBER, _BOOLEAN, _NULL, _MARK = range(1, 6)
_MOST_KEPT: Final = 500
_MOST_DIGITS: Final = 40
_DEEPEST: Final = 8

Path = tuple[str, ...]


def redact_message(text: bytes | str, version: Version | None, *, most: int = MOST_CHARACTERS) -> str:
    """Return the JSON text of a message with shapes for values, but for the members that a version knows.

    Names, codes, types and times stay, values of rows and keys never do. A number keeps its punctuation (`-99.9`), a
    text becomes its shape (`"9999-99-99"`), a boolean `"boolean"`; null stays null. Without a version nothing stays
    but the names of members. What is no JSON becomes one shape. After `most` characters comes an ellipsis.
    """
    text = text if isinstance(text, str) else text.decode("utf-8", "replace")
    shown, end = "", 0
    for part, end in _redacted(text, _keeps_of(version)):  # noqa: B007  the last position is asked for below
        shown += part
        if len(shown) > most:
            return shown[:most] + CUT
    rest = text[end : end + most + 1].strip(" \t\r\n")
    return cut_text(shown + (shape_of(rest) if rest else ""), most)


def cut_text(text: str, most: int = MOST_CHARACTERS) -> str:
    """Return a text that is no longer than `most` characters, and an ellipsis where there was more."""
    return text if len(text) <= most else text[:most] + CUT


def shape_of(text: str) -> str:
    """Return the shape of a text of any length."""
    for pattern, stand_in in STEPS:
        text = re.sub(pattern, stand_in, text)
    return text


def redact_statement(text: str) -> str:
    """Return a DDL statement with shapes for its literals and comments; names, types and their lengths stay.

    What stands in double quotes is a name only where a statement has one: to some databases it is a text.
    """
    return _IN_STATEMENT.sub(_redact_part, text)


def _redact_part(found: re.Match[str]) -> str:
    part: str = found[0]
    match found.lastgroup:
        case "text" | "quoted" as kind:
            return part[0] + shape_of(found[kind]) + part[0]
        case "comment" | "number":
            return shape_of(part)
    return part


@dataclass(frozen=True)
class _Keeps:
    """What of a message may be shown: the values at some places, all below others, and where rows stand."""

    values: frozenset[Path]
    below: tuple[Path, ...]
    images: frozenset[Path]
    statement: Path | None = None

    def value_at(self, path: Path) -> bool:
        return path in self.values or any(path[: len(one)] == one for one in self.below)

    def names_at(self, path: Path) -> bool:
        """Say whether the members of an object may be named: not those of a value of a column."""
        return self.value_at(path) or not any(path[:depth] in self.images for depth in range(len(path)))


def _redacted(text: str, keeps: _Keeps) -> Iterator[tuple[str, int]]:
    """Yield each token as it may be shown, with the position behind it, up to where the text is no JSON any more."""
    path: list[str] = []
    inside: list[str] = []  # `{` or `[` for each object and list that is open
    wants_name = False
    end = 0
    while match := _TOKEN.match(text, end):
        kind, end = match.lastindex or 0, match.end()
        piece = match[kind]
        here = tuple(path)
        if wants_name and piece not in "{[}]":
            named = kind == _STRING and _COLON.match(text, end) and keeps.names_at(here)
            yield piece if named or kind == _MARK else _shape(kind, piece), end
            path.append(_read(piece))
            wants_name = False
            continue
        if kind != _MARK:
            yield _value(kind, piece, keeps, here), end
            continue
        if piece in "{[":
            inside.append(piece)
            wants_name = piece == "{"
        elif piece in "}]":
            if not inside:
                return
            if inside.pop() == "{" and not wants_name:
                del path[-1:]
            wants_name = False
        elif piece == "," and inside and inside[-1] == "{":
            del path[-1:]
            wants_name = True
        yield {",": ", ", ":": ": "}.get(piece, piece), end
        if not inside:
            return


def _value(kind: int, token: str, keeps: _Keeps, path: Path) -> str:
    if kind == _STRING and path == keeps.statement:
        return json.dumps(cut_text(redact_statement(_read(token)), _MOST_KEPT), ensure_ascii=False)
    kept = kind == _NULL or (keeps.value_at(path) and len(token) <= _MOST_KEPT)
    return token if kept else _shape(kind, token)


def _shape(kind: int, token: str) -> str:
    if kind == _BOOLEAN:
        return '"boolean"'
    if kind == _NUMBER and len(token) <= _MOST_DIGITS:
        return re.sub("[0-9]", "9", token)
    return json.dumps(describe_shape(_read(token) if kind == _STRING else token), ensure_ascii=False)


def _read(token: str) -> str:
    """Return the text that a JSON string holds; the token where it holds none."""
    try:
        text: str = json.loads(token, strict=False)
    except ValueError:
        return token
    return text


@lru_cache(64)
def _keeps_of(version: Version | None) -> _Keeps:
    if version is None:
        return _Keeps(frozenset(), (), frozenset())
    meaning = version.meaning
    envelope, columns, ddl = meaning.envelope, meaning.columns, meaning.ddl
    images = frozenset(map(split_pointer, meaning.images.pointers()))
    below = [part.at for part in (columns.codes, columns.hints) if part is not None]
    types = columns.types
    if types != "none":
        below += [types.at] if types.at is not None else []
        below += [join_pointer(*path, types.in_image) for path in images if types.in_image is not None]
    keys, statement = envelope.primary_key_values, ddl.text if ddl else None
    secret = {split_pointer(place.at) for place in (keys, statement) if place is not None and place.at is not None}
    values = {split_pointer(envelope.op.at), *known_members(version)} - secret
    return _Keeps(
        frozenset(path for path in values if not any(path[:depth] in images for depth in range(1, len(path) + 1))),
        tuple(map(split_pointer, below)),
        images,
        split_pointer(statement.at) if statement is not None and statement.at is not None else None,
    )


@lru_cache(64)
def known_members(version: Version) -> frozenset[Path]:
    """Return where the schema of a message has a member; lists are not on the way, and columns no members."""
    return frozenset(_known_members(version.schema, version.schema, ()))


def _known_members(whole: Mapping[str, Any], schema: Mapping[str, Any], path: Path) -> Iterator[Path]:
    if "$ref" in schema:
        schema = whole["$defs"][schema["$ref"].rpartition("/")[2]]
    if isinstance(schema.get("items"), dict):
        schema = schema["items"]
    for name, below in schema.get("properties", {}).items():
        yield (*path, name)
        if len(path) < _DEEPEST:
            yield from _known_members(whole, below, (*path, name))
