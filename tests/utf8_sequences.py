"""Byte sequences that are UTF-8, and near ones that are not; which is which, Python's own decoder says."""

from __future__ import annotations

from itertools import product

EDGES = (0x00, 0x22, 0x5C, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xFF)
"""Where bytes begin or cease to be allowed behind some first byte."""
CLOSE = (0x7F, 0x80, 0xBF, 0xC0)
SURROGATES = (b"\xed\xa0\x80", b"\xed\xad\xbf", b"\xed\xae\x80", b"\xed\xb0\x80", b"\xed\xbf\xbf")


def is_utf8(sequence: bytes) -> bool:
    try:
        sequence.decode()
    except UnicodeDecodeError:
        return False
    return True


def sequences(seconds: tuple[int, ...] | range = range(256)) -> list[bytes]:
    """Return every first byte from 0x80 on alone, and with what may follow it, up to four bytes."""
    found = [(first,) for first in range(0x80, 0x100)]
    found += product(range(0x80, 0x100), seconds)
    found += product(range(0xE0, 0xF0), seconds, EDGES)
    found += product((*range(0xF0, 0xF9), 0xFE, 0xFF), seconds, CLOSE, CLOSE)
    return [bytes(one) for one in found]


def of_every_class() -> tuple[list[bytes], list[bytes]]:
    """Return sequences of each kind that is UTF-8, and of each kind that is not."""
    good = ["\x80", "\u07ff", "\u0800", "\u0fff", "\u1000", "\ud7ff", "\ue000", "\uffff", "\U00010000", "\U0003ffff",
            "\U00040000", "\U0010ffff"]  # fmt: skip
    bad = [b"\x80", b"\xbf", b"\xc0\x80", b"\xc1\xbf", b"\xc3", b"\xc3(", b"\xe0\x9f\xbf", b"\xe2\x82", b"\xe2(\xa1",
           b"\xe2\x82(", *SURROGATES, b"\xf0\x8f\xbf\xbf", b"\xf0\x9f\x98", b"\xf0(\x8c\xbc", b"\xf0\x90(\xbc",
           b"\xf0\x90\x8c(", b"\xf4\x90\x80\x80", b"\xf5\x80\x80\x80", b"\xf8\x88\x80\x80\x80", b"\xfe", b"\xff"]  # fmt: skip
    return [one.encode() for one in good], bad
