"""Outliers: messages that drifted, were sent again or came from elsewhere, and how many of them are tolerated."""

from __future__ import annotations

from typing import Final

SHARE: Final = 20
"""One in this many messages may be an outlier."""
_ENOUGH: Final = 3
_FEW: Final = 5
"""Among this many messages or fewer, none is an outlier."""


def most_outliers(messages: int) -> int:
    """Return how many of a number of messages may be outliers: one in twenty, and at least one of more than five."""
    return max(messages // SHARE, int(messages > _FEW))


def enough(messages: int) -> int:
    """Return how many of a number of messages must agree to decide: three, or half of fewer than six."""
    return min(_ENOUGH, -(-messages // 2))


def tolerates(count: int, against: int) -> bool:
    """Return whether evidence outweighs the opposite, which one message in twenty, or a single one, may say."""
    return against <= max(count // SHARE, int(count >= _ENOUGH))
