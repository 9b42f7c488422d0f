"""Rows digested from the bytes of their messages have the digests that Python computes of each row by itself."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scanned_messages import LIBRARY, column_of

from cdc_contracts.registry.core.engine.native.row_digests import RowCells, RowDigester
from cdc_contracts.registry.core.engine.native.scanned_columns import (
    ABSENT,
    ESCAPED,
    FALSEHOOD,
    INTEGER,
    NULL,
    TEXT,
    TRUTH,
    ScannedBytes,
)
from cdc_contracts.registry.core.stats.digests_without_arrow import digest_name, digest_row, digest_value, mix

pytestmark = pytest.mark.skipif(LIBRARY is None, reason="no native part was compiled here, or it is switched off")

MASK = 2**64 - 1
NAMES = ("id", "b", "c")
Row = Mapping[str, Any]
VALUES = st.none() | st.booleans() | st.integers(-(10**17), 10**17) | st.text(st.characters(codec="utf-8"), max_size=30)
ROWS = st.lists(st.dictionaries(st.sampled_from(NAMES), VALUES), min_size=1, max_size=9)


def written(row: Row, name: str) -> tuple[int, str]:
    if name not in row:
        return ABSENT, ""
    value = row[name]
    if value is None:
        return NULL, "null"
    if isinstance(value, bool):
        return (TRUTH, "true") if value else (FALSEHOOD, "false")
    if isinstance(value, int):
        return INTEGER, str(value)
    token = json.dumps(value, ensure_ascii=False)[1:-1]
    return (ESCAPED if "\\" in token else TEXT), token


def scanned(*images: Sequence[Row]) -> tuple[ScannedBytes, list[dict[str, RowCells]]]:
    """Return images whose values lie in the same bytes; an image has the columns that some row of it has."""
    held = [(image, name) for image in images for name in NAMES if any(name in row for row in image)]
    column = column_of([written(row, name) for image, name in held for row in image])
    found: list[dict[str, RowCells]] = [{} for _ in images]
    start = 0
    for image, name in held:
        place = next(place for place, one in enumerate(images) if one is image)
        found[place][name] = RowCells(column.cells[start : start + len(image)])
        start += len(image)
    return column.source, found


def digested(rows: Sequence[Row], key: Sequence[str]) -> list[tuple[int, int, int]]:
    return [tuple(digest_row(row, key)) for row in rows]


KEYS = st.sampled_from([(), ("id",), ("b", "id"), ("id", "d")])


@settings(max_examples=200, deadline=None)
@given(ROWS, KEYS, st.randoms(use_true_random=False))
def test_rows_have_the_digests_of_their_values_columns_and_key(rows, key, random):
    source, (columns,) = scanned(rows)
    wanted = [random.randrange(len(rows)) for _ in range(7)]
    own, lower = RowDigester(source, columns, {}, key).digest(np.array(wanted), None)
    assert list(zip(*own.tolist(), strict=True)) == digested([rows[at] for at in wanted], key)
    assert lower is None


@settings(max_examples=200, deadline=None)
@given(ROWS, ROWS, KEYS, st.randoms(use_true_random=False))
def test_columns_that_a_row_lacks_are_those_of_the_row_below(rows, below, key, random):
    source, (columns, columns_below) = scanned(rows, below)
    places = [random.randrange(-1, len(below)) for _ in rows]
    under = [{} if place < 0 else below[place] for place in places]
    own, lower = RowDigester(source, columns, columns_below, key).digest(np.arange(len(rows)), np.array(places))
    completed = [{**lying, **row} for row, lying in zip(rows, under, strict=True)]
    assert list(zip(*own.tolist(), strict=True)) == digested(completed, key)
    assert list(zip(*lower.tolist(), strict=True)) == digested(under, key)


def test_digests_stand_in_for_values_whose_tokens_do_not_identify_them():
    rows, below = [{"id": "1"}, {}, {"id": None}], [{"id": "8", "b": "x"}, {}, {"b": None}]

    def columns_of(image: Sequence[Row]) -> dict[str, RowCells]:
        return {
            name: RowCells(None, np.array([mixed(row, name) for row in image], np.uint64)) for name in ("id", "b")
        }  # fmt: skip

    def mixed(row: Row, name: str) -> int:
        return mix(digest_value(row[name]) + digest_name(name) & MASK) if name in row else 0

    digester = RowDigester(column_of([]).source, columns_of(rows), columns_of(below), ("id",))
    own, lower = digester.digest(np.arange(3), np.array([2, 0, 1]))
    completed = [{"id": "1", "b": None}, {"id": "8", "b": "x"}, {"id": None}]
    assert list(zip(*own.tolist(), strict=True)) == digested(completed, ("id",))
    assert list(zip(*lower.tolist(), strict=True)) == digested([below[2], below[0], below[1]], ("id",))


@pytest.mark.parametrize("length", [4_086, 4_087, 4_088, 4_089, 4_096, 9_000])
def test_a_text_with_escapes_may_be_longer_than_the_room_for_most(length):
    rows = [{"id": "7"}, {"id": "x" * (length - 2) + "\n", "b": "y"}]
    source, (columns,) = scanned(rows)
    own, _ = RowDigester(source, columns, {}, ("id",)).digest(np.arange(2), None)
    assert list(zip(*own.tolist(), strict=True)) == digested(rows, ("id",))


def test_a_name_twice_in_a_key_counts_twice():
    source, (columns,) = scanned([{"id": "7", "b": "y"}])
    own, _ = RowDigester(source, columns, {}, ("id", "id")).digest(np.arange(1), None)
    assert own[2].tolist() == [2 * mix(digest_value("7") + digest_name("id") & MASK) & MASK]


@pytest.mark.parametrize(("rows", "below"), [([-1], [0]), ([2], [0]), ([0], [-2]), ([0], [2]), ([0], [])])
def test_rows_that_no_column_has_are_refused(rows, below):
    image = [{"id": "1"}, {"id": "2"}]
    source, (columns, columns_below) = scanned(image, list(image))
    digests = {"id": RowCells(None, np.ones(2, np.uint64))}
    for top, lower in ((columns, columns_below), (digests, digests)):
        with pytest.raises(ValueError, match="points outside of another"):
            RowDigester(source, top, lower, ()).digest(np.array(rows), np.array(below, np.int64))
