"""Schema texts read strictly as JSON: text that parsers read differently, or fail on, is refused with its place."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from typing import Any, Final, NoReturn

from cdc_contracts.registry.core.common.json_messages import depth_exceeds

MOST_DIGITS: Final = 400
"""Digits of a number: more than the longest that a documented message holds."""
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_ESCAPED: Final = re.compile(r"\\u[dD][89a-fA-F]")
_LONGEST_SHOWN: Final = 40


class SchemaFault(Exception):
    """A schema is invalid, or is not safe to process: what, where, how to fix it.

    `pointer` is a JSON Pointer into the schema; where its text is no JSON, `line` and `column` say where, from 1.
    """

    def __init__(self, what: str, pointer: str = "", *, hint: str = "", line: int = 0, column: int = 0) -> None:
        super().__init__(what)
        self.what = what
        self.pointer = pointer
        self.hint = hint
        self.line = line
        self.column = column


def parse_schema_text(text: str, *, max_depth: int) -> Any:
    """Return the JSON value of a schema's text. Raises SchemaFault if it is not exactly one, in every reading."""
    if not text.strip():
        raise SchemaFault("the schema is empty", hint="Send the text of the schema.")
    if text.startswith("\ufeff"):
        raise SchemaFault("the schema starts with a byte order mark", line=1, column=1, hint="Save it without one.")
    raw = _SURROGATE.search(text)
    if raw is not None:
        _refuse(text, raw.start(), "a lone surrogate", "Write the complete surrogate pair.")
    if depth_exceeds(text.encode(), max_depth):
        raise SchemaFault(
            f"objects and arrays are nested more than {max_depth} levels deep",
            hint="Move inner schemas out and name them: `$defs` in JSON Schema, named types in Avro.",
        )
    try:
        value = json.loads(
            text, object_pairs_hook=_members, parse_int=_integer, parse_float=_float, parse_constant=_refuse_word
        )
    except json.JSONDecodeError as error:
        raise SchemaFault(f"not JSON: {error.msg}", line=error.lineno, column=error.colno) from None
    except _Twice as error:
        _refuse_duplicate_names(text, error.name)
    except _NotANumber as error:
        _refuse(text, text.find(error.token), error.what, error.hint)
    if _ESCAPED.search(text):
        _refuse_lone_surrogates(value)
    return value


class _Twice(Exception):
    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


class _NotANumber(Exception):
    def __init__(self, token: str, what: str, hint: str) -> None:
        super().__init__(what)
        self.token = token
        self.what = what
        self.hint = hint


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        seen: set[str] = set()
        for name, _ in pairs:
            if name in seen:
                raise _Twice(name)
            seen.add(name)
    return members


def _integer(token: str) -> int:
    if len(token) > MOST_DIGITS:
        raise _too_long(token)
    return int(token)


def _float(token: str) -> float:
    if len(token) > MOST_DIGITS:
        raise _too_long(token)
    value = float(token)
    if math.isinf(value) or (value == 0 and re.search("[1-9]", token.lower().partition("e")[0])):
        raise _NotANumber(token, f"{token} is beyond what a number may be", "Stay between 1e-307 and 1e308.")
    return value


def _too_long(token: str) -> _NotANumber:
    what = f"a number of {len(token)} characters"
    return _NotANumber(token, what, f"Write numbers of at most {MOST_DIGITS} digits.")


def _refuse_word(token: str) -> NoReturn:
    raise _NotANumber(token, f"{token} is no JSON", "JSON has no word for it: leave it out.")


def _refuse(text: str, at: int, what: str, hint: str) -> NoReturn:
    before = text[:at]
    raise SchemaFault(what, hint=hint, line=before.count("\n") + 1, column=at - before.rfind("\n"))


def _refuse_duplicate_names(text: str, name: str) -> NoReturn:
    """Raise SchemaFault for a duplicate key, with its place if only one object can be meant."""
    shown = name if len(name) <= _LONGEST_SHOWN else name[: _LONGEST_SHOWN - 1] + "…"
    what, hint = f"the key `{shown}` occurs twice in one object", "Keep one of the two: readers differ in which."
    found = [match.start() for match in re.finditer(re.escape(json.dumps(name)) + r"\s*:", text)]
    if len(found) == 2:  # noqa: PLR2004  the two
        _refuse(text, found[1], what, hint)
    raise SchemaFault(what, hint=hint)


def _refuse_lone_surrogates(value: Any) -> None:
    """Raise SchemaFault if an escape such as backslash-u-d800 is a lone surrogate."""
    for pointer, text in _texts(value):
        if _SURROGATE.search(text):
            raise SchemaFault("a lone surrogate", pointer, hint="Write the complete surrogate pair.")


def _texts(value: Any) -> Iterator[tuple[str, str]]:
    """Yield every text with the pointer to what holds it."""
    waiting = [("", value)]
    while waiting:
        pointer, one = waiting.pop()
        if isinstance(one, str):
            yield pointer, one
        elif isinstance(one, list):
            waiting.extend((pointer, item) for item in one)
        elif isinstance(one, dict):
            for name, item in one.items():
                yield pointer, name
                waiting.append((pointer, item))
