"""Object texts: texts in messages that hold an object, as an image that is a text does."""

from __future__ import annotations

from typing import Any, Final

from cdc_contracts.registry.authoring.drafting.message_members import ObservedMember
from cdc_contracts.registry.core.common.json_messages import Unreadable, parse_message, taking_constants
from cdc_contracts.registry.core.message.text_images import open_text

CONSTANTS: Final = "$numberDouble"
"""The member in whose place NaN and Infinity may stand bare, as the form `extended-json` reads it."""
_DECODER: Final = taking_constants(CONSTANTS)


def read_object(text: str) -> dict[str, Any] | None:
    """Return the object that a text holds; None if it holds none."""
    opened = open_text(text, decoder=_DECODER)
    try:
        return None if opened is None else parse_message(opened)
    except Unreadable:
        return None


def holds_objects(member: ObservedMember) -> bool:
    """Return whether a member holds texts of objects alone, and not all of these are empty."""
    objects = [read_object(text) for text in member.texts] if member.is_only("string") else [None]
    return None not in objects and any(objects)


def has_constants(text: str) -> bool:
    """Return whether the text of an object holds numbers that JSON has no notation for."""
    return open_text(text) is None
