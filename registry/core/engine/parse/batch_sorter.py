"""Batch sorter: the messages of a batch by layout; scanned if their shape is known, parsed if it is not."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from cdc_contracts.registry.core.engine.layouts.decoded_batches import DecodedBatch, lay_out
from cdc_contracts.registry.core.engine.layouts.layout_parts import RowShape
from cdc_contracts.registry.core.engine.native.native_library import is_eager
from cdc_contracts.registry.core.engine.native.scanning import Scanner
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
    """Sorts the messages of batches by layout; every message is in exactly one group."""

    def __init__(self, parser: Parser, scanner: Scanner) -> None:
        self._parser, self._scanner = parser, scanner
        self._block, self._rounds = (1, _MOST_INT) if is_eager() else (_BLOCK, _MOST_ROUNDS)

    def sort(self, values: MessageValues) -> SortedBatch:
        """Return the values by layout."""
        result = SortedBatch(tombstones=values.tombstones())
        rest = np.arange(len(values))
        if result.tombstones:
            rest = np.delete(rest, result.tombstones)
        if not self._scanner.works:
            self._parse(values, rest, result)
            return result
        found, rest = self._scanner.scan(values, rest)
        result.decoded_batches += found
        for _ in range(self._rounds):
            if len(rest) < 2 * self._block:
                break
            shape = self._parse(values, rest[: self._block], result)
            rest = rest[self._block :]
            if shape is not None:
                found, rest = self._scanner.scan_for(shape, values, rest)
                result.decoded_batches += found
        self._parse(values, rest, result)
        return result

    def _parse(self, values: MessageValues, numbers: Numbers, result: SortedBatch) -> RowShape | None:
        """Parse some messages, and return the most frequent shape."""
        if not len(numbers):
            return None
        parsed = self._parser.sort(values if len(numbers) == len(values) else values.take(numbers))
        result.ungrouped += numbers[parsed.ungrouped].tolist()
        result.decoded_batches += [
            lay_out(shape, layout, numbers[places].tolist(), records)
            for layout, (shape, places, records) in parsed.groups.items()
        ]
        return _most_frequent(parsed)


def _most_frequent(parsed: Sorted) -> RowShape | None:
    known = {shape: len(places) for layout, (shape, places, _) in parsed.groups.items() if layout is shape.strict}
    return max(known, key=known.__getitem__, default=None)
