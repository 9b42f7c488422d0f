"""Column layouts: how the values of a column are written, found for the texts of many columns at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from cdc_contracts.registry.core.engine.columns.value_columns import ColumnValues
from cdc_contracts.registry.core.engine.layouts.parsed_values import ParsedValues, token_of
from cdc_contracts.registry.core.engine.layouts.single_values import number_by_token
from cdc_contracts.registry.core.engine.native.scanned_values import ScannedValues
from cdc_contracts.registry.core.engine.statistics.string_bytes import Texts, are_digits
from cdc_contracts.registry.core.stats.column_writing import (
    BOOLEAN,
    DIGITS,
    ISO,
    LEAST_DATE_TIME,
    MOST_DIGITS,
    PLAIN,
    SECOND_DIGITS,
    SECONDS,
    SQL,
    Writing,
    layout_of_token,
    writing_of,
)
from cdc_contracts.registry.core.values.form_schemas import STRUCTURE

Codes = NDArray[np.uint8]

_LAYOUTS: Final = (PLAIN, ISO, SQL, SECONDS, DIGITS)
_PLAIN, _ISO, _SQL, _SECONDS, _DIGITS = range(len(_LAYOUTS))
CODE_OF_PLAIN: Final = _PLAIN + 1
"""The code of a value without a characteristic layout."""
_DASH, _COLON, _POINT, _MOST, _T, _SPACE = b"-:.4T "
_FEW: Final = 8
"""Up to this many numbers, each is examined separately."""


@dataclass(eq=False)
class WrittenColumn:
    """A column of which is not yet known how its values are written.

    `texts` are the texts whose layouts have to be found, `layouts` these; None if it is `plain` or has no texts alone.
    """

    name: str
    values: ColumnValues
    plain: bool
    texts: ParsedValues | None
    layouts: Codes | None = None

    @property
    def kind(self) -> str:
        """The kind of its values besides null; empty if there are several."""
        kind, *others = self.values.kinds
        return "" if others else kind

    @property
    def way_of_all(self) -> Writing | None:
        """How every row has a value of the column, where that is known without looking at the values."""
        is_known = self.plain and self.values.present is None and not self.values.values.has_nulls
        return Writing(self.kind, PLAIN) if is_known else None

    @property
    def is_plain_or_null(self) -> bool:
        """Whether every row has a scanned value, which is plain or null."""
        return self.plain and self.values.present is None and isinstance(self.values.values, ScannedValues)

    def code(self, total: int) -> tuple[Codes, list[Writing | None]]:
        """Return how the value of each row is written, by its index among the ways, of which the first is None.

        A value of one kind has the index of its layout plus one; all are plain where that is known, structures have
        none.
        """
        values, kind = self.values, self.kind
        if STRUCTURE.issuperset(values.kinds):
            return np.zeros(total, np.uint8), [None]
        valued = values.valued
        if kind and (self.plain or kind == BOOLEAN):
            plain = np.ones(len(values.values), np.uint8) if valued is None else valued.view(np.uint8)
            return values.spread(plain), [None, Writing(kind, PLAIN)]
        if self.layouts is not None:
            own, ways = self.layouts + np.uint8(CODE_OF_PLAIN), _ways_of(kind)
        else:
            chosen = values.values if valued is None else values.values.select(np.flatnonzero(valued))
            if kind:
                own, ways = _codes_of_numbers(chosen) + np.uint8(CODE_OF_PLAIN), _ways_of(kind)
            else:
                known: dict[Writing | None, int] = {None: 0}
                found = [known.setdefault(writing_of(number_by_token(value)), len(known)) for value in chosen]
                own, ways = np.array(found, np.uint8), [*known]
        if valued is None:
            return values.spread(own), ways
        codes = np.zeros(len(valued), np.uint8)
        codes[valued] = own
        return values.spread(codes), ways


def find_layouts(columns: Sequence[WrittenColumn]) -> None:
    """Find the layouts of the texts of all columns together: a column of few rows costs as much as a long one."""
    alike: dict[Any, list[tuple[WrittenColumn, ParsedValues]]] = {}
    for column in columns:
        if column.texts is not None:
            alike.setdefault(column.texts.joins_with, []).append((column, column.texts))
    for (first, texts), *others in alike.values():
        layouts = _layouts_of_texts(texts.join([more for _, more in others]).as_texts)
        begin = 0
        for column, own in ((first, texts), *others):
            column.layouts = layouts[begin : begin + len(own)]
            begin += len(own)


@lru_cache
def _ways_of(kind: str) -> list[Writing | None]:
    return [None, *(Writing(kind, layout) for layout in _LAYOUTS)]


def _codes_of_numbers(values: ParsedValues) -> Codes:
    """Return the layout of each number."""
    if len(values) <= _FEW:
        return _codes_of_few(values)
    codes, long = np.full(len(values), _PLAIN, np.uint8), values.integers_of_length(SECOND_DIGITS)
    if len(long):
        codes[long] = _codes_of_few(values.select(long))
    return codes


def _codes_of_few(values: Sequence[Any]) -> Codes:
    """Return the layout of each number, one by one: for a row of one table among many that is faster than arrays."""
    return np.array([_LAYOUTS.index(layout_of_token(token_of(value))) for value in values], np.uint8)


def _layouts_of_texts(array: pa.StringArray) -> Codes:
    texts = Texts(array)
    window = texts.window(LEAST_DATE_TIME)
    codes = np.zeros(len(array), np.uint8)
    dated = (texts.lengths >= LEAST_DATE_TIME) & (window[4] == _DASH) & (window[7] == _DASH) & (window[13] == _COLON)
    codes[dated & (window[10] == _T)] = _ISO
    codes[dated & (window[10] == _SPACE)] = _SQL
    if dated.all():
        return codes
    counted = ~dated & (texts.lengths > SECOND_DIGITS + 1) & (window[SECOND_DIGITS] == _POINT) & (window[0] <= _MOST)
    for place in range(SECOND_DIGITS):
        counted &= are_digits(window[place])
    codes[counted] = _SECONDS
    rest = ~dated & ~counted
    if rest.any():
        digits = pc.ascii_is_decimal(array).to_numpy(zero_copy_only=False) & (texts.lengths <= MOST_DIGITS)
        codes[rest & digits & (texts.lengths > 0)] = _DIGITS
    return codes
