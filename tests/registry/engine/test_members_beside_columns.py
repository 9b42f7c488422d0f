"""Members beside the columns of an image below another member: both paths read facts of the envelope there."""

import json
import os
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from output_rows import unlike_columns

from cdc_contracts.registry.core.contract.catalogue import Catalogue, shipped_catalogue
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.validate.validation_context import open_validation

LONG = os.environ.get("CDC_CONTRACTS_MUTATIONS", "some") != "some"
BESIDE = {"not_columns": ["moved", "at"]}
SOURCE = {"version": "3.5.0.Final", "connector": "mysql", "name": "s", "ts_ms": 1, "db": "shop", "table": "orders"}


def open_beside():
    """Open a contract that has the transaction and the time of a change among the members of its row."""
    catalogue = Catalogue(shipped_catalogue().roots)
    for version in catalogue.versions("debezium/json"):
        envelope = version.resolved["envelope"] | {
            "transaction": {"at": "/after/moved"},
            "event_time": {"at": "/after/at", "form": "epoch-millis"},
        }
        images = {"container": "object", "insert": {"after": {"at": "/after"} | BESIDE}}
        resolved = version.resolved | {"envelope": envelope, "images": images, "ops": {"c": "insert"}, "rules": []}
        vars(version).update(resolved=resolved)
    return open_validation(catalogue, "debezium/json@4", ReadingOptions())


def insert(row):
    return json.dumps({"before": None, "after": row, "source": SOURCE, "op": "c", "ts_ms": 1718000001234}).encode()


ROWS = [{"id": 7, "moved": "5:1", "at": 1718000000000}, {"id": 8}, {"id": 9, "moved": None}, {"moved": "5:2", "id": 10}]


@pytest.mark.parametrize("native", ["off", "eager"])
def test_facts_among_the_members_of_a_row_are_read_by_both_paths(native, monkeypatch):
    monkeypatch.setenv("CDC_CONTRACTS_NATIVE", native)
    validation = open_beside()

    changes = [change for row in ROWS for change in validation.validate(insert(row)).changes]
    assert [(one.transaction, one.after) for one in changes] == [
        ("5:1", {"id": "7"}), (None, {"id": "8"}), (None, {"id": "9"}), ("5:2", {"id": "10"}),
    ]  # fmt: skip
    assert unlike_columns(validation, [insert(row) for row in ROWS * 20]) == []


FLATTENED = "debezium/flat-schema@2"
COLUMNS = {"id": ("int32", 7), "name": ("string", "pear"), "__extra": ("string", "a column"), "source": ("int64", 5)}
MEMBERS = {"__op": ("string", "c"), "__db": ("string", "shop"), "__table": ("string", "orders"),
           "__lsn": ("int64", 24), "__ts_ms": ("int64", 1718000001234), "__deleted": ("string", "false")}  # fmt: skip
names = st.lists(st.sampled_from([*COLUMNS, *MEMBERS]), unique=True, min_size=1)
others = st.sampled_from([None, "text", 3, [], {}, [{"id": 7}]])


@cache
def open_flattened(table):
    """The context of messages that are their rows: one for all tests, which ask the same of the reference."""
    return open_validation(shipped_catalogue(), FLATTENED, ReadingOptions(table=table))


@st.composite
def flattened(draw):
    """A message with some columns and members in any order, null or absent, in a block that may not say all of them."""
    sent = draw(names)
    nulls, unsaid = draw(st.sets(st.sampled_from(sent))), draw(st.sets(st.sampled_from(sent), max_size=1))
    known = COLUMNS | MEMBERS
    fields = [{"type": known[name][0], "optional": True, "field": name} for name in sent if name not in unsaid]
    row = {name: None if name in nulls else known[name][1] for name in sent}
    payload = draw(st.one_of(st.just(row), st.just(row), st.just(row), others))
    return json.dumps({"schema": {"type": "struct", "fields": fields}, "payload": payload}).encode()


@pytest.mark.parametrize("native", ["off", "eager"])
@settings(max_examples=120 if LONG else 12, deadline=None)
@given(values=st.lists(flattened(), min_size=1, max_size=12), repeats=st.sampled_from([1, 30]))
def test_rows_with_members_beside_them_are_read_alike_by_both_paths(native, values, repeats):
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("CDC_CONTRACTS_NATIVE", native)
        assert unlike_columns(open_flattened("orders"), values * repeats) == []


@pytest.mark.parametrize("native", ["off", "eager"])
@pytest.mark.parametrize("empty", [None, {}, {"id": None}, {"__table": None}, {"__table": "lines"}])
@pytest.mark.parametrize("turns", [1, -1])
def test_what_a_row_of_one_table_says_is_not_said_of_a_row_beside_the_same_block(native, empty, turns, monkeypatch):
    monkeypatch.setenv("CDC_CONTRACTS_NATIVE", native)
    fields = [{"type": kind, "optional": True, "field": name} for name, (kind, _) in (COLUMNS | MEMBERS).items()]
    row = {name: value for name, (_, value) in (COLUMNS | MEMBERS).items()}
    values = [
        json.dumps({"schema": {"type": "struct", "fields": fields}, "payload": payload}).encode()
        for payload in (row, empty)[::turns]
    ]

    assert unlike_columns(open_flattened("named"), values * 40) == []
