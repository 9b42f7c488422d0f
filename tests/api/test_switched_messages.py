"""Single messages of a topic that changes versions: read by the version of their offset, or not at all."""

import json
from decimal import Decimal
from typing import NamedTuple

import pyarrow as pa
import pytest
from option_messages import TABLE, message

import cdc_contracts as cdc

TYPES = {"id": "bigint", "name": "varchar"}
EARLIER, LATER = {"id": "1", "name": "Ann"}, {"id": "1", "name": "Bea"}
"""The row before the change and after it."""
ANN, BEA = {"id": 1, "name": "Ann"}, {"id": 1, "name": "Bea"}
FILE = """
topics:
  orders:
    0:
      - {to: 10, contract: dts/canal@1}
      - {from: 20, contract: dts/canal@2}
  timed:
    all:
      - {to: 2022-03-20T00:00:00Z, contract: dts/canal@1}
      - {from: 2022-03-20T00:00:00Z, contract: dts/canal@2}
"""
BEFORE_2022 = 1_600_000_000_000
SINCE_2022 = 1_700_000_000_000


class Attributes(NamedTuple):
    """A record as kafka-python has it."""

    value: bytes
    topic: str
    partition: int
    offset: int
    timestamp: int | None = None


class Methods:
    """A record as confluent-kafka has it: methods, and the type of a timestamp before it."""

    def __init__(self, value, topic, partition, offset, timestamp=(0, -1)):
        self._parts = {"value": value, "topic": topic, "partition": partition, "offset": offset, "timestamp": timestamp}

    def __getattr__(self, name):
        if name not in self._parts:
            raise AttributeError(name)
        return lambda: self._parts[name]


def canal(kind, data, old=None):
    return json.dumps({
        "id": 7, "database": "shop", "table": "people", "pkNames": ["id"], "isDdl": False, "type": kind,
        "es": 1718000000000, "ts": 1718000000250, "sql": "", "sqlType": {"id": -5, "name": 12}, "mysqlType": TYPES,
        "data": data, "old": old, "gtid": None,
    }).encode()  # fmt: skip


OLD_UPDATE = canal("UPDATE", [EARLIER], [LATER])
"""Until 2022-03-20 the row before the change was in `data`, the row after it in `old`."""
NEW_UPDATE = canal("UPDATE", [LATER], [EARLIER])
SAME_UPDATE = canal("UPDATE", [LATER], [LATER])
INSERT = canal("INSERT", [LATER])


@pytest.fixture
def people(tmp_path):
    (tmp_path / "versions.yaml").write_text(FILE)
    return cdc.contract("dts/canal", versions=tmp_path / "versions.yaml")


@pytest.mark.parametrize("record", [Attributes, Methods])
def test_each_offset_is_read_by_the_version_of_its_range(people, record):
    old = people.decode(record(OLD_UPDATE, "orders", 0, 9))
    new = people.decode(record(NEW_UPDATE, "orders", 0, 20))
    assert [(one.contract, one.undecided) for one in (old, new)] == [("dts/canal@1", True), ("dts/canal@2", True)]
    for decoded in (old, new):
        (change,) = decoded.changes
        assert (change.before, change.after, change.row) == (ANN, BEA, BEA)


@pytest.mark.parametrize(("record", "times"), [
    (Attributes, (BEFORE_2022, SINCE_2022)), (Methods, ((1, BEFORE_2022), (2, SINCE_2022))),
])  # fmt: skip
def test_ranges_of_times_are_compared_with_the_timestamp_of_a_record(people, record, times):
    for value, time in zip((OLD_UPDATE, NEW_UPDATE), times, strict=True):
        (change,) = people.decode(record(value, "timed", 3, 0, time)).changes
        assert (change.before, change.after) == (ANN, BEA)


@pytest.mark.parametrize("record", [Attributes(NEW_UPDATE, "timed", 3, 0), Methods(NEW_UPDATE, "timed", 3, 0)])
def test_a_record_without_a_timestamp_is_in_no_range_of_times(people, record):
    assert people.check(record).outcome == "ambiguous"


def test_a_record_that_no_range_covers_is_ambiguous_and_its_row_is_not_read(people):
    decoded = people.decode(Attributes(NEW_UPDATE, "orders", 0, 15))
    assert (decoded.ok, decoded.outcome, decoded.findings[0].rule) == (False, "ambiguous", "D16.left-open")
    with pytest.raises(cdc.UndecidedError):
        _ = decoded.changes[0].row


def test_checks_and_explanations_follow_the_ranges_too(people):
    delete = canal("DELETE", None, [EARLIER])  # only before the change was a deleted row in `old`
    assert people.check(Attributes(delete, "orders", 0, 9)).ok
    assert people.check(Attributes(delete, "orders", 0, 20)).outcome == "other-version"
    assert people.explain(Attributes(delete, "orders", 0, 9)).contract == "dts/canal@1"
    assert people.explain(Attributes(delete, "orders", 0, 20)).contract == "dts/canal@2"


def test_messages_without_a_place_and_topics_that_are_not_named_are_refused(people):
    with pytest.raises(cdc.UsageError, match="the topic, partition and offset of each message"):
        people.decode(NEW_UPDATE)
    assert people.decode(None).outcome == "tombstone"
    with pytest.raises(cdc.UsageError, match="does not mention topic payments"):
        people.decode(Attributes(NEW_UPDATE, "payments", 0, 1))


def test_batches_follow_the_ranges_by_their_columns(people):
    table = pa.table({
        "value": [OLD_UPDATE, NEW_UPDATE, NEW_UPDATE], "topic": ["orders"] * 3,
        "partition": pa.array([0, 0, 0], pa.int32()), "offset": [9, 15, 20],
    })  # fmt: skip
    batch = people.decode_batch(table)
    assert [dict(row) for row in batch.changes["after"].to_pylist()] == [LATER, LATER]
    assert batch.quarantine["offset"].to_pylist() == [15]
    stated = people.check_batch(table).document["versions"]
    assert [one["contract"] for one in stated if one["topic"] == "orders"] == ["dts/canal@1", "dts/canal@2"]
    with pytest.raises(cdc.UsageError, match="the topic, partition and offset of each message"):
        people.check_batch([NEW_UPDATE])
    with pytest.raises(cdc.UsageError, match="the topic, partition and offset of each message"):
        people.decode_batch(table.select(["value", "offset"]))


def test_a_versions_file_takes_a_contract_without_a_version_and_of_one_subject(tmp_path):
    file = tmp_path / "versions.yaml"
    file.write_text(FILE)
    with pytest.raises(cdc.UsageError, match="a versions file says which version applies"):
        cdc.contract("dts/canal@2", versions=file)
    with pytest.raises(cdc.UsageError, match="the versions file names dts/canal@1, and the contract is drs/json"):
        cdc.contract("drs/json", versions=file)


def test_without_a_version_a_row_that_versions_read_differently_is_not_read():
    people = cdc.contract("dts/canal")
    for _ in range(2):  # the first of its kind, and one that repeats its verdict
        decoded = people.decode(OLD_UPDATE)
        (change,) = decoded.changes
        assert (decoded.ok, decoded.undecided, change.op, change.table) == (False, True, "update", "people")
        for image in ("row", "before", "after"):
            with pytest.raises(cdc.UndecidedError, match="dts/canal@1 or dts/canal@2"):
                getattr(change, image)
        assert isinstance(change, cdc.UndecidedChange)
        assert "Ann" in repr(change.readings)


def test_the_caller_may_choose_a_version_for_one_change():
    (change,) = cdc.contract("dts/canal").decode(OLD_UPDATE).changes
    assert (change.read_as("dts/canal@1").before, change.read_as("dts/canal@1").after) == (ANN, BEA)
    assert change.read_as("dts/canal@2").after == ANN
    with pytest.raises(cdc.UsageError, match="dts/canal@3 does not read this change"):
        change.read_as("dts/canal@3")


@pytest.mark.parametrize("value", [INSERT, SAME_UPDATE])
def test_a_row_that_all_versions_read_alike_is_read_and_stays_undecided(value):
    decoded = cdc.contract("dts/canal").decode(value)
    (change,) = decoded.changes
    assert (decoded.ok, decoded.undecided, change.row) == (True, True, BEA)


@pytest.mark.parametrize("reference", ["dts/canal@1", "dts/canal@2", "dts/canal@2022-03-20", "dts/canal@latest"])
def test_a_declared_version_is_a_choice(reference):
    decoded = cdc.contract(reference).decode(NEW_UPDATE)
    assert (decoded.ok, decoded.undecided) == (True, True)
    assert decoded.changes[0].row == (ANN if reference == "dts/canal@1" else BEA)


def test_each_offset_is_read_by_the_options_of_its_range(tmp_path):
    file = tmp_path / "versions.yaml"
    file.write_text("""
topics:
  orders:
    0:
      - {to: 10, contract: debezium/json@4, options: {decimal.handling.mode: precise}}
      - {from: 10, to: 20, contract: debezium/json@4, options: {decimal.handling.mode: string}}
      - {from: 20, contract: debezium/json@4}
""")
    orders = cdc.contract("debezium/json", versions=file, tables=[TABLE])

    def price_at(offset, decimals):
        decoded = orders.decode(Attributes(message(decimals), "orders", 0, offset))
        return decoded.changes[0].row["price"] if decoded.ok else decoded.outcome

    assert [price_at(offset, "precise") for offset in (9, 10, 20)] == [Decimal("12.59"), "drifted", "BOs="]
    assert [price_at(offset, "string") for offset in (10, 20)] == [Decimal("12.59"), "12.59"]
    explained = orders.explain(Attributes(message("precise"), "orders", 0, 10))
    assert [one.path for one in explained.findings if one.severity == "error"] == ["/after/price"]
