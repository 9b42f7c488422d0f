"""Scanned values: the values of a column as value forms and statistics need them, read from the message bytes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cdc_contracts.registry.core.engine import decoder_kinds
from cdc_contracts.registry.core.engine.native.scanned_columns import (
    BOOLEANS,
    NULL,
    NUMBERS,
    TEXTS,
    ScannedColumn,
)
from cdc_contracts.registry.core.engine.text_digests import NULL as NULL_DIGEST

_RAW: Final = (decoder_kinds.RAW, decoder_kinds.WIDE)
_KINDS: Final = {"text": TEXTS, "number": NUMBERS, "boolean": BOOLEANS}


def kinds_held(column: ScannedColumn) -> set[str]:
    """Return the kinds of the values besides null."""
    return {kind for kind, bits in _KINDS.items() if column.holds(bits)}


class ScannedValues(Sequence[Any]):
    """The values of a column, none absent, as the forms' decoders have them: null is None, numbers may be tokens."""

    def __init__(self, column: ScannedColumn) -> None:
        self.column = column

    def __len__(self) -> int:
        return len(self.column)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.objects)

    def __getitem__(self, place: Any) -> Any:
        found = self.column[place]
        return [self.opened(value) for value in found] if isinstance(place, slice) else self.opened(found)

    @cached_property
    def objects(self) -> list[Any]:
        """The values, made when they are first asked for."""
        if self.column.decoder not in _RAW:
            return self.column.objects
        return [self.opened(value) for value in self.column.objects]

    @cached_property
    def valued(self) -> NDArray[np.bool_] | None:
        """Which values are not null; None where all are."""
        return self.column.kinds != NULL if self.column.holds(1 << NULL) else None

    def select(self, places: NDArray[np.int64]) -> ScannedValues:
        """Return some of the values."""
        return ScannedValues(self.column.select(places))

    def wire_texts(self) -> pa.StringArray:
        """Return every value as it was sent, without the quotes of a text; null is `null`."""
        return self.column.texts(TEXTS | NUMBERS | BOOLEANS | 1 << NULL)

    @property
    def digested(self) -> bool:
        """Whether tokens identify values: an integer among other kinds may have several."""
        return self.column.decoder != decoder_kinds.WIDE

    def digests(self) -> NDArray[np.uint64]:
        """Return the digests of the values, as `digest_values` does."""
        return self.column.digests(int(NULL_DIGEST))

    def opened(self, value: Any) -> Any:
        """Return a value of the column as the parser makes it."""
        if self.column.decoder == decoder_kinds.WIDE:
            return decoder_kinds.open_token(value)
        return None if self.column.decoder == decoder_kinds.RAW and value == b"null" else value


@dataclass(frozen=True, eq=False)
class ScannedPart:
    """The values of a column that are of some kinds, a bit each; the others count as null."""

    column: ScannedColumn
    kinds: int

    def __len__(self) -> int:
        return len(self.column)

    def select(self, places: NDArray[np.int64]) -> ScannedPart:
        """Return some of the values."""
        return ScannedPart(self.column.select(places), self.kinds)

    def opened(self) -> list[Any]:
        """Return the values as the parser makes them, None for those that do not count."""
        values = ScannedValues(self.column)
        if not self.column.holds(~(self.kinds | 1 << NULL)):
            return values.objects
        counted = (np.uint64(self.kinds) >> self.column.kinds.astype(np.uint64) & np.uint64(1)).tolist()
        return [
            values.opened(token) if held else None for token, held in zip(self.column.objects, counted, strict=True)
        ]
