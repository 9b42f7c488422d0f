"""Value texts: which values of a column are absent, NULL or sent as text, and how many characters the texts have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from cdc_contracts.registry.core.engine.native.scanned_columns import ESCAPED, KINDS, NULL, TEXT
from cdc_contracts.registry.core.engine.native.scanned_values import ScannedValues
from cdc_contracts.registry.core.engine.value_columns import ColumnValues
from cdc_contracts.registry.core.stats.topic_profiles import REPLACEMENT

ABSENT_STATE, NULL_STATE, OTHER_STATE, TEXT_STATE = range(4)

_STATES: Final = np.full(KINDS, OTHER_STATE, np.uint8)
_STATES[NULL] = NULL_STATE
_STATES[[TEXT, ESCAPED]] = TEXT_STATE

Marks = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class ValueTexts:
    """The values of a column, one per row: its state, the characters of a text (0 for others), and which have U+FFFD.

    `replaced` is None if none has.
    """

    states: NDArray[np.uint8]
    characters: NDArray[np.int32]
    replaced: Marks | None

    def select(self, rows: NDArray[np.int64]) -> ValueTexts:
        """Return the values of some rows."""
        replaced = None if self.replaced is None else self.replaced[rows]
        return ValueTexts(self.states[rows], self.characters[rows], replaced)

    def where(self, chosen: Marks) -> ValueTexts:
        """Return the column, absent from the rows that are not chosen."""
        replaced = None if self.replaced is None else self.replaced & chosen
        return ValueTexts(self.states * chosen, self.characters * chosen, replaced)

    def completed(self, under: ValueTexts) -> ValueTexts:
        """Return the values, and those of another image in rows that lack the column."""
        gone = self.states == ABSENT_STATE
        if not gone.any():
            return self
        below = under.where(gone)
        replaced = [one for one in (self.replaced, below.replaced) if one is not None]
        return ValueTexts(
            self.states + below.states,
            self.characters + below.characters,
            np.logical_or.reduce(replaced) if replaced else None,
        )


def find_texts(values: ColumnValues, rows: int, *, named: bool) -> ValueTexts:
    """Return the texts of a column of so many rows; if `named`, without the name of the record before each."""
    if isinstance(values.values, ScannedValues):
        column = values.values.column
        states = _STATES[column.kinds]
        characters, replaced = column.count_characters(behind=named)
        found = ValueTexts(states, characters, replaced if replaced.any() else None)
    else:
        found = _texts_of_objects(values.values, named=named)
    if values.held is None:
        return found
    whole = ValueTexts(
        np.zeros(rows, np.uint8),
        np.zeros(rows, np.int32),
        None if found.replaced is None else np.zeros(rows, np.bool_),
    )
    whole.states[values.held] = found.states
    whole.characters[values.held] = found.characters
    if whole.replaced is not None:
        whole.replaced[values.held] = found.replaced
    return whole


def _texts_of_objects(values: Sequence[Any], *, named: bool) -> ValueTexts:
    texts = [value if type(value) is str else None for value in values]
    if named:
        texts = [None if text is None else text.partition(" ")[2] for text in texts]
    states = np.fromiter(
        (TEXT_STATE if type(value) is str else NULL_STATE if value is None else OTHER_STATE for value in values),
        np.uint8, len(values),
    )  # fmt: skip
    characters = np.fromiter((len(text) if text is not None else 0 for text in texts), np.int32, len(texts))
    marks = [text is not None and REPLACEMENT in text for text in texts]
    return ValueTexts(states, characters, np.array(marks) if any(marks) else None)
