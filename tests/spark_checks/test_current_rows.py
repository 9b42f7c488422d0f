"""Current rows against a model of them in plain Python, on real Delta and Iceberg tables."""

import datetime as dt
from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lakehouse import change, typed

from cdc_contracts.registry.canonical.layouts import ColumnLayout, TableLayout, TableName
from cdc_contracts.spark_checks.lakehouse.addresses import CURRENT, DELETED, DeltaDirectory, IcebergDirectory
from cdc_contracts.spark_checks.lakehouse.current import CurrentTables, Merged

COLUMNS = {
    "id": pa.int64(),
    "size": pa.string(),
    "Na me": pa.string(),
    "price.net": pa.decimal128(20, 3),
    "_op": pa.timestamp("us"),
}
LAYOUT = TableLayout(
    TableName("sh%op", None, "or ders"),
    tuple(ColumnLayout(name, kind, None, None) for name, kind in COLUMNS.items()),
    (),
    "messages",
)
KEY = ("id", "size")
REST = [name for name in COLUMNS if name not in KEY]


def image(number, size, **values):
    row = {"id": number, "size": size, "Na me": "pear", "price.net": Decimal("1.500"), "_op": dt.datetime(2024, 1, 1)}
    return row | {name.replace("__", "."): value for name, value in values.items()}


@pytest.fixture(params=[DeltaDirectory, IcebergDirectory], ids=["delta", "iceberg"])
def tables(spark, request, tmp_path):
    addresses = request.param(str(tmp_path))
    addresses.prepare(spark)
    return CurrentTables(addresses, {"a/b@1"})


def merge(spark, tables, changes, layout=LAYOUT):
    return tables.merge(spark, layout, KEY, typed(spark, layout, changes))


def rows_of(spark, tables, kind=CURRENT):
    return [row.asDict(recursive=True) for row in spark.table(tables.addresses.find(kind, LAYOUT.name)).collect()]


def content(spark, tables):
    """The rows by key: values, unknown columns, and the change they are there by."""
    return {
        (row["id"], row["size"]): (
            {name: row[name] for name in REST},
            sorted(row["_absent"]),
            row["_raw"],
            row["_position"],
            row["_offset"],
        )
        for row in rows_of(spark, tables)
    }


class Model:
    """What the changes come to, told one after another in the order of the source."""

    def __init__(self):
        self.rows = {}
        self.newest = {}

    def merge(self, changes):
        for one in sorted(changes, key=lambda one: (int(one["_position"]), one["_offset"])):
            before, after = one["before"], one["after"]
            at = int(one["_position"]), one["_offset"]
            old = before and (before["id"], before["size"])
            if one["_op"] == "delete" or one["_update_part"] == "before":
                self.remove(old, at)
                continue
            new = after["id"], after["size"]
            moved = old is not None and old != new
            if moved:
                self.remove(old, at)
            self.put(new, at, one, fresh=moved or one["_op"] in {"insert", "snapshot"})

    def is_new(self, key, at):
        if key in self.newest and self.newest[key] >= at:
            return False
        self.newest[key] = at
        return True

    def remove(self, key, at):
        if self.is_new(key, at):
            self.rows.pop(key, None)

    def put(self, key, at, one, *, fresh):
        if not self.is_new(key, at):
            return
        missing = {name.removeprefix("after.") for name in one["_absent"] if name.startswith("after.")}
        texts = {name.removeprefix("after."): text for name, text in one["_raw"] if name.startswith("after.")}
        known, unknown, kept, *_ = self.rows.get(key, ({}, list(REST), {}, None, None))
        if fresh:
            known, unknown, kept = {}, list(REST), {}
        values = {name: known.get(name) if name in missing else one["after"][name] for name in REST}
        kept = {name: text for name, text in kept.items() if name in missing} | texts
        left = sorted(name for name in unknown if name in missing)
        self.rows[key] = values, left, kept, one["_position"], one["_offset"]


@st.composite
def histories(draw):
    """Changes of some keys of their own, as a source would send them, with repetitions; each with its position."""
    changes, alive, position = [], {}, 0
    for _ in range(draw(st.integers(1, 9))):
        position += draw(st.integers(0, 2))
        size = draw(st.sampled_from("SML"))
        told = {
            "Na me": draw(st.sampled_from([None, "", "a", "b"])),
            "price.net": draw(st.sampled_from([None, Decimal("0.000"), Decimal("99999999999999999.999")])),
            "_op": draw(st.sampled_from([None, dt.datetime(2024, 2, 29, 23, 59, 59, 999999)])),
        }
        absent, raw = [], []
        if size in alive:
            op = draw(st.sampled_from(["update", "update", "move", "partial", "partial", "delete", "halves"]))
        else:
            op = draw(st.sampled_from(["insert", "snapshot", "upsert", "partial", "delete"]))
        before, after = alive.get(size), {"size": size, **told}
        if op == "partial":
            missing = draw(st.sets(st.sampled_from(REST), min_size=1))
            absent = [f"after.{name}" for name in missing]
            after |= dict.fromkeys(missing)
            before = None
        elif draw(st.booleans()) and op != "delete":
            after["_op"] = None
            raw = [("after._op", "0000-00-00"), ("after.un told", "1")]
        if op == "delete":
            changes.append(("delete", position, before or {"size": size, **dict.fromkeys(REST)}, None, [], [], None))
            alive.pop(size, None)
            continue
        if op == "move":
            alive.pop(size)
            after["size"] = draw(st.sampled_from([other for other in "SMLX" if other != size]))
        if op == "halves":
            changes.append(("update", position, before, None, [], [], "before"))
            changes.append(("update", position, None, after, [], raw, "after"))
        else:
            name = {"move": "update", "partial": "update"}.get(op, op)
            before = before if op in {"update", "move"} else None
            changes.append((name, position, before, after, absent, raw, None))
        alive[after["size"]] = after
        if draw(st.integers(0, 3)) == 0:
            changes.append(changes[draw(st.integers(0, len(changes) - 1))])
    return changes, draw(st.integers(0, len(changes))), draw(st.integers(0, len(changes)))


@settings(max_examples=1, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(histories(), min_size=80, max_size=120))
def test_current_rows_are_what_the_changes_come_to_however_they_are_batched_and_repeated(spark, tables, drawn):
    batches, offset = ([], [], []), 0
    for number, (changes, *cuts) in enumerate(drawn):
        first, second = sorted(cuts)
        for place, (op, position, before, after, absent, raw, part) in enumerate(changes):
            keyed = [one and {"id": number, **one} for one in (before, after)]
            one = change(
                op, offset, before=keyed[0], after=keyed[1], position=str(position), absent=absent, raw=raw, part=part
            )
            batches[(place >= first) + (place >= second)].append(one)
            offset += 1
    model = Model()
    for batch in batches:
        merge(spark, tables, batch)
        merged = content(spark, tables)
        model.merge(batch)
        assert merged == model.rows
    assert merge(spark, tables, batches[2]) == Merged(0, 0, 0)
    assert merge(spark, tables, batches[0]) == Merged(0, 0, 0)
    assert content(spark, tables) == model.rows
    gone = {(row["id"], row["size"]) for row in rows_of(spark, tables, DELETED)}
    assert gone >= model.newest.keys() - model.rows.keys()
