"""What counts as a change of a profile: large, beyond chance, and never from few rows."""

import pytest

from cdc_contracts.registry.core.report.profile_changes import compare_profiles, has_changed
from cdc_contracts.registry.core.stats import topic_profiles
from cdc_contracts.registry.core.stats.topic_profiles import (
    ColumnProfile,
    LagLine,
    LagProfile,
    ProfiledTable,
    TableProfile,
    TopicProfiles,
)

CANAL = "dts/canal@2"
LAG = LagLine("", "process-time")


def profiles(rows=1_000, *, columns=None, ops=None, tables=None, contract=CANAL, lag=None):
    """A topic of `shop.orders` with so many rows, and of other tables with theirs."""
    found = TopicProfiles()
    given = {name: column(rows) if column is not None else None for name, column in (columns or {}).items()}
    kept = {name: one for name, one in given.items() if one is not None}
    values = sum(one.present for one in kept.values())
    orders = TableProfile(rows, values, ops or {"insert": rows}, kept)
    found.add(ProfiledTable("", "shop.orders", contract), orders)
    for name, total in (tables or {}).items():
        found.add(ProfiledTable("", name, CANAL), TableProfile(total, 0, {"insert": total}, {}))
    if lag is not None:
        found.add_lag(LAG, LagProfile(sum(lag.values()), 0, 0, 9, lag))
    return found


def column(nulls=0, *, absent=0, empty=0, replaced=0, mean=10, longest=20):
    """A column of texts; shares are in thousandths of the rows, texts are what is not NULL."""

    def of(rows):
        present = rows - rows * absent // 1_000
        texts = present - present * nulls // 1_000
        return ColumnProfile(
            present, present - texts, texts, texts * empty // 1_000, replaced, mean * texts, 0, longest
        )

    return of


def changes(before, now):
    return [(one.cause, one.table, one.path, one.rows, one.of) for one in compare_profiles(before, now)]


@pytest.mark.parametrize(
    ("before", "now", "changed"),
    [
        ((30, 1_000), (90, 1_000), True),  # 6 points, 5.6 standard errors
        ((30, 1_000), (70, 1_000), False),  # 4.1 standard errors, but 4 points and not threefold
        ((500, 1_000), (560, 1_000), False),  # 6 points, 2.7 standard errors
        ((5_000, 10_000), (5_600, 10_000), True),  # the same share of ten times the rows
        ((10, 10_000), (300, 10_000), True),  # 0.1 % to 3 %: less than 5 points, but thirtyfold
        ((9_990, 10_000), (9_700, 10_000), True),  # the same of what is not NULL
        ((1, 100_000), (40, 100_000), False),  # 0.001 % to 0.04 %: less than half a point
        ((0, 99), (99, 99), False), ((0, 10), (10, 10), False), ((0, 100), (100, 99), False),
        ((0, 100), (100, 100), True), ((0, 1_000), (0, 1_000), False), ((1_000, 1_000), (1_000, 1_000), False),
    ],
)  # fmt: skip
def test_a_share_has_changed_if_the_difference_is_large_and_no_chance(before, now, changed):
    assert has_changed(before, now) is changed
    assert has_changed(now, before) is changed


@pytest.mark.parametrize(
    ("before", "now", "wanted"),
    [
        (column(30), column(410), [("null-share", "shop.orders", "/c", 410, 1_000)]),
        (column(410), column(30), [("null-share", "shop.orders", "/c", 30, 1_000)]),
        (column(), column(absent=200), [("absent-share", "shop.orders", "/c", 200, 1_000)]),
        (column(), column(empty=100), [("empty-share", "shop.orders", "/c", 100, 1_000)]),
        (column(), column(replaced=1), [("replaced", "shop.orders", "/c", 1, 1_000)]),
        (column(replaced=9), column(replaced=8), []),
        (column(replaced=1), column(), []),
        (column(mean=10), column(mean=15), [("length", "shop.orders", "/c", 1_000, 1_000)]),
        (column(mean=15), column(mean=10), [("length", "shop.orders", "/c", 1_000, 1_000)]),
        (column(mean=10), column(mean=14), []),
        (column(longest=20), column(longest=40), [("length", "shop.orders", "/c", 1_000, 1_000)]),
        (column(longest=20), column(longest=39), []),
        (column(longest=3), column(longest=9), []),
        (None, column(), [("column", "shop.orders", "/c", 1_000, 1_000)]),
        (column(), None, [("column", "shop.orders", "/c", 0, 1_000)]),
        (column(absent=995), None, []),  # 5 rows of a thousand had it
    ],
)  # fmt: skip
def test_changes_of_a_column(before, now, wanted):
    assert changes(profiles(columns={"c": before}), profiles(columns={"c": now})) == wanted


def test_few_rows_show_nothing_whatever_they_hold():
    everything = {"c": column(900), "d": column(replaced=1), "e": None}
    nothing = {"c": column(), "d": column(), "e": column()}
    for rows in (10, 99):
        few = profiles(rows, columns=everything, ops={"delete": rows}, contract="dts/canal@1", lag={30: rows})
        many = profiles(5_000, columns=nothing, tables={"shop.visits": 5_000}, lag={3: 5_000})
        assert changes(many, few) == changes(few, many) == []


def test_equal_profiles_have_no_changes_and_half_of_the_rows_are_no_change():
    given = {"columns": {"c": column(30, absent=20, empty=100, replaced=3)}, "lag": {3: 400, 12: 20}}
    assert changes(profiles(**given), profiles(**given)) == []
    assert changes(profiles(4_000, **given), profiles(2_000, **given)) == []


def test_tables_appear_vanish_and_grow():
    before = profiles(1_000, tables={"shop.a": 1_000, "shop.b": 500, "shop.rare": 5})
    now = profiles(1_000, tables={"shop.a": 300, "shop.c": 20, "shop.once": 9})
    assert changes(before, now) == [
        ("table-share", "shop.a", "", 300, 1_329),
        ("table", "shop.b", "", 0, 1_329),
        ("table", "shop.c", "", 20, 1_329),
        ("table-share", "shop.orders", "", 1_000, 1_329),
    ]


def test_a_version_of_a_table_appears_and_vanishes():
    found = changes(profiles(contract="dts/canal@1"), profiles(contract="dts/canal@2"))
    assert found == [("version", "shop.orders", "", 0, 1_000), ("version", "shop.orders", "", 1_000, 1_000)]


def test_ops_that_change_are_one_difference_of_the_table():
    before, now = {"insert": 500, "update": 490, "delete": 10}, {"insert": 100, "update": 490, "delete": 410}
    (found,) = compare_profiles(profiles(ops=before), profiles(ops=now))
    assert (found.cause, found.rows, found.of) == ("ops", 510, 1_000)
    assert (found.expected, found.observed) == ("delete 1.0 %, insert 50.0 %", "delete 41.0 %, insert 10.0 %")
    assert changes(profiles(ops={"insert": 1_000}), profiles(ops={"insert": 990, "delete": 10}))[0][0] == "ops"
    assert changes(profiles(ops={"insert": 1_000}), profiles(ops={"insert": 991, "delete": 9})) == []


@pytest.mark.parametrize(
    ("now", "changed"),
    [({3: 1_000}, False), ({4: 1_000}, False), ({5: 1_000}, True), ({3: 950, 5: 50}, True), ({3: 970, 5: 30}, True),
     ({3: 996, 5: 4}, False), ({-1: 1_000}, False)],
)  # fmt: skip
def test_messages_are_late_if_more_take_twice_as_long_as_nearly_all_did(now, changed):
    # before, 96 % were below 8 ms and all below 16, so late is 16 ms (bucket 5) and more
    before = profiles(lag={3: 960, 4: 40})
    assert [one[0] for one in changes(before, profiles(lag=now))] == (["lag"] if changed else [])
    assert changes(profiles(lag={5: 1_000}), profiles(lag={3: 1_000})) == []


def test_what_is_not_listed_because_there_is_too_much_neither_appears_nor_vanishes(monkeypatch):
    monkeypatch.setattr(topic_profiles, "MOST_COLUMNS", 2)
    before = profiles(columns={"a": column(), "b": column()})
    now = profiles(columns={"a": column(), "aa": column(), "b": column()})
    assert changes(before, now) == [("column", "shop.orders", "/aa", 1_000, 1_000)]
    monkeypatch.setattr(topic_profiles, "MOST_TABLES", 2)
    listed = {"shop.a": 1_000, "shop.p": 1_000}
    assert changes(profiles(tables={"shop.p": 1_000}), profiles(tables=listed))[0][:2] == ("table", "shop.a")
    assert all(one[1] != "shop.p" for one in changes(profiles(tables={"shop.p": 1_000}), profiles(tables=listed)))
