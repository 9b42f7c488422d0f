"""Batch sorter: the messages of a batch by layout; scanned if their shape is known, parsed if it is not."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from cdc_contracts.registry.core.engine.layouts.decoded_batches import DecodedBatch, lay_out
from cdc_contracts.registry.core.engine.layouts.layout_parts import RowShape
from cdc_contracts.registry.core.engine.native.native_library import is_eager
from cdc_contracts.registry.core.engine.native.scanning import Scanner
from cdc_contracts.registry.core.engine.native.text_image_values import TextImageValues
from cdc_contracts.registry.core.engine.parse.batch_parser import Parser
from cdc_contracts.registry.core.engine.parse.records_by_layout import Sorted
from cdc_contracts.registry.core.records.message_values import MessageValues

Numbers = NDArray[np.int64]

_BLOCK: Final = 256
"""Messages parsed in a round to learn the shapes of the others."""
_MOST_INT: Final = 2**40
_MOST_ROUNDS: Final = 4
"""Rounds in one batch."""


@dataclass
class SortedBatch:
    """The records of a batch by layout, and the numbers of those for the reference validator and of tombstones."""

    decoded_batches: list[DecodedBatch] = field(default_factory=list)
    ungrouped: list[int] = field(default_factory=list)
    tombstones: list[int] = field(default_factory=list)


class BatchSorter:
    """Sorts the messages of batches by layout; every message is in exactly one group.

    `known_shapes` are the shapes that the last batch shared with batches before it.
    """

    known_shapes: int = 0

    def __init__(self, parser: Parser, scanner: Scanner) -> None:
        self._parser, self._scanner = parser, scanner
        self._block, self._rounds = (1, _MOST_INT) if is_eager() else (_BLOCK, _MOST_ROUNDS)

    def sort(self, values: MessageValues) -> SortedBatch:
        """Return the values by layout."""
        result = SortedBatch(tombstones=values.tombstones())
        parsed = Sorted()
        rest = np.arange(len(values))
        if result.tombstones:
            rest = np.delete(rest, result.tombstones)
        shapes: Collection[RowShape] = ()
        if isinstance(values, TextImageValues):
            found, rest = self._scanner.scan_texts(values, rest)
            result.decoded_batches += found
            values, shapes = values.opened(rest), [one.shape for one in found]
        if self._scanner.works:
            rest = self._scan(values, rest, parsed, result, shapes)
        self._parse(values, rest, parsed)
        result.ungrouped += parsed.ungrouped
        result.decoded_batches += [
            lay_out(shape, layout, numbers, records) for layout, (shape, numbers, records) in parsed.groups.items()
        ]
        held = {id(one.shape): one.shape for one in result.decoded_batches}.values()
        self.known_shapes = sum(shape.met for shape in held)
        for shape in held:
            shape.met = True
        return result

    def _scan(
        self, values: MessageValues, numbers: Numbers, parsed: Sorted, result: SortedBatch, met: Collection[RowShape]
    ) -> Numbers:
        """Scan the messages of known shapes, parse some of the others to learn theirs, and return what is left.

        Other messages of the batch have the shapes that are `met`.
        """
        found, rest = self._scanner.scan(values, numbers, met)
        result.decoded_batches += found
        look_unlike_known = True
        for _ in range(self._rounds):
            if look_unlike_known and len(rest) >= 2 * self._block:
                by_shape, unlike = self._parser.guess_shapes(values, rest)
                look_unlike_known = bool(len(unlike))
                each = [self._scanner.scan_guessed(shape, values, alike) for shape, alike in by_shape.items()]
                result.decoded_batches += [one for found, _ in each for one in found]
                rest = np.sort(np.concatenate([unlike, *(left for _, left in each)]))
            if len(rest) < 2 * self._block:
                break
            learning, rest = rest[: self._block], rest[self._block :]
            frequent = self._parse(values, learning, parsed)
            if frequent is not None:
                found, rest = self._scanner.scan_for(frequent, values, rest)
                result.decoded_batches += found
        return rest

    def _parse(self, values: MessageValues, numbers: Numbers, parsed: Sorted) -> RowShape | None:
        """Parse some messages, add them to those parsed before, and return the most frequent shape."""
        if not len(numbers):
            return None
        found = self._parser.sort(values if len(numbers) == len(values) else values.take(numbers))
        parsed.ungrouped += numbers[found.ungrouped].tolist()
        for layout, (shape, places, records) in found.groups.items():
            parsed.add(shape, layout, numbers[places].tolist(), records)
        return _most_frequent(found)


def _most_frequent(parsed: Sorted) -> RowShape | None:
    known = {shape: len(places) for layout, (shape, places, _) in parsed.groups.items() if layout is shape.strict}
    return max(known, key=known.__getitem__, default=None)
