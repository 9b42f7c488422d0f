"""Bytes of messages, changed at one place."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import random
    from collections.abc import Sequence


def changed_bytes(draw: random.Random, value: bytes, other: bytes, parts: Sequence[bytes]) -> bytes:
    """Return a message with a byte flipped, a part left out, put in, doubled, or taken from another."""
    at = draw.randrange(len(value) + 1)
    match draw.randrange(6):
        case 0:
            flipped = bytearray(value)
            flipped[at % len(value)] ^= 1 << draw.randrange(8)
            return bytes(flipped)
        case 1:
            return value[:at] + value[at + draw.choice((1, 2, 8, 64)) :]
        case 2:
            return value[:at]
        case 3:
            return value[: at + draw.choice((1, 8, 40))] + value[at:]
        case 4:
            return value[:at] + other[draw.randrange(len(other)) :]
        case _:
            return value[:at] + draw.choice(parts) + value[at + draw.choice((0, 0, 1, 2)) :]
