"""Messages broken by chance: they began as one sample, and some of their members were changed, added or taken away."""

from __future__ import annotations

from functools import cache
from typing import Any

from both_paths import samples
from hypothesis import strategies as st
from mutations import DROP, get, replaced, to_bytes, walk

from cdc_contracts.registry.core.common.json_messages import Unreadable, parse_message
from cdc_contracts.registry.core.values import Number

JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.text(max_size=6)
    | st.integers(-(10**20), 10**20).map(lambda number: Number(str(number)))
    | st.decimals(allow_nan=False, allow_infinity=False, places=3).map(lambda number: Number(f"{number:f}"))
    | st.sampled_from(["1715000000", "1715000000.5", "2024-05-06 12:53:20", "0000-00-00 00:00:00", "AAEC", "12"]),
    lambda below: st.lists(below, max_size=2) | st.dictionaries(st.text(max_size=3), below, max_size=2),
    max_leaves=4,
)


@cache
def readable() -> list[dict[str, Any]]:
    found = []
    for values in samples().values():
        for _, value in values:
            try:
                found.append(parse_message(value))
            except Unreadable:
                continue
    return found


@st.composite
def broken_messages(draw: st.DrawFn) -> list[bytes]:
    """Draw a few messages that began as one sample and had some of their members changed, added or taken away."""
    base = draw(st.sampled_from(readable()))
    messages = []
    for _ in range(draw(st.integers(1, 4))):
        message: Any = base
        for _ in range(draw(st.integers(0, 3))):
            places = [parts for parts, _, _ in walk(message) if parts]
            if not places:
                break
            parts = draw(st.sampled_from(places))
            match draw(st.integers(0, 3)):
                case 0:
                    message = replaced(message, parts, DROP)
                case 1:
                    message = replaced(message, parts, draw(JSON_VALUES))
                case 2:
                    message = replaced(message, parts, get(message, draw(st.sampled_from(places))))
                case _ if isinstance(get(message, parts[:-1]), dict):
                    message = replaced(message, (*parts[:-1], draw(st.text(max_size=8))), draw(JSON_VALUES))
        messages.append(to_bytes(message))
    return messages
