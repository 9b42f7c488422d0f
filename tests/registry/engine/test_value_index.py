"""Records that the native reader indexed are sorted as if their JSON had been scanned, whatever they hold.

CDC_CONTRACTS_BYTES=all tries many times as many records.
"""

from __future__ import annotations

import os
import random
from itertools import permutations

import pyarrow as pa
import pytest
from avro_records import FRAME, NAMESPACE, VERSION, WRITTEN, changed_record, good_records
from topics import CATALOGUE, WITH_TABLES, rendered

from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.engine.fast_validator import FastValidator
from cdc_contracts.registry.core.engine.native import native_library as loading
from cdc_contracts.registry.core.engine.native import value_index
from cdc_contracts.registry.core.engine.native.scanned_columns import ScannedColumn
from cdc_contracts.registry.core.engine.native.value_index import NAMED, IndexedValues
from cdc_contracts.registry.core.records.message_values import MessageValues
from cdc_contracts.registry.core.validate.validation_context import open_validation

pytestmark = pytest.mark.skipif(
    loading.native_library() is None, reason="no native part was compiled here, or it is switched off"
)

LONG = os.environ.get("CDC_CONTRACTS_BYTES") == "all"
HEADS = tuple(f"{name} " for name in NAMED)
INTEGER = ("Integer", {"precision": 4, "value": "1"})


@pytest.fixture(autouse=True)
def few_messages_are_scanned_too(monkeypatch):
    monkeypatch.setenv("CDC_CONTRACTS_NATIVE", "eager")


def sort(batches, *, indexed, options=None):
    """Return what was sorted of each batch, and how many records were placed by the index."""
    validator = FastValidator(open_validation(CATALOGUE, VERSION.reference, options or ReadingOptions()))
    found, placed = [], 0
    for batch in batches:
        values = validator._avro.read(pa.array(batch, pa.binary()))
        assert isinstance(values, IndexedValues)
        result = validator._sorter.sort(values if indexed else MessageValues(values.array))
        placed += values.entries.placed
        found.append((
            [describe_batch(one) for one in result.decoded_batches], result.ungrouped, result.tombstones
        ))  # fmt: skip
    return found, placed


def describe_batch(batch):
    return (
        batch.numbers.tolist(), batch.shape.key, batch.layout.parts,
        {at: describe(values) for at, values in batch.members.items()},
        {at: describe(values) for at, values in batch.states.items()},
        {
            at: (rows.state.tolist(), rows.start.tolist(), rows.count.tolist(), rows.record_of_row.tolist(),
                 [describe(column) for column in rows.columns])
            for at, rows in batch.rows.items()
        },
    )  # fmt: skip


def describe(values):
    """Return the values of a column, scanned or not, and what stands behind the names of records."""
    if not isinstance(values, ScannedColumn):
        return list(values)
    behind = [values.strip_names(names) for names in (HEADS, HEADS[:3], HEADS[:0:-2], HEADS[4:5])]
    return (
        list(values),
        values.kinds.tolist(),
        [
            ([column.token(cell) for cell in column.cells.tolist()], column.kinds.tolist(), places.tolist())
            for column, places in behind
        ],
    )


def compare(batches, *, options=None):
    """Hold sorting with and without the index against each other, and return how many records it placed."""
    mine, placed = sort(batches, indexed=True, options=options)
    other, scanned = sort(batches, indexed=False, options=options)
    assert mine == other
    assert scanned == 0
    return placed


@pytest.mark.parametrize("options", [ReadingOptions(), WITH_TABLES], ids=["without", "with"])
def test_ordinary_records_are_not_scanned(options):
    rows = rendered(VERSION.reference, 300, seed=3)
    assert compare([rows[:100], rows[100:], [FRAME + row for row in rows]], options=options) >= 499


def test_samples_and_records_of_both_schemas_are_sorted_the_same():
    newest = [WRITTEN.record([INTEGER]) for _ in range(3)]
    oldest = [value[: -len(b"\x00")] for value in newest]
    values = [*good_records(), None, b"", *newest, *oldest, *newest, *oldest]
    assert compare([values, values[::-1], values]) > len(values)


@pytest.mark.parametrize("seed", range(40 if LONG else 2))
def test_changed_records_are_sorted_the_same(seed):
    draw, values = random.Random(seed), good_records()
    batches = [
        [changed_record(draw, draw.choice(values), draw.choice(values)) for _ in range(200)] + values for _ in range(3)
    ]
    assert compare(batches) > 0


def test_values_of_every_kind_and_images_of_every_form_are_sorted_the_same():
    draw = random.Random(7)
    values = [
        None, "NULL", "NONE", INTEGER, ("Integer", {"precision": 4, "value": "Integer 5"}),
        ("Character", {"charset": "utf8mb4", "value": b'a "b" \\ \n'}),
        ("Character", {"charset": "no such charset", "value": b"a"}), ("Character", {"charset": "utf8", "value": b""}),
        ("Decimal", {"value": "1.5", "precision": 3, "scale": 1}), ("Float", {"value": 1e300, "precision": 64, "scale": 0}),
        ("Timestamp", {"timestamp": 5, "millis": 7}), ("Timestamp", {"timestamp": 5, "millis": -7}),
        ("DateTime", dict.fromkeys(("year", "month", "day", "hour", "minute", "second", "millis"))),
        ("DateTime", dict.fromkeys(("year", "month", "day", "hour", "minute", "second", "millis"), 9)),
        ("BinaryObject", {"type": "blob", "value": b"\x00\xff"}), ("TextObject", {"type": "json", "value": "{}"}),
    ]  # fmt: skip
    numbers = (7, 7, -1, 10**18 - 1, 1 - 10**18, 10**18, -(10**18), 9 * 10**18 - 1, 9 * 10**18, -(2**63))
    before_value = (NAMESPACE + INTEGER[0], INTEGER[1])
    names = ["a", "b", 'q"\n', "é", "a b", "c"]
    records = []
    for _ in range(4_000 if LONG else 300):
        columns = [
            {"name": name, "dataTypeNumber": 3} for name in draw.choice((names[:2], names[:2], names, names[1:]))
        ]
        image = [draw.choice(values) for _ in columns]
        before = draw.choice((None, "NULL", [before_value] * draw.choice((1, 2, len(columns)))))
        records.append(
            WRITTEN.record(
                image, columns, beforeImages=None if before == "NULL" else before,
                operation=draw.choice(("INSERT", "UPDATE", "DDL")), objectName=draw.choice(("shop.orders", "a.b", None)),
                tags=draw.choice(({}, {"pk_uk_info": "x"}, {"x": "y", 'é"': "z"})),
                processTimestamps=draw.choice((None, [], [1, 2], [2**62])), id=draw.choice(numbers),
            )
        )  # fmt: skip
    assert compare([records, records]) > 100


def test_records_beyond_the_room_of_the_index_are_scanned(monkeypatch):
    rows = rendered(VERSION.reference, 100, seed=4)
    placed = compare([rows, rows])
    monkeypatch.setattr(value_index, "_MOST", 500)
    assert 0 < compare([rows, rows]) < placed


def test_tables_in_turn_are_sorted_the_same():
    one = [WRITTEN.record([INTEGER, "NULL"], objectName="a.one") for _ in range(40)]
    other = [WRITTEN.record([INTEGER] * 3, objectName="a.other") for _ in range(40)]
    assert compare([[value for pair in zip(one, other, strict=True) for value in pair]] * 3) >= 160


def test_tables_with_the_same_columns_in_another_order_are_sorted_the_same():
    def of(table, names):
        columns = [{"name": name, "dataTypeNumber": 3} for name in names]
        return WRITTEN.record([INTEGER] * len(names), columns, objectName=f"shop.{table}")

    orders = [*permutations("abc"), *permutations("ab"), tuple("aab"), tuple("abca")]
    tables = [of(f"t{number}", names) for number, names in enumerate(orders)]
    assert compare([[table] * 30 for table in tables]) > 0
    assert compare([tables * 30, tables[::-1] * 30]) > 0


def test_a_copy_of_a_column_has_its_names_no_more_but_strips_them_the_same():
    validator = FastValidator(open_validation(CATALOGUE, VERSION.reference, ReadingOptions()))
    rows = rendered(VERSION.reference, 60, seed=5)
    (batch, *_) = validator._sorter.sort(validator._avro.read(pa.array(rows, pa.binary()))).decoded_batches[::-1]
    for rows_of_image in batch.rows.values():
        for column in rows_of_image.columns:
            if isinstance(column, ScannedColumn) and len(column):
                half = column.select(list(range(0, len(column), 2)))
                assert describe(half)[2] == [(a[::2], b[::2], c[::2]) for a, b, c in describe(column)[2]]
