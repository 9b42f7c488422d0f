"""Messages scanned by a plan of a test's own, in memory whose edges are watched."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from cdc_contracts.registry.core.engine.native import native_library as loading
from cdc_contracts.registry.core.engine.native.native_interface import Buffer
from cdc_contracts.registry.core.engine.native.row_digests import RowCells, RowDigester
from cdc_contracts.registry.core.engine.native.scanned_columns import (
    ARRAY,
    DECIMAL,
    ESCAPED,
    INTEGER,
    NULL,
    NUMBER,
    NUMBERS,
    OBJECT,
    TEXT,
    TEXTS,
    ScannedBytes,
)
from cdc_contracts.registry.core.engine.native.scanned_values import ScannedValues
from cdc_contracts.registry.core.stats.digests_without_arrow import digest_name, digest_value, mix

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import DTypeLike, NDArray

LIBRARY = loading.native_library()
EDGE = 64
"""Items before and behind an array that nobody may write."""
GUARD = 0xA5
MOST_BYTES = 2**27
PATIENCE = 2**40
_OBJECT, _LEAF, _IMAGE, _LITERAL = range(4)
NAMES = ("text", "list", "rows", "row", "nested", "number", "kéy")
SLOTS = ("text", "list", "number", "kéy", "nested", "nested/text")
COLUMN = "c"


class WatchedArrays:
    """Arrays with an edge on both sides, filled so that a write beyond an array shows."""

    def __init__(self) -> None:
        self._made: list[tuple[NDArray[np.uint8], int]] = []

    def make(self, count: int, dtype: DTypeLike) -> NDArray[Any]:
        """Return an array of `count` items that ends where its edge begins."""
        size = count * np.dtype(dtype).itemsize
        held = np.full(size + 2 * EDGE, GUARD, np.uint8)
        self._made.append((held, size))
        return held[EDGE : EDGE + size].view(dtype)

    def are_intact(self) -> bool:
        """Say whether nothing was written beyond any array."""
        return all(
            (held[:EDGE] == GUARD).all() and (held[EDGE + size :] == GUARD).all() for held, size in self._made
        )  # fmt: skip


class OwnPlan:
    """A plan with a text, a list, a number, a nested object, a list of rows and a single row, all optional."""

    def __init__(self, *, required: str | None = None, in_order: bool = False, token: bytes = b"") -> None:
        self.names = b"".join(f'"{name}"'.encode() for name in (*NAMES, COLUMN))
        ends = np.cumsum([0, *(len(name.encode()) + 2 for name in (*NAMES, COLUMN))]).tolist()
        place = {name: (ends[at], ends[at + 1] - ends[at]) for at, name in enumerate((*NAMES, COLUMN))}
        scalars = TEXTS | NUMBERS | 1 << NULL
        members = [(name, node) for name, node in zip(NAMES, range(1, 8), strict=True)]
        self.nodes = np.array(
            [
                (_OBJECT, 0, len(members), int(required is not None), -1, -1, int(in_order), 0),
                (_LEAF, SLOTS.index("text"), scalars, -1, 1, 0, 0, 0),
                (_LEAF, SLOTS.index("list"), 1 << ARRAY | 1 << OBJECT, -1, 1, 0, 0, 0),
                (_IMAGE, 0, 8, 1, -2, 0, 0, 0),
                (_IMAGE, 1, 9, 0, -2, 0, 0, 0),
                (_OBJECT, 7, 1, 0, SLOTS.index("nested"), -1, 0, 0),
                (_LEAF, SLOTS.index("number"), NUMBERS, -1, 1, 0, 0, 0),
                (_LEAF, SLOTS.index("kéy"), scalars, -1, 1, 0, 0, 0),
                (_OBJECT, 8, 1, 0, -1, -1, 0, 0),
                (_OBJECT, 9, 1, 0, -1, -1, 0, 0),
                (_LEAF, SLOTS.index("nested/text"), scalars, -1, 1, 0, 0, 0),
                (_LEAF, 0, scalars, 0, 0, 0, 0, 0),
                (_LEAF, 0, scalars, 1, 0, 0, 0, 0),
            ],
            np.int32,
        )
        within = [("text", 10), (COLUMN, 11), (COLUMN, 12)]
        self.members = np.array(
            [(*place[name], node, int(name == required)) for name, node in (*members, *within)], np.int32
        )
        if token:  # the text has to be this one
            self.nodes[1] = (_LITERAL, SLOTS.index("text"), len(self.names), len(token), -1, 0, 0, 0)
            self.names += token
        self.handle = LIBRARY.cdc_make_plan(self.nodes, self.members, self.names, 2, len(SLOTS))
        assert self.handle

    def __del__(self) -> None:
        if getattr(self, "handle", None):
            LIBRARY.cdc_free_plan(self.handle)


@dataclass
class Scanned:
    """What a scan found: `held` is its result, the arrays are as the library left them."""

    held: int
    taken: list[int]
    left: list[int]
    cells: NDArray[np.uint64]
    row_cells: list[NDArray[np.uint64]]
    states: NDArray[np.int32]
    rows: list[int]
    texts: NDArray[np.uint8]
    intact: bool

    def cells_of(self, slot: str) -> list[int]:
        """Return the cells of a slot of the messages that were taken."""
        found: list[int] = self.cells[SLOTS.index(slot), : self.held].tolist()
        return found


def scan(
    plan: OwnPlan,
    messages: Sequence[bytes],
    *,
    capacity: int | None = None,
    patience: int = PATIENCE,
    most_bytes: int = MOST_BYTES,
    memory: NDArray[np.uint8] | None = None,
    numbers: Sequence[int] | None = None,
    lacking: int = 0,
    row_lacking: int = 0,
    text_lacking: int | None = None,
) -> Scanned:
    """Scan messages, or those of some numbers, that lie one after the other, at the beginning of `memory` if given.

    The library is told of so many bytes less, and of so many cells of rows less, than there are. Rows are texts if it is
    said how many bytes less there are for them.
    """
    ends = np.cumsum([0, *map(len, messages)])
    data = np.empty(max(int(ends[-1]), 1), np.uint8) if memory is None else memory
    data[: ends[-1]] = np.frombuffer(b"".join(messages), np.uint8)
    wanted = np.arange(len(messages)) if numbers is None else np.array(numbers, np.int64)
    watched, total = WatchedArrays(), len(wanted)
    room = total + EDGE if capacity is None else capacity
    offsets = np.append(ends, ends[-1]).astype(np.int32)[:-1]  # what stands behind them leads nowhere wrong
    cells, states = watched.make(len(SLOTS) * total, np.uint64), watched.make(2 * total, np.int32)
    taken, left = watched.make(total, np.int64), watched.make(total, np.int64)
    row_cells = [watched.make(room, np.uint64) for _ in range(2)]
    rows, columns = watched.make(2, np.int64), np.ones(2, np.int32)
    size = sum(len(messages[number]) for number in wanted.tolist() if 0 <= number < len(messages))
    texts = watched.make(max(size - (text_lacking or 0), 0), np.uint8)
    held = LIBRARY.cdc_scan(
        plan.handle, data[: len(data) - lacking], offsets, wanted, most_bytes, patience, cells, room,
        (Buffer * 2)(*(Buffer.from_param(one[: room - row_lacking]) for one in row_cells)), columns, states, rows, taken, left, None, None, None,
        None if text_lacking is None else texts,
    )  # fmt: skip
    found = max(held, 0)
    return Scanned(
        held, taken[:found].tolist(), left[: total - found].tolist(), cells.reshape(len(SLOTS), total), row_cells,
        states.reshape(2, total), rows.tolist(), texts, watched.are_intact(),
    )  # fmt: skip


def digests_of(column: ScannedValues) -> list[int]:
    """Return the digest of each value of a column with the name of a column, "a"."""
    digester = RowDigester(column.source, {"a": RowCells(column.cells)}, {}, ())
    return digester.digest(np.arange(len(column)), None)[0][0].tolist()


def expected_digests(texts: Sequence[str | None]) -> list[int]:
    """Return the same digests of texts, computed one by one in Python."""
    return [mix(digest_value(text) + digest_name("a") & 2**64 - 1) for text in texts]


def column_of(values: Sequence[tuple[int, str]], decoder: str = "text") -> ScannedValues:
    """Return a column of values given by their kind and token, a text without its quotes."""
    tokens = [token.encode() for _, token in values]
    quotes = [b'"' if kind in (TEXT, ESCAPED) else b"" for kind, _ in values]
    sent = [quote + token + quote for quote, token in zip(quotes, tokens, strict=True)]
    cells = [
        (start + len(quote)) << 32 | len(token) << 4 | kind
        for (kind, _), token, quote, start in zip(
            values, tokens, quotes, np.cumsum([0, *map(len, sent)]).tolist(), strict=False
        )
    ]
    data = pa.py_buffer(b"".join(sent) or b" ")
    return ScannedValues(ScannedBytes(LIBRARY, data), np.array(cells, np.uint64), decoder)


def kind_of(cell: int) -> int:
    return cell & 15


def span_of(cell: int) -> tuple[int, int]:
    """Return where a value begins and ends in the memory of its batch."""
    start, length = cell >> 32, cell >> 4 & 0x0FFFFFFF
    return start, start + length


def kind_of_number(token: str) -> int:
    """Return the kind that the scanner gives a number."""
    if "e" in token.lower() or token == "-0" or len(token.partition(".")[0].lstrip("-")) > 18:
        return NUMBER
    return DECIMAL if "." in token else INTEGER
