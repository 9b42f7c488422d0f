"""Digests without Arrow: texts and rows as numbers of 64 bits, one at a time and without numpy.

They equal those that the fast validator computes for whole batches, so that both follow the same rows of a long input.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import cycle
from operator import mul
from typing import Any, Final, NamedTuple

from cdc_contracts.registry.core.contract.envelope_schemas import is_integer
from cdc_contracts.registry.core.values import Number

NULL: Final = 0x9E37_79B9_7F4A_7C15
BASE: Final = 0xD1B5_4A32_D192_ED03
FIRST: Final = 0xBF58_476D_1CE4_E5B9
SECOND: Final = 0x94D0_49BB_1331_11EB
PERIOD: Final = 1 << 16
_MASK: Final = 2**64 - 1


class RowDigests(NamedTuple):
    """Digests of a row, of its columns and of its key (0: none)."""

    image: int
    shape: int
    key: int


def digest_row(row: Mapping[str, Any], key: Sequence[str]) -> RowDigests:
    """Return the digests of one row; `key` names its key columns."""
    values = {name: digest_value(value) for name, value in row.items()}
    mixed = {name: mix(value + digest_name(name)) for name, value in values.items()}
    known = key and all(values.get(name, NULL) != NULL for name in key)
    return RowDigests(
        sum(mixed.values()) & _MASK or 1,
        sum(mix(digest_name(name)) for name in row) & _MASK or 1,
        (sum(mixed[name] for name in key) & _MASK or 1) if known else 0,
    )


def digest_value(value: Any) -> int:
    """Return the digest of a value as it was sent: a text, a number, a boolean or None.

    Numbers are digested as texts; those with a fraction or exponent as the nearest float.
    """
    text = as_text(value)
    return NULL if text is None else _digest_text(text)


@lru_cache(maxsize=65_536)
def digest_name(*parts: str | None) -> int:
    """Return the digest of a name of several parts; a missing part and an empty part give different digests."""
    result = "\x1f".join("\x1e" if part is None else part for part in parts)
    return int.from_bytes(hashlib.blake2b(result.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


def mix(digest: int) -> int:
    """Return a digest in which every bit depends on every bit of the input."""
    digest &= _MASK
    mixed = (digest ^ (digest >> 30)) * FIRST & _MASK
    mixed = (mixed ^ (mixed >> 27)) * SECOND & _MASK
    return mixed ^ (mixed >> 31)


def as_text(value: Any) -> str | None:
    """Return the text of a value that its digest is computed from."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, Number) and not is_integer(value):
        return repr(float(value.token))
    return value.token if isinstance(value, Number) else repr(value)


@lru_cache(maxsize=16_384)
def _digest_text(text: str) -> int:
    """Return a polynomial of the words of a text: eight bytes each, the last filled up with zeros."""
    data = text.encode("utf-8", "surrogatepass")
    count = (len(data) + 7) // 8
    words = struct.unpack(f"<{count}Q", data.ljust(8 * count, b"\0"))
    total = sum(map(mul, (word + 1 for word in words), cycle(_powers())))
    return mix(total + len(data) * NULL)


@lru_cache(maxsize=1)
def _powers() -> tuple[int, ...]:
    found, power = [], 1
    for _ in range(PERIOD):
        power = power * BASE & _MASK
        found.append(power)
    return tuple(found)
