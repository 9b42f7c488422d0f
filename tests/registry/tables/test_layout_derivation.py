"""Layouts follow from contracts, statements and messages, in whatever order parts of a run are merged."""

from __future__ import annotations

import json
import pickle
import random

import msgspec
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from topics import rendered, scope_of

from cdc_contracts.registry.core.contract.table_contracts import TableContracts, parse_table_contract
from cdc_contracts.registry.core.contract.table_families import TableFamilies
from cdc_contracts.registry.core.engine.kernel import Kernel
from cdc_contracts.registry.core.stats.observed_columns import MOST_OTHERS, MOST_SHAPES, ObservedColumn, ObservedColumns
from cdc_contracts.registry.core.tables.canonical.canonical_names import observed_canonical
from cdc_contracts.registry.core.tables.canonical.layout_resolution import MOST_COLUMNS, LayoutGuess, resolve_layouts
from cdc_contracts.registry.core.tables.canonical.table_layouts import (
    RecordedLayout,
    TableName,
    read_layout,
    write_layout,
)
from cdc_contracts.registry.core.tables.canonical.typed_rows import type_rows

ORDERS = TableName("shop", None, "orders")
ID, TOTAL = ObservedColumn("id", "bigint(20)", "integer"), ObservedColumn("total", "decimal(10,2)", "decimal")


def seen(*shapes: tuple[ObservedColumn, ...], table: TableName = ORDERS) -> ObservedColumns:
    observed = ObservedColumns()
    for shape in shapes:
        observed.add(table, shape)
    return observed


def contract(**columns: str) -> TableContracts:
    document = {"table": "shop.orders", "columns": {name: {"type": told} for name, told in columns.items()}}
    return TableContracts([parse_table_contract({**document, "primary_key": list(columns)[:1]}, "test")])


def told(layouts, table=ORDERS):
    return [(one.name, one.type) for one in write_layout(layouts[table]).columns]


NONE = TableContracts()
UNTYPED = "oms-community/default@2"
KAFKA = pa.schema([
    ("topic", pa.string()), ("partition", pa.int32()), ("offset", pa.int64()), ("value", pa.binary()),
])  # fmt: skip


def test_without_a_contract_the_messages_give_the_columns_in_their_order():
    layouts = resolve_layouts({}, NONE, seen((TOTAL, ID)), {})
    assert told(layouts) == [("total", "decimal(10,2)"), ("id", "int64")]
    assert layouts[ORDERS].origin == "messages"


def test_a_contract_gives_columns_order_and_types_and_a_column_it_does_not_list_is_none():
    layouts = resolve_layouts(
        {},
        contract(id="bigint unsigned", total="decimal(12,2)"),
        seen((TOTAL, ObservedColumn("x", "int", "integer"), ID)),
        {},
    )
    assert told(layouts) == [("id", "decimal(20,0)"), ("total", "decimal(12,2)")]
    assert (layouts[ORDERS].origin, layouts[ORDERS].primary_key) == ("contract", ("id",))


@pytest.mark.parametrize(
    "other",
    [
        ObservedColumn("total", "decimal(12,3)", "decimal"),
        ObservedColumn("total", None, None),
        ObservedColumn("total", "decimal(10,2)", "text"),
    ],
)
def test_types_that_disagree_make_text(other):
    assert told(resolve_layouts({}, NONE, seen((ID, TOTAL), (ID, other)), {})) == [("id", "int64"), ("total", "string")]


def test_types_that_differ_in_words_alone_agree():
    assert told(resolve_layouts({}, NONE, seen((ID,), (ObservedColumn("id", "INT", "integer"),)), {})) == [
        ("id", "int64")
    ]


def test_of_names_that_differ_in_case_alone_the_first_is_a_column():
    assert told(resolve_layouts({}, NONE, seen((ID, ObservedColumn("ID", "text", "text"))), {})) == [("id", "int64")]
    known = resolve_layouts({}, NONE, seen((ID,)), {})
    assert told(
        resolve_layouts(known, contract(ID="text", total="text"), seen((ObservedColumn("ID", "text", "text"),)), {})
    ) == [("id", "int64")]


def test_a_known_layout_takes_no_column_that_nobody_allows_and_loses_none():
    known = resolve_layouts({}, NONE, seen((ID, TOTAL)), {})
    later = resolve_layouts(
        known, NONE, seen((ObservedColumn("id", "varchar(9)", "text"), ObservedColumn("note", "text", "text"))), {}
    )
    assert later == known


def test_the_rows_after_deletes_that_held_keys_alone_have_all_their_columns():
    messages = [json.loads(value) for value in rendered(UNTYPED, 40)]
    keys = [one | {"prevStruct": {"id": one["prevStruct"]["id"]}} for one in messages if one["recordType"] == "DELETE"]
    layouts, seen_columns = {}, []
    for batch in (keys, messages):
        records = [
            {"topic": "t", "partition": 0, "offset": at, "value": json.dumps(one)} for at, one in enumerate(batch)
        ]
        (part,) = Kernel(scope_of(UNTYPED)).decode(pa.RecordBatch.from_pylist(records, KAFKA))
        layouts = resolve_layouts(layouts, NONE, part.observed, {})
        rows, texts = type_rows(part.changes, layouts[ORDERS])
        assert (rows.num_rows, texts) == (len(batch), {})
        assert not any(row["_raw"] for row in rows.to_pylist())
        seen_columns.append([column.name for column in layouts[ORDERS].columns])
    assert seen_columns[0] == ["id"]
    assert seen_columns[1] == list(messages[0]["postStruct"])


def test_a_layout_grows_where_types_are_unknown():
    key, name, note = (ObservedColumn(one, None, None) for one in ("id", "name", "note"))
    known = resolve_layouts({}, NONE, seen((key,)), {})
    assert told(known) == [("id", "string")]
    later = resolve_layouts(known, NONE, seen((key,), (key, name, note)), {})
    assert told(later) == [("id", "string"), ("name", "string"), ("note", "string")]
    # What tells types would have told them of every column: what it did not is drift.
    assert resolve_layouts(known, NONE, seen((key, TOTAL)), {}) == known
    typed = resolve_layouts({}, NONE, seen((ID,)), {})
    assert resolve_layouts(typed, NONE, seen((ID, note)), {}) == typed
    by_contract = resolve_layouts({}, contract(id="text"), seen((key,)), {})
    assert resolve_layouts(by_contract, NONE, seen((key, note)), {}) == by_contract


def test_names_that_are_made_up_as_they_come_do_not_let_a_layout_grow_for_ever():
    shape = tuple(ObservedColumn(f"c{at}", None, None) for at in range(2 * MOST_COLUMNS))
    layouts = resolve_layouts({}, NONE, seen(shape[:1]), {})
    for _ in range(2):
        layouts = resolve_layouts(layouts, NONE, seen(shape), {})
        assert len(layouts[ORDERS].columns) == MOST_COLUMNS


def test_a_known_layout_takes_new_columns_of_its_contract():
    known = resolve_layouts({}, NONE, seen((TOTAL, ID)), {})
    layouts = resolve_layouts(
        known, contract(note="text", id="int"), seen((ID, ObservedColumn("note", "text", "text"))), {}
    )
    assert told(layouts) == [("total", "decimal(10,2)"), ("id", "int64"), ("note", "string")]


def test_a_column_that_a_statement_added_comes_once_a_row_has_it_in_this_run_or_a_later_one():
    known = resolve_layouts({}, NONE, seen((ID,)), {})
    awaiting = resolve_layouts(known, NONE, seen((ID,)), {ORDERS: {"total": "decimal(10,2)"}})
    assert told(awaiting) == [("id", "int64")]
    kept = {
        name: read_layout(msgspec.json.decode(msgspec.json.encode(write_layout(one)), type=RecordedLayout))
        for name, one in awaiting.items()
    }
    assert kept == awaiting
    later = resolve_layouts(kept, NONE, seen((ID, TOTAL)), {})
    assert told(later) == [("id", "int64"), ("total", "decimal(10,2)")]
    assert later[ORDERS].awaited == ()
    assert resolve_layouts(known, NONE, seen((ID, TOTAL)), {ORDERS: {"total": "decimal(10,2)"}}) == later


def test_tables_of_other_runs_stay_as_they_are():
    known = resolve_layouts({}, NONE, seen((ID,)), {})
    other = TableName("shop", "s", "visits")
    layouts = resolve_layouts(known, NONE, seen((TOTAL,), table=other), {})
    assert (told(layouts), told(layouts, other)) == ([("id", "int64")], [("total", "decimal(10,2)")])


SIGHTINGS = st.builds(
    ObservedColumn,
    st.sampled_from("abAB"),
    st.sampled_from([None, "int", "decimal(4,1)"]),
    st.sampled_from([None, "integer", "text"]),
)
SHAPES = st.lists(SIGHTINGS, unique_by=lambda one: one.name, max_size=4).map(tuple)


@settings(max_examples=60)
@given(
    st.lists(st.tuples(st.sampled_from(["orders", "visits"]), SHAPES), max_size=12), st.randoms(use_true_random=False)
)
def test_the_order_of_merging_does_not_matter(shapes, chance):
    def merged() -> ObservedColumns:
        parts = [seen(shape, table=TableName("shop", None, table)) for table, shape in shapes]
        chance.shuffle(parts)
        total = ObservedColumns()
        for part in parts:
            total.merge(pickle.loads(pickle.dumps(part)))
        return total

    one, other = merged(), merged()
    assert resolve_layouts({}, NONE, one, {}) == resolve_layouts({}, NONE, other, {})


def test_more_shapes_than_are_kept_leave_the_widest_in_whatever_order_they_come():
    shapes = [
        tuple(ObservedColumn(f"c{at}", "int", "integer") for at in range(width)) for width in range(4 * MOST_SHAPES)
    ]
    layouts = []
    for seed in range(2):
        random.Random(seed).shuffle(shapes)
        observed = seen(*shapes)
        assert len(observed.shapes[ORDERS]) <= 2 * MOST_SHAPES
        layouts.append(resolve_layouts({}, NONE, observed, {}))
    assert layouts[0] == layouts[1]
    assert len(layouts[0][ORDERS].columns) == 4 * MOST_SHAPES - 1


@pytest.mark.parametrize("parts", [1, 7, 300])
def test_columns_of_rows_of_more_shapes_than_are_kept_are_laid_out_too(parts):
    """Documents of 300 kinds, each with a column of its own beside the id: those of 236 kinds were left out."""
    shapes = [(ID, ObservedColumn(f"c{at:03}", None, None)) for at in range(300)]
    layouts = []
    for seed in range(2):
        random.Random(seed).shuffle(shapes)
        observed = ObservedColumns()
        for start in range(parts):
            observed.merge(pickle.loads(pickle.dumps(seen(*shapes[start::parts]))))
        layouts.append(resolve_layouts({}, NONE, observed, {}))
        guess = LayoutGuess({}, NONE, observed, set()).of(ORDERS)
        assert guess == layouts[-1][ORDERS]
        families = TableFamilies({"all": "orders"})
        of_family = resolve_layouts({}, NONE, observed_canonical(observed, families), {})
        assert [column.name for column in of_family[TableName(None, None, "all")].columns] == [
            column.name for column in guess.columns
        ]
    assert layouts[0] == layouts[1]
    assert [name for name, _ in told(layouts[0])] == ["id", *(f"c{at:03}" for at in range(300))]


def test_columns_with_made_up_names_are_bounded_and_the_first_by_name_are_kept():
    shapes = [(ID, ObservedColumn(f"c{at:04}", None, None)) for at in range(3 * MOST_OTHERS)]
    found = []
    for seed in range(2):
        random.Random(seed).shuffle(shapes)
        observed = seen(*shapes)
        assert len(observed.others[ORDERS]) <= 2 * MOST_OTHERS
        found.append([*observed.columns(ORDERS)])
    assert found[0] == found[1]
    assert found[0][:3] == ["id", "c0000", "c0001"]
    assert MOST_OTHERS < len(found[0]) <= 1 + MOST_SHAPES + MOST_OTHERS
