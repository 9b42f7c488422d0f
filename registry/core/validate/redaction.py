"""Redaction: a message with names and codes kept, and every value of a row replaced by its shape.

Values become shapes unless they are members that the contract knows outside rows and accepts there (`disclosure`).
The text is read token by token and only as far as it is shown, so long or broken messages are cheap as well.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from typing import Any, Final

from cdc_contracts.registry.core.contract.catalogue import Version
from cdc_contracts.registry.core.validate.disclosure import NOTHING, Disclosure, disclosure_of
from cdc_contracts.registry.core.values import Number, describe_shape
from cdc_contracts.registry.core.values.value_shapes import shape_of

MOST_CHARACTERS: Final = 2_000
CUT: Final = "…"

_TOKEN: Final = re.compile(
    r"""[ \t\r\n]*(?:("(?:[^"\\]|\\.)*+")|(-?[0-9][0-9.eE+-]*+)|(true|false)|(null)|([{}\[\]:,]))""", re.DOTALL
)
_COLON: Final = re.compile(r"[ \t\r\n]*:")
_IN_STATEMENT: Final = re.compile(
    r"""(?P<comment>--[^\n]*|(?<![\w$])\#[^\n]*|/\*.*?(?:\*/|\Z))"""
    r"""|(?P<dollar>(?<![\w$])(?P<tag>\$(?:[^\W\d]\w*)?\$).*?(?:(?P=tag)|\Z))"""
    r"""|(?P<quote>\bn?q'(?:\[.*?(?:\]'|\Z)|\{.*?(?:\}'|\Z)|\(.*?(?:\)'|\Z)|<.*?(?:>'|\Z)"""
    r"""|(?P<mark>\S).*?(?:(?P=mark)'|\Z)))"""
    r"""|'(?P<text>(?:[^'\\]|\\.|'')*+)'?"""
    r"""|(?P<name>`[^`]*`|\.\s*"[^"]*"|"[^"]*"(?=\s*\.)"""
    r"""|\b(?:TABLE|COLUMN|ADD|MODIFY|CHANGE|DROP|RENAME|TO|INDEX|ON|KEY|EXISTS|AFTER|INTO|FROM)\s*\(?\s*"[^"]*")"""
    r"""|"(?P<quoted>(?:[^"\\]|\\.)*+)"?"""
    r"""|(?P<type>\b(?!VALUES\b|IN\b|THAN\b|CHECK\b)[A-Za-z_]\w*+(?:\([0-9]+(?:\s*,\s*[0-9]+)?\))?)"""
    r"""|(?P<number>(?<!\w)[0-9]\w*|[0-9]+)""",
    re.DOTALL | re.IGNORECASE,
)
_STATEMENT: Final = re.compile(
    r"(?:\s|;|\(|--[^\n]*(?:\n|\Z)|\#[^\n]*(?:\n|\Z)|/\*.*?(?:\*/|\Z))*+(?:\Z|(?:alter|analyze|begin|call|comment|commit|"
    r"create|declare|delete|drop|exec|execute|explain|flush|grant|insert|lock|merge|optimize|purge|rename|repair|"
    r"replace|revoke|rollback|select|set|start|truncate|unlock|update|use|with|xa)\b)",
    re.DOTALL | re.IGNORECASE,
)
_STRING, _NUMBER, _BOOLEAN, _NULL, _MARK = range(1, 6)
_MOST_KEPT: Final = 500
_MOST_DIGITS: Final = 40
_MOST_SEARCHED: Final = 64 * 1024
_MOST_COLUMNS: Final = 256


def redact_message(text: bytes | str, version: Version | None, *, most: int = MOST_CHARACTERS) -> str:
    """Return the JSON text of a message with shapes for values, but for the members that a version knows.

    Names, codes, types and times stay where they are valid; values of rows and keys never do. A number keeps its
    punctuation (`-99.9`), a text becomes its shape (`"9999-99-99"`), a boolean `"boolean"`; null stays null. Without a
    version only the names of members stay. Text that is not JSON becomes one shape. After `most` characters the text
    ends with an ellipsis.
    """
    text = text if isinstance(text, str) else text.decode("utf-8", "replace")
    shown, end = "", 0
    keeps = NOTHING if version is None else disclosure_of(version)
    for part, end in _redacted(text, keeps):  # noqa: B007  the last position is asked for below
        shown += part
        if len(shown) > most:
            return shown[:most] + CUT
    rest = text[end : end + most + 1].strip(" \t\r\n")
    return cut_text(shown + (shape_of(rest) if rest else ""), most)


def cut_text(text: str, most: int = MOST_CHARACTERS) -> str:
    """Return a text cut to `most` characters, with an ellipsis if it was longer."""
    return text if len(text) <= most else text[:most] + CUT


def redact_statement(text: str) -> str:
    """Return a DDL statement with shapes for its literals and comments; names, types and their lengths stay.

    Text in double quotes counts as a name only where a statement has names: to some databases it is a literal. A text
    that does not begin like a statement becomes its shape.
    """
    return _IN_STATEMENT.sub(_redact_part, text) if _STATEMENT.match(text) else shape_of(text)


def _redact_part(found: re.Match[str]) -> str:
    part: str = found[0]
    match found.lastgroup:
        case "text" | "quoted" as kind:
            return part[0] + shape_of(found[kind]) + part[0]
        case "comment" | "number" | "dollar" | "quote":
            return shape_of(part)
    return part


def _redacted(text: str, keeps: Disclosure) -> Iterator[tuple[str, int]]:
    """Yield each token as it may be shown, with the position after it, up to where the text stops being JSON."""
    columns = lru_cache(_MOST_COLUMNS)(partial(_names_member, text[:_MOST_SEARCHED]))
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
            takes = partial(keeps.takes, here, is_column=columns, listed=bool(inside) and inside[-1] == "[")
            yield _value(kind, piece, takes, statement=here == keeps.statement), end
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


def _value(kind: int, token: str, takes: Callable[[Any], bool], *, statement: bool) -> str:
    if kind == _STRING and statement:
        return json.dumps(cut_text(redact_statement(_read(token)), _MOST_KEPT), ensure_ascii=False)
    if kind == _NULL:
        return token
    return token if len(token) <= _MOST_KEPT and takes(_parsed(kind, token)) else _shape(kind, token)


def _parsed(kind: int, token: str) -> Any:
    """Return the value of a token by the strict parser; None if it is invalid."""
    if kind == _BOOLEAN:
        return token == "true"  # noqa: S105  a JSON token
    try:
        return Number(token) if kind == _NUMBER else json.loads(token)
    except ValueError:
        return None


def _names_member(text: str, name: str) -> bool:
    """Return whether some object of a JSON text has a member of that name: names of columns are shown anyway."""
    written = re.escape(json.dumps(name, ensure_ascii=False))
    return re.search(rf"(?<!\\){written}[ \t\r\n]*:", text) is not None


def _shape(kind: int, token: str) -> str:
    if kind == _BOOLEAN:
        return '"boolean"'
    if kind == _NUMBER and len(token) <= _MOST_DIGITS:
        return re.sub("[0-9]", "9", token)
    return json.dumps(describe_shape(_read(token) if kind == _STRING else token), ensure_ascii=False)


def _read(token: str) -> str:
    """Return the text of a JSON string; the token itself if it is invalid."""
    try:
        text: str = json.loads(token, strict=False)
    except ValueError:
        return token
    return text
