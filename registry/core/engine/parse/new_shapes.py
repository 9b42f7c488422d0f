"""New shapes: whether a shape that was not met before is worth a layout.

Compiling a layout costs three times as much as a message at the reference validator. Where nearly every message of a
block has a new shape, the first message of a shape goes there, and the second one is compiled for.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from typing import Final

from cdc_contracts.registry.core.engine.parse.shape_guess import MOST_SHAPES

_MOST_NEW: Final = 192
"""Messages of a block that may be of new shapes before shapes are taken to come once."""


class NewShapes:
    """Counts messages of new shapes, block by block, and remembers the last shapes that were left to the reference."""

    def __init__(self) -> None:
        self._left: OrderedDict[int, None] = OrderedDict()
        self._new = 0
        self._come_once = False

    def leave(self, key: Hashable) -> bool:
        """Return whether a message of a new shape is left to the reference: the first one where most come once."""
        self._new += 1
        met = hash(key)  # two shapes with one hash are compiled at once, which is no harm
        if not self._come_once or met in self._left:
            return False
        self._left[met] = None
        if len(self._left) > MOST_SHAPES:
            self._left.popitem(last=False)
        return True

    def end_block(self, messages: int) -> None:
        """Decide for the next messages by those of a block, if it has enough."""
        if messages > _MOST_NEW:
            self._come_once = self._new > _MOST_NEW
        self._new = 0
