"""Which records two versions of a subject read differently, against a comparison of their rows one by one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from cdc_contracts.registry.core.engine.columns.row_images import SideTexts, differing

TEXTS = (None, "", "a", "b", "", "a", None)
"""Texts of a batch, some of them in several places: a version may read NULL where another reads an empty text."""
NAMES = ("id", "note")


@st.composite
def sides(draw: st.DrawFn, counts: list[int]) -> SideTexts | None:
    """Return an image of records with so many rows each; a value is invalid, or was sent, only where there is one."""
    if draw(st.integers(0, 4)) == 0:
        return None
    shape = (sum(counts), len(NAMES))
    number = sum(counts) * len(NAMES)

    def drawn(values: st.SearchStrategy[int] | st.SearchStrategy[bool]) -> np.ndarray:
        return np.array(draw(st.lists(values, min_size=number, max_size=number))).reshape(shape)

    present = drawn(st.booleans()).astype(np.bool_)
    sent = drawn(st.booleans()).astype(np.bool_) & present
    return SideTexts(
        NAMES,
        np.repeat(np.arange(len(counts)), counts),
        np.concatenate([np.arange(count) for count in counts] or [[]]).astype(np.int64),
        drawn(st.integers(0, len(TEXTS) - 1)).astype(np.int64),
        present,
        drawn(st.booleans()).astype(np.bool_) & present,
        sent,
        (present & ~sent).any(axis=1),
    )


@st.composite
def readings(draw: st.DrawFn) -> tuple[list[int], list[tuple[SideTexts | None, SideTexts | None]]]:
    """Return two readings of the same records; the second is often the first with little changed."""
    counts = draw(st.lists(st.integers(0, 2), min_size=1, max_size=3))
    left = draw(sides(counts)), draw(sides(counts))
    right = [draw(st.sampled_from([side, changed(draw, side, draw(sides(counts)))])) for side in left]
    return counts, [left, (right[0], right[1])]


def changed(draw: st.DrawFn, side: SideTexts | None, other: SideTexts | None) -> SideTexts | None:
    """Return an image with some of what it has as another one has it, or another one altogether."""
    if side is None or other is None:
        return other
    texts = replace(side, places=np.where(other.present, other.places, side.places))
    marks = replace(side, invalid=other.invalid & side.present)
    sent = other.sent & side.present
    partly = replace(side, sent=sent, partial=(side.present & ~sent).any(axis=1))
    return draw(st.sampled_from([other, texts, marks, partly]))


@given(
    st.lists(st.integers(0, 2), min_size=2, max_size=2), st.lists(st.integers(0, 2), min_size=2, max_size=2), st.data()
)
def test_records_with_other_numbers_of_rows_are_read_differently(counts, others, data):
    left, right = data.draw(sides(counts)), data.draw(sides(others))
    found = differing((left, None), (right, None), pa.array(TEXTS, pa.string()), len(counts))
    assert left is None or right is None or counts == others or found.all()


def image_of(side: SideTexts, row: int) -> list[tuple[str, str | None, bool]]:
    """Return the columns of one image, each with its text and whether that is invalid."""
    return [
        (name, TEXTS[side.places[row, at]], bool(side.invalid[row, at]))
        for at, name in enumerate(NAMES)
        if side.present[row, at]
    ]


def rows_of(reading: tuple[SideTexts | None, SideTexts | None], record: int) -> list[object]:
    """Return what the rows of a record hold: both images, what in them is invalid, and which columns were sent."""
    reported: list[object] = []
    for side in reading:
        if side is None:
            reported.append(None)
            continue
        reported += [image_of(side, row) for row in np.flatnonzero(side.records == record)]
    there = [side for side in reading if side is not None]
    for row in np.flatnonzero(there[0].records == record) if there else ():
        partial = next((side for side in there if side.partial[row]), None)
        reported.append(None if partial is None else tuple(partial.sent[row]))
    return reported


@settings(max_examples=200)
@given(readings())
def test_a_record_is_read_differently_where_any_of_its_rows_is(given_readings):
    counts, (left, right) = given_readings
    texts = pa.array(TEXTS, pa.string())
    found = differing(left, right, texts, len(counts)).tolist()

    one_sided = any((mine is None) != (other is None) for mine, other in zip(left, right, strict=True))
    expected = [one_sided or rows_of(left, record) != rows_of(right, record) for record in range(len(counts))]
    assert found == expected
