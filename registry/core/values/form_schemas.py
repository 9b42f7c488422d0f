"""Form schemas: kinds of JSON, patterns, and JSON Schema fragments for one value or null, of which forms are made."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

TEXT: Final = frozenset({"text"})
NUMBER: Final = frozenset({"number"})
BOOLEAN: Final = frozenset({"boolean"})
EITHER: Final = TEXT | NUMBER
OBJECT: Final = frozenset({"object"})
STRUCTURE: Final = frozenset({"array"}) | OBJECT

INTEGER: Final = "-?(?:0|[1-9][0-9]*)"
JSON_NUMBER: Final = rf"{INTEGER}(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?"
DATE: Final = "[0-9]{4}-[0-9]{2}-[0-9]{2}"
FAR_DATE: Final = r"(?:-[0-9]{4,7}|\+[0-9]{5,7})-[0-9]{2}-[0-9]{2}"
"""A date of a year before 0000 or after 9999 as ISO 8601 writes it: with a sign."""
PART: Final = r"(?:\.[0-9]{1,9})?"
CLOCK: Final = "[0-9]{2}:[0-9]{2}:[0-9]{2}" + PART
CLOCK_MINUTES: Final = "[0-9]{2}:[0-9]{2}(?::[0-9]{2}" + PART + ")?"
OFFSET: Final = "[+-](?:(?:0[0-9]|1[0-7]):[0-5][0-9](?::[0-5][0-9])?|18:00(?::00)?)"
"""How far a clock is ahead of UTC or behind it."""
SIGN: Final = "-?[1-9]?"
"""What may stand before two digits of hours."""


def any_of(kind: str) -> Mapping[str, Any]:
    """Take any value of a JSON kind."""
    return {"type": [kind, "null"]}


def at_least(minimum: int, kind: str = "integer") -> Mapping[str, Any]:
    """Take a number from a minimum on."""
    return {"type": [kind, "null"], "minimum": minimum}


def text_like(pattern: str) -> Mapping[str, Any]:
    """Take text of a pattern, from its beginning to its end."""
    return {"type": ["string", "null"], "pattern": f"^(?:{pattern})$"}


def text_or(kind: str, pattern: str, **more: int) -> Mapping[str, Any]:
    """Take a number, or text of a pattern."""
    return {"type": [kind, "string", "null"], "pattern": f"^(?:{pattern})$", **more}
