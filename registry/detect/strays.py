"""Strays: messages that drifted, were sent again or came from elsewhere, and how many of them are tolerated."""

from __future__ import annotations

from typing import Final

SHARE: Final = 20
"""One in so many messages may be a stray."""
_ENOUGH: Final = 3
_FEW: Final = 5
"""Among so many messages or fewer none is a stray."""


def strays(messages: int) -> int:
    """Return how many of so many messages may be strays: one in twenty, and one of more than five."""
    return max(messages // SHARE, int(messages > _FEW))


def enough(messages: int) -> int:
    """Return how many of so many messages have to say the same before it decides: three, or half of fewer than six."""
    return min(_ENOUGH, -(-messages // 2))


def tolerates(count: int, against: int) -> bool:
    """Return whether the evidence of so many messages stands against so many opposite ones: one in twenty, or one."""
    return against <= max(count // SHARE, int(count >= _ENOUGH))
