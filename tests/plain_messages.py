"""Messages parsed by an ordinary JSON reader, for validators of others."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from mutations import walk

from cdc_contracts.registry.core.values import Number

LONGEST = 4000
"""Digits that Python makes an integer of."""


def plain(value: Any) -> Any:
    """Return a parsed message as any JSON reader has it."""
    if isinstance(value, Number):
        text = value.token
        return int(text) if text.lstrip("-").isdigit() and len(text) < LONGEST else Decimal(text)
    if isinstance(value, dict):
        return {name: plain(one) for name, one in value.items()}
    return [plain(one) for one in value] if isinstance(value, list) else value


def holds_long_numbers(value: Any) -> bool:
    """Say whether a message has a number that a validator may read as a float."""
    return any(isinstance(one, Decimal) or (isinstance(one, int) and abs(one) > 2**53) for *_, one in walk(value))
