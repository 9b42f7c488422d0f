"""Positions of a whole column are those of each of its values, whatever the contract takes for none."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scanned_messages import LIBRARY, column_of

from cdc_contracts.registry.core.engine.layouts.parsed_columns import ParsedColumn
from cdc_contracts.registry.core.engine.native.scanned_columns import INTEGER, NULL, TEXT
from cdc_contracts.registry.core.engine.statistics.batch_statistics import whole_numbers
from cdc_contracts.registry.core.stats.record_facts import Track, whole_number

VALUES = st.none() | st.integers(-3, 10**17) | st.sampled_from(["0", "7", "-1", "none", "", "01"])
TRACKS = st.builds(
    lambda none, text: Track("orders", "/position", "strict", text, none),
    st.sampled_from([None, 0, -1, 7]),
    st.sampled_from([None, "none", "0", "7"]),
)


def told(values, track):
    """What single values give; None for those without a position."""
    return [whole_number(value, track) for value in values]


def read(column, track):
    numbers, there = whole_numbers(column, track)
    return [int(number) if held else None for number, held in zip(numbers.tolist(), there.tolist(), strict=True)]


@pytest.mark.parametrize("values", [[1, 7, 3], [7], [7, 7], [0, -1]])
def test_the_number_that_means_none_is_no_position_among_integers(values):
    track = Track("orders", "/position", "strict", None, 7)
    assert read(ParsedColumn(values, "int"), track) == [None if value == 7 else value for value in values]


@settings(max_examples=60)
@given(values=st.lists(VALUES, min_size=1, max_size=12), track=TRACKS)
def test_a_column_has_the_positions_of_its_values(values, track):
    assert read(ParsedColumn(values, "text-or-int"), track) == told(values, track)


@pytest.mark.skipif(LIBRARY is None, reason="no native part was compiled here, or it is switched off")
@settings(max_examples=60)
@given(values=st.lists(VALUES, min_size=1, max_size=12), track=TRACKS)
def test_a_scanned_column_has_the_positions_of_its_values(values, track):
    kinds = {int: INTEGER, str: TEXT, type(None): NULL}
    cells = [(kinds[type(value)], "null" if value is None else str(value)) for value in values]
    assert read(column_of(cells, "text-or-int"), track) == told(values, track)
