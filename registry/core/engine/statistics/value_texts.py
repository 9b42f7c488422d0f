"""Value texts: which values of a column are absent, NULL or sent as text, and how many characters the texts have."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cdc_contracts.registry.core.engine.columns.value_columns import ColumnValues

ABSENT_STATE, NULL_STATE, OTHER_STATE, TEXT_STATE = range(4)

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


def find_texts(values: ColumnValues, *, named: bool) -> ValueTexts:
    """Return the texts of a column by row; if `named`, without the name of the record before each."""
    states = np.where(values.values.are_texts, TEXT_STATE, OTHER_STATE).astype(np.uint8)
    if values.valued is not None:
        states[~values.valued] = NULL_STATE
    characters, replaced = values.values.count_characters(behind=named)
    marks = values.spread(replaced) if replaced.any() else None
    return ValueTexts(values.spread(states), values.spread(characters), marks)
