"""Profiles add up in any order, are bounded the same way whatever the cuts, and hold numbers only."""

import pickle
from copy import deepcopy

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cdc_contracts.registry.core.stats import topic_profiles
from cdc_contracts.registry.core.stats.topic_profiles import (
    ColumnProfile,
    LagLine,
    LagProfile,
    ProfiledTable,
    TableProfile,
    TopicProfiles,
    bucket_of,
    column_name,
)

ORDERS = ProfiledTable("t", "shop.orders", "dts/canal@2")


def one_row(key, op, row):
    """The profile of one row, a column's value being a text, None or another kind of value."""
    table = TableProfile()
    table.add_ops(op, 1)
    for name, value in row.items():
        column = ColumnProfile()
        column.add_value(value, value if isinstance(value, str) else None)
        table.add_columns({column_name(name): column})
    profiles = TopicProfiles()
    profiles.add(key, table)
    return profiles


def merged(parts):
    total = TopicProfiles()
    for part in parts:
        total.merge(deepcopy(part))
    return total


def test_a_column_is_counted_by_hand():
    rows = [{"a": "four", "b": None}, {"a": ""}, {"a": None}, {"a": "\ufffd€"}, {"a": 7}, {"b": "x"}]
    whole = merged(one_row(ORDERS, "insert", row) for row in rows)
    table = whole.tables[ORDERS]
    assert (table.rows, table.values, table.ops) == (6, 7, {"insert": 6})
    # a: present 5, NULL 1, texts "four" "" and two characters, of which one text is empty and one has U+FFFD
    assert table.columns["a"] == ColumnProfile(5, 1, 3, 1, 1, 6, 0, 4)
    assert table.columns["b"] == ColumnProfile(2, 1, 1, 0, 0, 1, 1, 1)
    assert whole.rows == {"t": 6}


@pytest.mark.parametrize(
    ("micros", "bucket"),
    [(-1, -1), (0, 0), (999, 0), (1_000, 1), (1_999, 1), (2_000, 2), (3_999, 2), (4_000, 3), (2**38 * 1000, 39),
     (2**39 * 1000 - 1, 39), (2**39 * 1000, 40), (2**50 * 1000, 40)],
)  # fmt: skip
def test_a_lag_is_in_the_bucket_of_its_power_of_two(micros, bucket):
    assert bucket_of(micros) == bucket


KEYS = st.builds(
    ProfiledTable, st.sampled_from(["t", "u"]), st.sampled_from([None, "a", "b"]), st.sampled_from(["x/y@1", "x/y@2"])
)
VALUES = st.none() | st.integers(0, 9) | st.sampled_from(["", "a", "ab\ufffd", "\U0001f34e" * 5])
ROWS = st.tuples(KEYS, st.sampled_from(["insert", "delete"]), st.dictionaries(st.sampled_from("abcdefgh"), VALUES))
LAGS = st.none() | st.integers(-(10**9), 10**12)


@settings(max_examples=40)
@given(st.lists(st.tuples(ROWS, LAGS), max_size=30), st.randoms(), st.integers(1, 5))
def test_parts_may_be_cut_and_merged_in_any_order(rows, random, size):
    parts = []
    for (key, op, row), lag in rows:
        part = one_row(key, op, row)
        known = LagProfile(1, 1) if lag is None else LagProfile(1, 0, lag, lag, {bucket_of(lag): 1})
        part.add_lag(LagLine(key.topic, "process-time"), known)
        parts.append(part)
    whole = merged(parts)
    random.shuffle(parts)
    cut = merged(merged(parts[start : start + size]) for start in range(0, len(parts), size))
    assert cut == whole
    assert sum(whole.rows.values()) == len(rows)
    assert sum(lag.messages for lag in whole.lags.values()) == len(rows)


@settings(max_examples=40)
@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), max_size=120), st.randoms(), st.integers(1, 40))
def test_of_too_many_tables_and_columns_the_first_are_kept_in_full_whatever_the_cuts(cells, random, size):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(topic_profiles, "MOST_TABLES", 4)
        patch.setattr(topic_profiles, "MOST_COLUMNS", 3)
        parts = [
            one_row(ProfiledTable("t", f"{table:02}", "x/y@1"), "insert", {f"c{name:02}": "x"}) for table, name in cells
        ]
        random.shuffle(parts)
        total = merged(merged(parts[start : start + size]) for start in range(0, len(parts), size))
        kept = total.kept()
        wanted = sorted({table for table, _ in cells})[:4]
        assert [int(key.table) for key in kept] == wanted
        for key, table in kept.items():
            mine = [name for one, name in cells if one == int(key.table)]
            first = sorted(set(mine))[:3]
            assert (table.rows, table.values) == (len(mine), len(mine))
            assert {name: one.present for name, one in table.kept().items()} == {
                f"c{name:02}": mine.count(name) for name in first
            }
        assert len(total.tables) <= 8
        assert all(len(table.columns) <= 6 for table in total.tables.values())
        assert total.rows == ({"t": len(cells)} if cells else {})


def test_a_profile_holds_no_value_however_it_is_written():
    row = {"card": "4111111111111111", "name": "Grüße \ufffd", "pin": 98765}
    profiles = one_row(ORDERS, "insert", row)
    for text in (repr(profiles), pickle.dumps(profiles).decode("latin-1")):
        assert "4111" not in text
        assert "Gr" not in text
        assert "98765" not in text


def test_a_name_as_long_as_a_message_is_cut():
    table = one_row(ORDERS, "insert", {"n" * 100_000: "x"}).tables[ORDERS]
    (name,) = table.columns
    assert len(name) < 1_100
