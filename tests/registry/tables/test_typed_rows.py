"""Rows of changes become rows of tables, and nothing of an image is lost on the way: by hand, and by chance."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cdc_contracts.registry.core.records.output_schemas import CHANGES_SCHEMA
from cdc_contracts.registry.core.tables.canonical.column_types import column_type
from cdc_contracts.registry.core.tables.canonical.table_layouts import FLAT, ColumnLayout, TableLayout, TableName
from cdc_contracts.registry.core.tables.canonical.typed_rows import count_by_table, split_by_table, type_rows

ORDERS = TableName("shop", None, "orders")
TYPES = {"id": ("bigint", "integer"), "total": ("decimal(10,2)", "decimal"), "day": ("date", "date"),
         "photo": ("blob", "bytes"), "note": ("text", "text"), "x.y": (None, None)}  # fmt: skip


def layout_of(*names: str) -> TableLayout:
    columns = [ColumnLayout(name, column_type(*TYPES[name]), *TYPES[name]) for name in names]
    return TableLayout(ORDERS, tuple(columns), (), "messages")


def row_of(offset: int, before: Any, after: Any, **more: Any) -> dict[str, Any]:
    return {
        "contract": "dts/canal@2", "undecided": False, "op": "update", "tenant": None, "database": "shop", "schema": None,
        "table": "orders", "column_types": {name: told or "" for name, (told, _) in TYPES.items()}, "before": before, "after": after, "types_from": "message", "invalid": [], "topic": "t",
        "partition": 0, "offset": offset, "row_index": 0, **more,
    }  # fmt: skip


def batch_of(rows: list[dict[str, Any]]) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist(rows, CHANGES_SCHEMA)


def typed(rows: list[dict[str, Any]], layout: TableLayout) -> tuple[list[dict[str, Any]], dict[str, int]]:
    batch, counts = type_rows(batch_of(rows), layout)
    batch.validate(full=True)
    assert batch.schema == layout.arrow
    return [{**row, "_raw": dict(row["_raw"])} for row in batch.to_pylist()], counts


def test_null_absent_and_unreadable_are_three_things():
    (row,), counts = typed(
        [row_of(1, None, {"id": "7", "total": None, "day": "0000-00-00"})], layout_of("id", "total", "day", "note")
    )
    assert row["before"] is None
    assert (row["after"]["id"], row["after"]["total"], row["after"]["day"], row["after"]["note"]) == (
        7,
        None,
        None,
        None,
    )
    assert row["_absent"] == ["after.note"]
    assert row["_raw"] == {"after.day": "0000-00-00"}
    assert counts == {"day": 1}


def test_a_column_that_was_kept_as_text_is_null_and_its_text_is_kept_even_where_it_could_be_read():
    """The text of a value that does not have its form may look like another value: `abcd` is Base64 of three bytes."""
    (row,), counts = typed(
        [row_of(1, {"photo": "abcd"}, {"photo": "efgh", "note": "n"}, invalid=["photo"])], layout_of("photo", "note")
    )
    assert row["before"]["photo"] is row["after"]["photo"] is None
    assert row["_raw"] == {"before.photo": "abcd", "after.photo": "efgh"}
    assert counts == {"photo": 2}


@pytest.mark.parametrize("side", ["before", "after"])
def test_a_valid_value_beside_an_invalid_one_of_its_column_is_read(side):
    other = {"before": "after", "after": "before"}[side]
    images = {side: {"day": "0000-00-00", "note": "0000-00-00"}, other: {"day": "2020-01-02", "note": "n"}}
    told = {"invalid": ["day", "note"], "invalid_values": [f"{side}.day", f"{side}.note"]}
    (row,), counts = typed([row_of(1, images["before"], images["after"], **told)], layout_of("day", "note"))
    assert row[side] == {"day": None, "note": None}
    assert row[other] == {"day": date(2020, 1, 2), "note": "n"}
    assert row["_raw"] == {f"{side}.day": "0000-00-00", f"{side}.note": "0000-00-00"}
    assert counts == {"day": 1, "note": 1}


def test_a_value_without_a_type_is_no_bytes_even_where_it_looks_like_base64():
    (row,), _ = typed([row_of(1, None, {"photo": "abcd"}, types_from="none", column_types=None)], layout_of("photo"))
    assert (row["after"], row["_raw"]) == ({"photo": None}, {"after.photo": "abcd"})


def test_a_row_lists_the_columns_that_a_partial_image_changed_and_lacks():
    rows, _ = typed(
        [row_of(1, {"id": "1"}, {"id": "1"}, changed=["id"]), row_of(2, None, {"id": "1"})], layout_of("id", "note")
    )
    assert [row["_changed"] for row in rows] == [["id"], None]
    assert [row["_absent"] for row in rows] == [["before.note", "after.note"], ["after.note"]]


def flat(*names: str) -> TableLayout:
    return replace(layout_of(*names), shape=FLAT)


def test_a_flat_row_has_the_image_after_the_change_and_a_deletion_the_one_before_it():
    rows, _ = typed(
        [
            row_of(1, {"id": "7", "note": "old"}, {"id": "7", "note": "new"}),
            row_of(2, {"id": "7", "note": "new"}, None, op="delete"),
            row_of(3, {"id": "8"}, None, update_part="before"),
            row_of(4, None, None, op="delete"),
        ],
        flat("id", "note"),
    )
    assert [(row["_op"], row["id"], row["note"], row["_columns"]) for row in rows] == [
        ("update", 7, "new", ["id", "note"]),
        ("delete", 7, "new", ["id", "note"]),
        ("update", 8, None, ["id"]),
        ("delete", None, None, None),
    ]
    assert rows[2]["_update_part"] == "before"


def test_flat_rows_tell_null_from_absent_and_from_what_is_kept_as_text():
    (row,), counts = typed(
        [row_of(1, {"day": "0000-00-00", "gone": "1"}, {"id": "7", "total": None, "day": "2020-02-30", "other": None})],
        flat("id", "total", "day", "note"),
    )
    assert [row[name] for name in ("id", "total", "day", "note")] == [7, None, None, None]
    assert row["_columns"] == ["id", "total", "day"]
    assert row["_raw"] == {"day": "2020-02-30", "other": None}  # nothing of the image that is not shown
    assert counts == {"day": 1, "other": 1}
    assert "_absent" not in row


def test_a_source_column_that_is_named_as_metadata_gets_an_underscore_and_later_columns_rename_nothing():
    columns = [
        ColumnLayout(name, column_type("int", "integer"), "int", "integer")
        for name in ("id", "_OP", "_columns", "__op")
    ]
    layouts = [TableLayout(ORDERS, tuple(columns[:count]), (), "messages", shape=FLAT) for count in range(1, 5)]
    assert layouts[-1].arrow.names[-4:] == ["id", "__OP", "__columns", "___op"]
    assert all(layout.arrow.names == layouts[-1].arrow.names[: len(layout.arrow)] for layout in layouts)
    (row,), _ = typed([row_of(1, None, {"id": "1", "_OP": "2", "_columns": "3"})], layouts[-1])
    assert (row["_op"], row["__OP"], row["__columns"], row["_columns"]) == ("update", 2, 3, ["id", "_OP", "_columns"])


def test_a_table_without_columns_keeps_every_value_as_text():
    (row,), counts = typed([row_of(1, None, {"id": "1", "note": None})], layout_of())
    assert "after" not in row
    assert row["_raw"] == {"after.id": "1", "after.note": None}
    assert counts == {"id": 1, "note": 1}


NAMES = [*TYPES, "ID", "", "after.id", "ä"]
TEXTS = st.sampled_from(
    ["7", "-1", "12.10", "1.005", "2024-02-29", "2023-02-29", "AAE=", "abc", "", "ä", "99999999999999999999"]
)
IMAGES = st.none() | st.dictionaries(st.sampled_from(NAMES), st.none() | TEXTS, max_size=6)
INVALID_IN = st.none() | st.lists(st.sampled_from(["before", "after"]), unique=True)
"""The images that are told to have the invalid values; None where a file does not tell."""
READS = {
    "id": {"7": 7, "-1": -1}, "total": {"7": "7.00", "-1": "-1.00", "12.10": "12.10"},
    "day": {"2024-02-29": "2024-02-29"}, "photo": {"AAE=": b"\0\1", "": b"", "abc": None},
}  # fmt: skip


@settings(max_examples=80)
@given(
    st.lists(
        st.tuples(IMAGES, IMAGES, st.lists(st.sampled_from(NAMES), unique=True, max_size=2), INVALID_IN),
        min_size=1,
        max_size=8,
    ),
    st.lists(st.sampled_from(list(TYPES)), unique=True),
    st.integers(0, 3),
)
def test_every_value_of_an_image_is_in_its_column_or_kept_as_text(images, names, skipped):
    rows = [
        row_of(
            at, before, after, invalid=invalid,
            invalid_values=None if sides is None else [f"{side}.{name}" for side in sides for name in invalid],
        )
        for at, (before, after, invalid, sides) in enumerate(images)
    ]  # fmt: skip
    layout, batch = layout_of(*names), batch_of([*rows, *rows])
    batch = batch.slice(skipped % len(rows), len(rows))  # as tables come: a part of a longer array
    given_rows = batch.to_pylist()
    found, counts = type_rows(batch, layout)
    found.validate(full=True)
    kept: dict[str, int] = {}
    for given_row, row in zip(given_rows, found.to_pylist(), strict=True):
        raw, absent = dict(row["_raw"]), []
        wanted_raw = {}
        for side in ("before", "after"):
            image = None if given_row[side] is None else dict(given_row[side])
            if names:
                assert (row[side] is None) == (image is None)
            for name in names if image is not None else ():
                value, text = row[side][name], image.get(name)
                if name not in image:
                    absent.append(f"{side}.{name}")
                elif text is not None and (is_invalid(given_row, side, name) or not reads(name, text)):
                    wanted_raw[f"{side}.{name}"] = text
                assert value == (expected(name, text) if f"{side}.{name}" not in wanted_raw else None)
            wanted_raw |= {f"{side}.{name}": text for name, text in (image or {}).items() if name not in names}
        assert (raw, len(row["_raw"])) == (wanted_raw, len(wanted_raw))
        assert row["_absent"] == absent
        for path in wanted_raw:
            column = path.partition(".")[2]
            kept[column] = kept.get(column, 0) + 1
    assert counts == kept


@settings(max_examples=60)
@given(
    st.lists(
        st.tuples(IMAGES, IMAGES, st.lists(st.sampled_from(NAMES), unique=True, max_size=2), INVALID_IN),
        min_size=1,
        max_size=8,
    ),
    st.lists(st.sampled_from(list(TYPES)), unique=True),
    st.integers(0, 3),
)
def test_flat_rows_are_the_nested_ones_with_one_image(images, names, skipped):
    rows = [
        row_of(
            at, before, after, invalid=invalid,
            invalid_values=None if sides is None else [f"{side}.{name}" for side in sides for name in invalid],
        )
        for at, (before, after, invalid, sides) in enumerate(images)
    ]  # fmt: skip
    batch = batch_of([*rows, *rows]).slice(skipped % len(rows), len(rows))
    nested, _ = type_rows(batch, layout_of(*names))
    found, counts = type_rows(batch, flat(*names))
    found.validate(full=True)
    assert found.schema == flat(*names).arrow
    kept: dict[str, int] = {}
    for change, whole, row in zip(batch.to_pylist(), nested.to_pylist(), found.to_pylist(), strict=True):
        side = next((one for one in ("after", "before") if change[one] is not None), None)
        held = {} if side is None else dict(change[side])
        for name in names:
            assert row[name] == (None if side is None else whole[side][name])
        assert row["_columns"] == (None if side is None else [name for name in names if name in held])
        texts = {name.removeprefix(f"{side}."): text for name, text in whole["_raw"] if name.startswith(f"{side}.")}
        assert dict(row["_raw"]) == texts
        for name in texts:
            kept[name] = kept.get(name, 0) + 1
        assert {**row, "_raw": 0}.items() >= {
            name: whole[name] for name in whole if name.startswith("_") and name not in ("_raw", "_absent")
        }.items()
    assert counts == kept


def is_invalid(row: dict[str, Any], side: str, name: str) -> bool:
    told = row["invalid_values"]
    return name in row["invalid"] and (told is None or f"{side}.{name}" in told)


def reads(name: str, text: str) -> bool:
    return name not in READS or READS[name].get(text) is not None


def expected(name: str, text: str | None) -> Any:
    if text is None or name not in READS:
        return text
    value = READS[name][text]
    as_python = {"total": pa.scalar, "day": pa.scalar}.get(name)
    return pa.array([value]).cast(column_type(*TYPES[name]))[0].as_py() if as_python else value


def test_rows_are_split_by_table_in_their_order():
    names = [
        ("b", None, "t"),
        ("a", None, "t"),
        (None, None, "t"),
        ("a", "s", "t"),
        ("b", None, "t"),
        (None, None, None),
    ]
    rows = [
        row_of(at, None, {"id": str(at)}, database=database, schema=schema, table=table)
        for at, (database, schema, table) in enumerate(names)
    ]
    found = [(tuple(name), part.column("offset").to_pylist()) for name, part in split_by_table(batch_of(rows))]
    assert found == [
        ((None, None, ""), [5]), ((None, None, "t"), [2]), (("a", None, "t"), [1]), (("a", "s", "t"), [3]),
        (("b", None, "t"), [0, 4]),
    ]  # fmt: skip


def test_rows_are_counted_by_table():
    names = [("b", None, "t"), ("a", "s", "t"), ("b", None, "t"), (None, None, None), (None, None, "")]
    rows = [
        row_of(at, None, {"id": str(at)}, database=database, schema=schema, table=table)
        for at, (database, schema, table) in enumerate(names)
    ]
    assert count_by_table(batch_of(rows)) == {("b", None, "t"): 2, ("a", "s", "t"): 1, (None, None, ""): 2}
    assert count_by_table(batch_of(rows[:1])) == {("b", None, "t"): 1}
    assert count_by_table(batch_of([])) == {}


@pytest.mark.parametrize("rows", [[], [row_of(1, None, {"id": "1"})]])
def test_rows_of_one_table_or_none_are_not_copied(rows):
    batch = batch_of(rows)
    assert [part is batch for _, part in split_by_table(batch)] == [True] * len(rows)
