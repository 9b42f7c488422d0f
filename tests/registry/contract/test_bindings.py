"""`cdc-contracts.yaml` is edited in one place: whatever else stands in it stays, to the byte."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from cdc_contracts.registry.core.common.errors import ContractError, UsageError
from cdc_contracts.registry.core.contract.settings import FILE, read_settings
from cdc_contracts.registry.core.contract.topic_bindings import bind_topic

NEW = "dts/canal@2"

EDITS = [
    ("there is no file", None, "orders", NEW, "topics:\n  orders: dts/canal@2\n"),
    ("the file is empty", "", "orders", NEW, "topics:\n  orders: dts/canal@2\n"),
    ("no topics yet", "tables: tables # ours\n", "orders", NEW, "tables: tables # ours\ntopics:\n  orders: dts/canal@2\n"),
    ("no line end at the end", "tables: tables", "orders", NEW, "tables: tables\ntopics:\n  orders: dts/canal@2\n"),
    ("an empty section", "topics:   # none\ntables: t\n", "orders", NEW, "topics:   # none\n  orders: dts/canal@2\ntables: t\n"),
    (
        "another version, with a comment behind",
        "# ours\ntopics:\n  # the shop\n  orders: dts/canal@1  # until March\n  visits: drs/json@2\n\ntables: t\n",
        "orders", NEW,
        "# ours\ntopics:\n  # the shop\n  orders: dts/canal@2  # until March\n  visits: drs/json@2\n\ntables: t\n",
    ),
    (
        "one more, at the end and as deep as the others",
        "topics:\n    visits: drs/json@2 # all\n# behind\ntables: t\n", "orders", NEW,
        "topics:\n    visits: drs/json@2 # all\n    orders: dts/canal@2\n# behind\ntables: t\n",
    ),
    ("in braces", "topics: {visits: drs/json@2}\n", "orders", NEW, "topics: {visits: drs/json@2, orders: dts/canal@2}\n"),
    ("in empty braces", "topics: {}  # none\n", "orders", NEW, "topics: {orders: dts/canal@2}  # none\n"),
    ("lines of another system", "topics:\r\n  visits: drs/json@2\r\n", "orders", NEW, "topics:\r\n  visits: drs/json@2\r\n  orders: dts/canal@2\r\n"),
    ("quotes", "topics:\n  'orders': \"dts/canal@1\"\n", "orders", NEW, "topics:\n  'orders': dts/canal@2\n"),
    ("a name that looks like a number", "topics:\n  a: drs/json@2\n", "17", NEW, "topics:\n  a: drs/json@2\n  '17': dts/canal@2\n"),
    ("taken out of lines", "topics:\n  a: drs/json@2 # x\n  orders: dts/canal@2 # y\n  b: drs/json@1\n", "orders", None, "topics:\n  a: drs/json@2 # x\n  b: drs/json@1\n"),
    ("taken out first of braces", "topics: {orders: dts/canal@2, b: drs/json@1}\n", "orders", None, "topics: {b: drs/json@1}\n"),
    ("taken out last of braces", "topics: {b: drs/json@1, orders: dts/canal@2}\n", "orders", None, "topics: {b: drs/json@1}\n"),
    ("the only one of lines", "topics:\n  orders: dts/canal@2  # x\ntables: t\n", "orders", None, "topics: {}  # x\ntables: t\n"),
    ("the only one of braces", "topics: {orders: dts/canal@2}\n", "orders", None, "topics: {}\n"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("before", "topic", "reference", "after"), [one[1:] for one in EDITS], ids=[one[0] for one in EDITS]
)
def test_one_place_is_edited(before, topic, reference, after, tmp_path):
    file = tmp_path / FILE
    if before is not None:
        file.write_bytes(before.encode())
    bind_topic(tmp_path, topic, reference)
    assert file.read_bytes().decode() == after


def test_what_changed_is_reported(tmp_path):
    assert (bind_topic(tmp_path, "a", "dts/canal@1").before, bind_topic(tmp_path, "a", NEW).before) == (
        None,
        "dts/canal@1",
    )
    before = (tmp_path / FILE).stat().st_mtime_ns
    assert bind_topic(tmp_path, "a", NEW).before == NEW
    assert (tmp_path / FILE).stat().st_mtime_ns == before


@pytest.mark.parametrize("topic", ["", "..", "a b", "a/b", "a" * 250, "größe", "a\nb"])
def test_a_name_that_kafka_refuses_is_refused(topic, tmp_path):
    with pytest.raises(UsageError):
        bind_topic(tmp_path, topic, NEW)
    assert not (tmp_path / FILE).exists()


@pytest.mark.parametrize("text", ["topics: [a]\n", "- a\n", "topics: {a: b\n", "topics: &x {a: b}\nparameters: *x\n"])
def test_what_only_a_person_can_change_is_left_as_it_is(text, tmp_path):
    (tmp_path / FILE).write_text(text)
    with pytest.raises(ContractError):
        bind_topic(tmp_path, "orders", NEW)
    assert (tmp_path / FILE).read_text() == text


TOPICS = st.from_regex(r"[A-Za-z0-9._-]{1,8}", fullmatch=True).filter(lambda name: name not in (".", ".."))


@settings(max_examples=30)
@given(
    st.dictionaries(TOPICS, st.just("drs/json@1"), max_size=4),
    st.lists(st.tuples(TOPICS, st.sampled_from([NEW, None])), max_size=6),
    st.booleans(),
)
def test_any_bindings_in_any_order_are_what_they_say(tmp_path_factory, first, edits, flow):
    folder = tmp_path_factory.mktemp("project")
    text = "# head\n" + yaml.safe_dump(
        {"topics": first, "tables": "t"}, default_flow_style=flow or None, sort_keys=False
    )
    (folder / FILE).write_text(text)
    wanted = dict(first)
    for topic, reference in edits:
        bind_topic(folder, topic, reference)
        wanted = (
            {**wanted, topic: reference} if reference else {name: one for name, one in wanted.items() if name != topic}
        )
    found = read_settings(folder)
    assert (found.topics, found.tables) == (wanted, "t")
    assert (folder / FILE).read_text().startswith("# head\n")
