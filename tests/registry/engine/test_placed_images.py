"""Images as places of texts come to the same maps and the same typed rows, by the native part and without it."""

import random

import numpy as np
import pyarrow as pa
import pytest

from cdc_contracts.registry.core.engine.native.image_maps import ImageRows, complete_images
from cdc_contracts.registry.core.engine.native.native_library import native_library
from cdc_contracts.registry.core.engine.write.placed_images import ImageBlock, PlacedImages

TEXTS = [None, "", "a", "Ä", "long " * 9, "7"]
NAMES = ("id", "name", "größe", "", "x" * 40)


@pytest.fixture(params=["native", "off"])
def native(request, monkeypatch):
    """With the native part, and without."""
    if request.param == "native" and native_library() is None:
        pytest.skip("no native part was compiled")
    if request.param == "off":
        monkeypatch.setenv("CDC_CONTRACTS_NATIVE", "off")


def placed(blocks, order, before=0):
    """Images of blocks given as (rows, names, places, present) or (rows, None); `before` texts lie before the first."""
    sizes = [block[0] for block in blocks]
    made = [
        None
        if block[1] is None
        else ImageBlock(block[1], np.array(block[2], np.int64).reshape(block[0], len(block[1])), block[3])
        for block in blocks
    ]
    texts = pa.array(["?"] * before + TEXTS, pa.string()).slice(before)
    starts = np.cumsum(sizes) - sizes
    block_of = np.repeat(np.arange(len(sizes)), sizes).astype(np.int32)
    return PlacedImages(made, starts, block_of, np.array(order, np.int64), texts)


def example():
    """Three rows with two columns, a row without an image, and a row that lacks a column of three."""
    part = np.array([[True, False, True]])
    return [
        (3, ("id", "name"), [[5, 2], [5, 0], [2, 1]], None), (1, None), (1, ("x", "name", "id"), [[3, 0, 5]], part),
    ]  # fmt: skip


@pytest.mark.usefixtures("native")
def test_images_become_maps_in_the_order_of_the_rows():
    assert placed(example(), [4, 1, 3, 0, 2], before=3).as_maps().to_pylist() == [
        [("x", "Ä"), ("id", "7")], [("id", "7"), ("name", None)], None, [("id", "7"), ("name", "a")],
        [("id", "a"), ("name", "")],
    ]  # fmt: skip
    assert placed(example(), [3]).as_maps().to_pylist() == [None]
    assert placed(example(), []).as_maps().to_pylist() == []
    assert placed([], []).as_maps().type == pa.map_(pa.string(), pa.string())


def test_images_are_found_by_column_and_what_is_of_none_follows():
    found = placed(example(), [4, 1, 3, 0]).by_name({"name": 0, "id": 1, "gone": 2})
    assert found.there.tolist() == [True, True, False, True]
    assert found.places.tolist() == [[-1, 0, -1, 2], [5, 5, -1, 5], [-1, -1, -1, -1]]
    assert (found.other_rows.tolist(), found.other_places.tolist(), list(found.other_names)) == ([0], [3], ["x"])
    other = placed(example(), [0, 4, 1]).by_name({})
    assert (other.other_rows.tolist(), list(other.other_names)) == (
        [0, 0, 1, 1, 2, 2],
        ["id", "name", "x", "id", "id", "name"],
    )
    assert other.other_places.tolist() == [5, 2, 3, 5, 5, 0]


@pytest.mark.skipif(native_library() is None, reason="no native part was compiled")
def test_images_are_completed_by_those_under_them():
    """Two columns: a row that has one, a row that has both with none under it, and a row that has neither."""
    image = ImageRows(
        np.array([[0, 0], [3, 0], [1, 2]]), np.array([[False, False], [True, False], [True, True]]), np.array([1, 2, 0])
    )
    under = ImageRows(np.array([[5, 4]]), None, np.array([0, -1, 0]))
    found = complete_images(image, under)
    assert found.places.tolist() == [[3, 4], [1, 2], [5, 4]]
    assert found.sent.tolist() == [[True, False], [True, True], [False, False]]
    assert found.there.tolist() == [[True, True]] * 3
    assert found.partial.tolist() == [True, False, True]
    lacking = complete_images(image, under._replace(present=np.array([[False, True]])))
    assert (lacking.places[0].tolist(), lacking.places[2].tolist()) == ([3, 4], [0, 4])
    assert lacking.there.tolist() == [[True, True], [True, True], [False, True]]
    assert lacking.partial.tolist() == [True, False, True]
    alone = complete_images(image._replace(present=None), under)
    assert (alone.places.tolist(), alone.partial.any()) == ([[3, 0], [1, 2], [0, 0]], False)


def drawn_images(draw, rows, columns, *, least):
    """Images of some rows, among them none if `least` is -1; what comes before and after them is there as well."""
    held = draw.randint(1, 4)
    places = np.array([[draw.randrange(1, 90) for _ in range(columns)] for _ in range(held)], np.int64)
    present = np.array([[draw.random() < 0.5 for _ in range(columns)] for _ in range(held)], np.bool_)
    wanted = np.array([draw.randint(least, held - 1) for _ in range(rows)], np.int64)
    return ImageRows(places.reshape(held, columns), draw.choice((None, present.reshape(held, columns))), wanted)


def held_by(images, row, column):
    """Return the place that images have for a row and column, None if there is none."""
    number = int(images.rows[row])
    there = number >= 0 and (images.present is None or images.present[number, column])
    return int(images.places[number, column]) if there else None


@pytest.mark.skipif(native_library() is None, reason="no native part was compiled")
def test_whatever_the_images_each_is_completed_by_the_one_under_it_alone():
    draw = random.Random(8)
    for _ in range(300):
        rows, columns = draw.randint(0, 6), draw.randint(1, 4)
        image = drawn_images(draw, rows, columns, least=0)
        under = drawn_images(draw, rows, columns, least=-1)
        found = complete_images(image, under)
        for row in range(rows):
            own = [held_by(image, row, column) for column in range(columns)]
            below = [held_by(under, row, column) for column in range(columns)]
            both = [lower if upper is None else upper for upper, lower in zip(own, below, strict=True)]
            assert found.places[row].tolist() == [place or 0 for place in both]
            assert found.sent[row].tolist() == [place is not None for place in own]
            assert found.there[row].tolist() == [place is not None for place in both]
            assert found.partial[row] == (both != own)


def drawn(draw):
    """Blocks of random shapes, and what their rows are."""
    blocks, rows = [], []
    for _ in range(draw.randint(0, 6)):
        size, names = draw.randint(0, 9), tuple(draw.sample(NAMES, draw.randint(0, len(NAMES))))
        if draw.random() < 0.2:
            blocks.append((size, None))
            rows += [None] * size
            continue
        places = np.array([[draw.randrange(len(TEXTS)) for _ in names] for _ in range(size)], np.int64)
        places = places.reshape(size, len(names))
        present = np.array([[draw.random() < 0.7 for _ in names] for _ in range(size)], np.bool_).reshape(places.shape)
        whole = draw.random() < 0.5
        blocks.append((size, names, places, None if whole else present))
        rows += [
            [(name, TEXTS[place]) for name, place, held in zip(names, *of_row, strict=True) if whole or held]
            for of_row in zip(places.tolist(), present.tolist(), strict=True)
        ]
    return blocks, rows


@pytest.mark.usefixtures("native")
def test_whatever_the_blocks_the_maps_hold_their_rows():
    draw = random.Random(7)
    for _ in range(150):
        blocks, rows = drawn(draw)
        order = [draw.randrange(len(rows)) for _ in range(draw.randint(0, 20))] if rows else []
        images = placed(blocks, order, before=draw.randrange(3))
        assert images.as_maps().to_pylist() == [rows[row] for row in order]
        chosen = np.array([place for place in range(len(order)) if draw.random() < 0.5], np.int64)
        assert images.select(chosen).as_maps().to_pylist() == [rows[order[place]] for place in chosen]
        named = images.by_name({name: place for place, name in enumerate(NAMES[:2])})
        for row, at in enumerate(order):
            entries = dict(rows[at] or ())
            assert named.there[row] == (rows[at] is not None)
            for column, name in enumerate(NAMES[:2]):
                place = named.places[column, row]
                assert (place >= 0) == (name in entries)
                assert place < 0 or TEXTS[place] == entries[name]
        others = [
            (row, name, text) for row, at in enumerate(order) for name, text in rows[at] or () if name not in NAMES[:2]
        ]
        found = zip(named.other_rows.tolist(), named.other_names, named.other_places.tolist(), strict=True)
        assert [(row, name, TEXTS[place]) for row, name, place in found] == others
