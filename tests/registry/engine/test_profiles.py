"""Profiles of batches: what the reference counts record by record, for each version, and by hand for some messages."""

import json
from dataclasses import replace
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from record_batches import batch_of, batch_of_values
from topics import CATALOGUE, PLAIN, rendered, samples, scope_of

from cdc_contracts.registry.core.contract.table_selection import Selection
from cdc_contracts.registry.core.engine.kernel import Kernel
from cdc_contracts.registry.core.stats.partition_tallies import Source
from cdc_contracts.registry.core.stats.reference_tally import account
from cdc_contracts.registry.core.stats.tally import Tally
from cdc_contracts.registry.core.stats.topic_profiles import ColumnProfile, LagLine, LagProfile, ProfiledTable

REFERENCES = [version.reference for version in CATALOGUE.all_versions()]
CANAL = "dts/canal@2"
SECOND = 1_718_000_000


@cache
def profiled(reference, selection=None):
    """The context of a version with a profile, and with validators of its own: those of other options have none."""
    options = replace(PLAIN, profiled=True, **({} if selection is None else {"selection": selection}))
    return replace(scope_of(reference), reading_options=options, made={})


def canal(op, data, *, old=None, table="orders", es=SECOND * 1000, ts=SECOND * 1000 + 5, types=None):
    types = types or dict.fromkeys(data, "varchar")
    message = {
        "data": [data], "database": "shop", "es": es, "id": 1, "isDdl": False, "mysqlType": types, "old": old and [old],
        "gtid": "", "pkNames": ["id"], "sql": "", "sqlType": dict.fromkeys(data, 12), "table": table, "ts": ts,
        "type": op,
    }  # fmt: skip
    return json.dumps(message, ensure_ascii=False).encode()


@pytest.mark.one_in(24)
@pytest.mark.parametrize("native", ["eager", "off"])
@pytest.mark.parametrize("reference", REFERENCES)
def test_every_version_has_the_profile_that_the_reference_counts(reference, native, part, monkeypatch):
    monkeypatch.setenv("CDC_CONTRACTS_NATIVE", native)
    validation = profiled(reference)
    values = part(samples(CATALOGUE.version(reference)), 5)
    values += part(rendered(reference, 40, controls=10, snapshot=4), 3)
    tally = Kernel(validation).audit(batch_of_values(values))
    assert tally.profiles == account(validation, Source("orders", 0), enumerate(values)).profiles
    assert sum(tally.profiles.rows.values()) == sum(one.changes for one in tally.partitions.values()) > 0
    assert all(key.contract.startswith(reference.partition("@")[0]) for key in tally.profiles.tables)


@pytest.mark.parametrize("native", ["eager", "off"])
def test_a_topic_is_profiled_by_hand(native, monkeypatch):
    monkeypatch.setenv("CDC_CONTRACTS_NATIVE", native)
    values = [
        canal("INSERT", {"id": "1", "note": "two words"}),
        canal("UPDATE", {"id": "1", "note": None}, old={"note": "two words"}),
        canal("UPDATE", {"id": "1", "note": ""}, old={"note": None}, ts=SECOND * 1000 + 64),
        canal("INSERT", {"id": "22", "note": "苹果\ufffd🍎"}, ts=SECOND * 1000 - 1),
        canal("DELETE", {"id": "22", "note": "gone"}),
        canal("INSERT", {"id": "3"}, table="visits", ts=SECOND * 1000),
    ]
    profiles = Kernel(profiled(CANAL)).audit(batch_of_values(values)).profiles
    orders, visits = ProfiledTable("orders", "shop.orders", CANAL), ProfiledTable("orders", "shop.visits", CANAL)
    assert profiles.rows == {"orders": 6}
    assert set(profiles.tables) == {orders, visits}
    assert profiles.tables[orders].ops == {"insert": 2, "update": 2, "delete": 1}
    # note: "two words" (9), NULL, "", four characters of which one is U+FFFD, "gone" (4)
    assert profiles.tables[orders].columns == {
        "id": ColumnProfile(5, 0, 5, 0, 0, 7, 1, 2),
        "note": ColumnProfile(5, 1, 4, 1, 1, 17, 0, 9),
    }
    assert profiles.tables[visits].columns == {"id": ColumnProfile(1, 0, 1, 0, 0, 1, 1, 1)}
    # 5 ms three times (below 8), 64 (below 128), -1 (below 0) and 0 (below 1)
    assert profiles.lags == {
        LagLine("orders", "process-time"): LagProfile(6, 0, -1_000, 64_000, {3: 3, 7: 1, -1: 1, 0: 1})
    }


WRITTEN = {
    r'"\ufffd"': (1, True), r'"\uFFFD"': (1, True), '"a�b"': (3, True), '"🍎"': (1, False), r'"\ud83d\ude00"': (1, False),
    r'"\n\"\\é"': (4, False), r'"�\t"': (2, True), '"日本語"': (3, False), r'"\ufffc"': (1, False), '"￼￾"': (2, False),
    '""': (0, False), r'"\\ufffd"': (6, False), '"12345678é"': (9, False),
}  # fmt: skip
"""Texts as JSON writes them: how many characters each has, and whether one is U+FFFD."""


@pytest.mark.parametrize("native", ["eager", "off"])
def test_characters_are_counted_however_a_text_is_escaped(native, monkeypatch):
    monkeypatch.setenv("CDC_CONTRACTS_NATIVE", native)
    values = [
        canal("INSERT", {"id": "@"}, table=f"t{number:02}").replace(b'"@"', written.encode())
        for number, written in enumerate(WRITTEN)
    ]
    profiles = Kernel(profiled(CANAL)).audit(batch_of_values(values * 3)).profiles
    found = [table.columns["id"] for _, table in sorted(profiles.tables.items())]
    assert found == [
        ColumnProfile(3, 0, 3, 3 * (not characters), 3 * replaced, 3 * characters, characters, characters)
        for characters, replaced in WRITTEN.values()
    ]


@pytest.mark.parametrize(("reference", "characters"), [("dts/canal@1", 1), ("dts/canal@2", 6)])
def test_a_row_is_counted_as_it_is_after_the_change_completed_from_the_other_image(reference, characters):
    # version 1 has the changed columns after the change in `old`, version 2 those before it
    value = canal("UPDATE", {"id": "7", "note": "before"}, old={"note": "x"})
    (table,) = Kernel(profiled(reference)).audit(batch_of_values([value])).profiles.tables.values()
    assert table.columns == {
        "id": ColumnProfile(1, 0, 1, 0, 0, 1, 1, 1),
        "note": ColumnProfile(1, 0, 1, 0, 0, characters, characters, characters),
    }


def test_where_messages_do_not_say_when_they_were_made_the_lag_is_that_of_kafka():
    reference = "oms-community/default@2"
    (value,) = rendered(reference, 1)
    tally = Kernel(profiled(reference)).audit(batch_of([(0, 0, value)], time=lambda _: SECOND * 1_000_000 + 7))
    ((line, lag),) = tally.profiles.lags.items()
    assert line == LagLine("orders", "kafka-timestamp")
    assert (lag.messages, lag.unknown) == (1, 0)
    without = Kernel(profiled(reference)).audit(batch_of([(0, 0, value)]))
    assert without.profiles.lags[line] == LagProfile(1, 1)


def test_records_that_do_not_conform_and_excluded_tables_have_no_profile():
    broken = canal("INSERT", {"id": "1"}).replace(b'"INSERT"', b'"INSRT"')
    assert Kernel(profiled(CANAL)).audit(batch_of_values([broken, None, b"{"])).profiles.tables == {}
    some = profiled(CANAL, selection=Selection((), ("visits",)))
    values = [canal("INSERT", {"id": "1"}), canal("INSERT", {"id": "1"}, table="visits")]
    assert [key.table for key in Kernel(some).audit(batch_of_values(values)).profiles.tables] == ["shop.orders"]


def test_without_the_option_nothing_is_counted():
    assert Kernel(scope_of(CANAL)).audit(batch_of_values([canal("INSERT", {"id": "1"})])).profiles is None


NAMES = ["orders", "visits", "ünï"]
TEXTS = st.none() | st.text(max_size=12).map(lambda text: text.encode("utf-8", "ignore").decode())
MESSAGES = st.builds(
    lambda op, data, table, lag: canal(op, data, table=table, ts=SECOND * 1000 + lag),
    st.sampled_from(["INSERT", "DELETE"]),
    st.fixed_dictionaries({"id": TEXTS}, optional={"a": TEXTS, "b": TEXTS}),
    st.sampled_from(NAMES), st.integers(-9, 10**6),
)  # fmt: skip


@settings(max_examples=8)
@given(st.lists(MESSAGES, min_size=1, max_size=25), st.integers(1, 9), st.randoms())
def test_cuts_order_and_partitions_do_not_matter(values, size, random):
    validation = profiled(CANAL)
    wanted = account(validation, Source("orders", 0), enumerate(values)).profiles
    records = [(random.randrange(3), offset, value) for offset, value in enumerate(values)]
    batches = [batch_of(records[start : start + size]) for start in range(0, len(records), size)]
    random.shuffle(batches)
    kernel, total = Kernel(replace(validation)), Tally()
    for batch in batches:
        total.merge(kernel.audit(batch))
    assert total.profiles == wanted
