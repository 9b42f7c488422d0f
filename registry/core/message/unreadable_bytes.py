"""Unreadable bytes: why they are no message, where reading stopped, the bytes around it, what they may be instead."""

from __future__ import annotations

import json
import re
from typing import Any, Final

from msgspec import UNSET, Struct

from cdc_contracts.registry.core.common.json_messages import MAX_DEPTH, Unreadable
from cdc_contracts.registry.core.common.written_models import Sometimes
from cdc_contracts.registry.core.message.wrapping_guesses import WrappingGuess, guess_bytes, guess_text

_AROUND: Final = 8
_PLAIN: Final = frozenset(b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
_FIRST_HIGH: Final = 0x80
_STRINGS = re.compile(rb'"(?:[^"\\]|\\.)*+"?', re.DOTALL)
_CLOSED_STRINGS = re.compile(rb'"(?:[^"\\]|\\.)*+"', re.DOTALL)
"""As depth is measured: what stands in a text without an end counts."""
_CONSTANTS = re.compile(rb"-?(?:NaN|Infinity)")
_SURROGATES = re.compile(
    r"(?:\\u[dD][89abAB][0-9a-fA-F]{2})(?!\\u[dD][c-fC-F])|(?<!\\u[dD][89abAB][0-9a-fA-F]{2})\\u[dD][c-fC-F]"
)
_REASONS: Final = {
    "Expecting ',' delimiter": "a comma or a closing bracket is missing here",
    "Expecting ':' delimiter": "a colon is missing after the name of a member",
    "Expecting value": "a value is expected here",
    "Expecting property name enclosed in double quotes": "a member name is expected here",
    "Illegal trailing comma before end of object": "there is a comma before the closing bracket",
    "Illegal trailing comma before end of array": "there is a comma before the closing bracket",
    "Invalid control character at": "a control character in a text is not escaped",
    "Invalid \\escape": "a backslash is followed by a character that it cannot escape",
    "Invalid \\uXXXX escape": "an escape has fewer than four hex digits",
    "Extra data": "the JSON text ends before this byte, but more follows",
}


class ParseFault(Struct, frozen=True):
    """Where a value stops being a message: the position of the byte, counted from 0, or None if none can be named.

    `window` has up to 16 bytes in hex, begun at `window_at`; letters and digits stand as `..`, other bytes over 127
    as `xx`, except the faulty one, unless values are to be shown. `inside` is what unwrapping gives.
    """

    cause: str
    reason: str
    position: int | None
    window_at: int
    window: str
    guess: str | None
    action: str
    inside: Sometimes[bytes] = UNSET


def find_fault(value: bytes, error: Unreadable, *, show_values: bool = False) -> ParseFault:
    """Return where and why a value that cannot be read stops being a message."""
    position, reason = _FINDERS.get(error.cause, _nowhere)(value)
    guess = guess_bytes(value) or (guess_text(value, position) if error.cause == "json" else None) or WrappingGuess()
    start = 0 if position is None else max(0, min(position - _AROUND, len(value) - 2 * _AROUND))
    return ParseFault(
        cause=error.cause,
        reason=reason or error.observed,
        position=position,
        window_at=start,
        window=_show_window(value, start, position, clear=show_values),
        guess=guess.says,
        action=guess.action or _ACTIONS.get(error.cause, _ANY_ACTION),
        inside=UNSET if guess.inside is None else guess.inside,
    )


def _show_window(value: bytes, start: int, position: int | None, *, clear: bool) -> str:
    shown = []
    for at, byte in enumerate(value[start : start + 2 * _AROUND], start):
        if clear or at == position:
            shown.append(f"{byte:02x}")
        else:
            shown.append(".." if byte in _PLAIN else "xx" if byte >= _FIRST_HIGH else f"{byte:02x}")
        if at == position:
            shown[-1] = f"[{shown[-1]}]"
    return " ".join(shown)


def _nowhere(value: bytes) -> tuple[int | None, str]:
    return None, ""


def _at_start(value: bytes) -> tuple[int | None, str]:
    return 0, ""


def _not_utf8(value: bytes) -> tuple[int | None, str]:
    try:
        value.decode("utf-8")
    except UnicodeDecodeError as error:
        return error.start, "this byte does not begin a UTF-8 character"
    return None, ""


def _not_json(value: bytes) -> tuple[int | None, str]:
    bare = _STRINGS.sub(lambda found: b" " * len(found[0]), value)
    constant = _CONSTANTS.search(bare)
    text = value.decode("utf-8")
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        position = len(text[: error.pos].encode())
        if constant is None or position < constant.start():
            if position >= len(value.rstrip(b" \t\r\n")) or error.msg.startswith("Unterminated"):
                return len(value), "the value ends in the middle of the message"
            return position, _REASONS.get(error.msg, "")
    except (ValueError, RecursionError):
        return None, ""
    return (constant.start(), "this is not a JSON number") if constant else (None, "")


def _too_deep(value: bytes) -> tuple[int | None, str]:
    depth = 0
    for at, byte in enumerate(_CLOSED_STRINGS.sub(lambda found: b" " * len(found[0]), value)):
        depth += (byte in b"[{") - (byte in b"]}")
        if depth > MAX_DEPTH:
            return at, f"the {MAX_DEPTH + 1}st bracket open at the same time"
    return None, ""


def _lone_surrogate(value: bytes) -> tuple[int | None, str]:
    text = value.decode("utf-8")
    found = _SURROGATES.search(text)
    return (len(text[: found.start()].encode()) if found else None), "half of a character, without its other half"


def _second_name(value: bytes) -> tuple[int | None, str]:
    return None, "an object has two members of one name, and --strict-json rejects that"


def _null_text(value: bytes) -> tuple[int | None, str]:
    return _not_object(value)[0], "this is the JSON text null: the four bytes, and no tombstone, which has no value"


def _not_object(value: bytes) -> tuple[int | None, str]:
    return len(value) - len(value.lstrip(b" \t\r\n")), "this is JSON, but not an object"


_FINDERS: Final[dict[str, Any]] = {
    "bom": _at_start,
    "utf8": _not_utf8,
    "json": _not_json,
    "depth": _too_deep,
    "surrogate": _lone_surrogate,
    "duplicate-member": _second_name,
    "not-object": _not_object,
    "null-text": _null_text,
}
_ANY_ACTION: Final = "Find the producer or converter that writes these bytes."
_ACTIONS: Final = {
    "empty": "Look for a producer that writes an empty value where a null (a tombstone) is meant.",
    "null-text": "If it stands for a deleted row, --parameter null_values=deletion reads it where the contract has "
    "such deletions; or have the producer send the row with a mark, or a tombstone.",
    "too-long": "Raise --max-bytes if messages of this size are meant to be there.",
    "depth": "Find what nests the message; no contract has more than a few levels.",
    "surrogate": "Find what cuts texts by half characters: mostly a column cut to a length in UTF-16 units.",
    "duplicate-member": "Leave out --strict-json, and the last of them wins.",
    "avro": "Compare the schema of the writer with the contract's: `cdc-contracts show REF --schema avro`.",
}
