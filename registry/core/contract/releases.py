"""Releases of a product, such as `2.7.4.Final`: the pattern of those from one release until another.

Releases are compared by their first two numbers, which is what `applies` of a contract counts in.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Final

_RELEASE: Final = re.compile(r"(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)(?:[.-].*)?", re.ASCII)
_ANY: Final = "(?:0|[1-9][0-9]*)"


def read_release(text: str) -> tuple[int, int]:
    """Return the first two numbers of a release.

    Raises ValueError: the text does not begin with two numbers and a dot between them.
    """
    found = _RELEASE.fullmatch(text)
    if found is None:
        raise ValueError(f"`{text}` is no release: write two numbers, as in 2.7")
    return int(found[1]), int(found[2])


def release_between(since: str | None, until: str | None) -> str:
    """Return a release from `since`, until but without `until`: the first, or the last where there is no first."""
    if since is not None or until is None:
        return f"{since or '0.0'}.0"
    last, end = read_release(until)
    return f"{last}.{end - 1}.0" if end else f"{last - 1}.0.0"


@cache
def pattern_of_releases(since: str | None, until: str | None) -> str:
    """Return the pattern of the releases from `since`, until but without `until`; None leaves that end open.

    Raises ValueError: one of them is no release, or there is none between them.
    """
    first, second = read_release(since) if since is not None else (0, 0)
    last, end = read_release(until) if until is not None else (None, 0)
    if last is not None and (first, second) >= (last, end):
        raise ValueError(f"there is no release from {since} until {until}")
    return f"^(?:{'|'.join(_ways(first, second, last, end))})(?:[.-].*)?$"


def _ways(first: int, second: int, last: int | None, end: int) -> Iterator[str]:
    """Yield the patterns of both numbers, in order."""
    if first == last:
        yield f"{first}\\.{_between(second, end - 1)}"
        return
    yield f"{first}\\.{_between(second, None)}"
    if last is None:
        yield f"{_between(first + 1, None)}\\.{_ANY}"
        return
    if first + 1 <= last - 1:
        yield f"{_between(first + 1, last - 1)}\\.{_ANY}"
    if end > 0:
        yield f"{last}\\.{_between(0, end - 1)}"


def _between(low: int, high: int | None) -> str:
    """Return the pattern of the numbers from `low` to `high`, without leading zeros."""
    if low == 0 and high is None:
        return _ANY
    most = len(str(low)) if high is None else len(str(high))
    parts: list[str] = []
    for digits in range(len(str(low)), most + 1):
        least, largest = max(low, 10 ** (digits - 1) if digits > 1 else 0), 10**digits - 1
        parts += _alike(str(least), str(largest if high is None else min(high, largest)))
    if high is None:
        parts.append(f"[1-9][0-9]{{{most},}}")
    return parts[0] if len(parts) == 1 else f"(?:{'|'.join(parts)})"


def _alike(low: str, high: str) -> Iterator[str]:
    """Yield the patterns of the numbers between two that have as many digits."""
    if len(low) == 1:
        yield _digit(low, high)
        return
    below, above = low[0], high[0]
    if below == above:
        yield from (below + rest for rest in _alike(low[1:], high[1:]))
        return
    rest = len(low) - 1
    if low[1:] != "0" * rest:
        yield from (below + part for part in _alike(low[1:], "9" * rest))
        below = str(int(below) + 1)
    if high[1:] != "9" * rest:
        yield from (above + part for part in _alike("0" * rest, high[1:]))
        above = str(int(above) - 1)
    if below <= above:
        yield _digit(below, above) + "[0-9]" * rest


def _digit(low: str, high: str) -> str:
    return low if low == high else f"[{low}-{high}]"
