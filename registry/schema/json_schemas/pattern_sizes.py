"""Pattern sizes: how large patterns become when compiled, estimated from their text before anything compiles them."""

from __future__ import annotations

import re
from typing import Final

MAX_WEIGHT: Final = 50_000
"""Steps of all patterns of a schema together, counts such as {1000} written out."""

_TOKEN: Final = re.compile(r"\\.|\[(?:\\.|[^\]\\])*+\]|\{(\d{1,9})(?:,(\d{0,9}))?\}|.", re.DOTALL)


def pattern_weight(pattern: str) -> int:
    """Return how many steps a pattern has when its counts are written out; a count around a count multiplies."""
    groups = [0]
    last = 0  # the weight of what a count would repeat
    for token in _TOKEN.finditer(pattern):
        if token[1] is not None:
            times = max(int(token[1]), int(token[2] or 0), 1)
            groups[-1] += last * (times - 1)
            last *= times
        elif token[0] == "(":
            groups.append(0)
            last = 0
        elif token[0] == ")" and len(groups) > 1:
            last = groups.pop() + 1
            groups[-1] += last
        else:
            last = 1
            groups[-1] += 1
        if groups[-1] > MAX_WEIGHT:
            return MAX_WEIGHT + 1
    return sum(groups)
