"""Rows that lack other columns in each message: as many kinds of records as messages, counted as one by one."""

import json
from random import Random

import pyarrow as pa
import pytest
from both_paths import shown
from counts import counts_by_reference, counts_of
from document_messages import Pair, open_documents
from output_rows import unlike_columns
from record_batches import batch_of
from topics import CATALOGUE, rendered

from cdc_contracts.registry.core.common.pointers import follow, split_pointer
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.contract.table_contracts import TableContracts, parse_table_contract
from cdc_contracts.registry.core.engine.fast_validator import FastValidator
from cdc_contracts.registry.core.engine.group import group_decisions
from cdc_contracts.registry.core.engine.group.opened_batches import open_images
from cdc_contracts.registry.core.engine.kernel import Kernel
from cdc_contracts.registry.core.records.message_values import MessageValues
from cdc_contracts.registry.core.stats import table_drift
from cdc_contracts.registry.core.stats.tally import Tally
from cdc_contracts.registry.core.validate.validation_context import open_validation

SUBJECTS = [
    "aws-dms/json@1", "goldengate/json@1", "goldengate/json-row@1", "maxwell/json@2", "oms-community/default@2", "debezium/mongodb@1",
]  # fmt: skip
TOTAL = 400
OTHER = TableContracts(
    [parse_table_contract({"table": "shop.people", "columns": {"id": {"type": "int"}}}, "people.yaml")]
)
"""No table of the messages: each of them has the finding that it is not listed."""
OWN = TableContracts(
    parse_table_contract(
        {
            "table": table,
            "columns": {
                "id": {"type": "bigint unsigned"},
                "total": {"type": "decimal(20,2)"},
                "note": {"type": "text"},
            },
            "primary_key": ["id", "total"],
        },
        "orders.yaml",
    )
    for table in ("shop.orders", "orders")
)
"""The table of the messages: rows lack a column of its key, and have columns that it does not list."""
OPTIONS = {
    "none listed": ReadingOptions(),
    "another listed": ReadingOptions(tables=OTHER),
    "listed": ReadingOptions(tables=OWN),
    "may lack columns": ReadingOptions(parameters={"row_columns": "some"}),
    "listed, may lack columns": ReadingOptions(tables=OWN, parameters={"row_columns": "some"}),
    "all columns": ReadingOptions(parameters={"row_columns": "all"}),
}


def sparse(reference, *, tables=1):
    """Yield messages whose rows lack about half of their columns behind the first, of tables that take turns.

    Where messages name the columns of the key, every third names one that half of the rows lack.
    """
    draw, images = Random(11), CATALOGUE.version(reference).meaning.images
    for number, value in enumerate(rendered(reference, TOTAL)):
        message = {"": json.loads(value)}
        for pointer in images.pointers():
            *above, last = ("", *split_pointer(pointer))
            holder = follow(message, tuple(above))
            if isinstance(holder, dict) and holder.get(last):
                row = json.loads(holder[last]) if isinstance(holder[last], str) else holder[last]
                kept = {
                    name: row[name]
                    for at, name in enumerate(row)
                    if at == 0 or name in images.non_column_members(pointer) or draw.getrandbits(1)
                }
                holder[last] = json.dumps(kept) if isinstance(holder[last], str) else kept
        message = message[""]
        if number % 3 == 0 and "primary_keys" in message:
            message["primary_keys"] = ["id", "note" if number % 2 else "total"]
        text = json.dumps(message, ensure_ascii=False)
        yield text.replace("orders", f"orders_{number % tables}" if tables > 1 else "orders").encode()


def by_reference(validation, values):
    records = [
        {"topic": "orders", "partition": 0, "offset": offset, "timestamp": None} for offset in range(len(values))
    ]
    return counts_by_reference(
        (record, validation.validate(value)) for record, value in zip(records, values, strict=True)
    )


@pytest.mark.one_in(6)
@pytest.mark.parametrize("native", ["off", "eager"])
@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("several", [1, 3])
@pytest.mark.parametrize("reference", SUBJECTS)
def test_they_are_counted_as_one_by_one_however_they_are_cut(reference, several, options, native, part, monkeypatch):
    monkeypatch.setenv("CDC_CONTRACTS_NATIVE", native)
    validation = open_validation(CATALOGUE, reference, OPTIONS[options])
    values = list(sparse(reference, tables=several))
    expected = by_reference(validation, values)
    assert len(set(values)) == TOTAL
    for cuts in part((1, 7, 50), 3):
        kernel, total = Kernel(validation), Tally()
        for start in range(cuts):
            records = [(0, offset, value) for offset, value in enumerate(values)][start::cuts]
            Random(cuts).shuffle(records)
            total.merge(kernel.audit(batch_of(records)))
        assert counts_of(total) == expected


@pytest.mark.parametrize("reference", ["aws-dms/json@1", "goldengate/json@1"])
def test_kinds_of_records_are_neither_compared_with_each_other_nor_bounded_each_time(reference, monkeypatch):
    compared, bounded = [], []
    are_equal, bound = group_decisions._are_equal, table_drift.TableShapes._bound_group
    monkeypatch.setattr(group_decisions, "_are_equal", lambda *both: compared.append(both) or are_equal(*both))
    monkeypatch.setattr(
        table_drift.TableShapes, "_bound_group", lambda self, *one: bounded.append(len(one[1])) or bound(self, *one)
    )
    kernel = Kernel(open_validation(CATALOGUE, reference, OPTIONS["all columns"]))
    tally = kernel.audit(batch_of([(0, offset, value) for offset, value in enumerate(sparse(reference))]))
    assert sum(len(shapes) for shapes in tally.statistics.shapes.seen.values()) > table_drift.MOST_SHAPES
    assert len(compared) < TOTAL / 10
    assert len([held for held in bounded if held > table_drift.MOST_SHAPES]) < TOTAL / table_drift.MOST_SHAPES


@pytest.mark.one_in(6)
@pytest.mark.parametrize("native", ["off", "eager"])
@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("reference", SUBJECTS)
def test_they_are_decoded_as_one_by_one(reference, options, native, monkeypatch):
    monkeypatch.setenv("CDC_CONTRACTS_NATIVE", native)
    assert unlike_columns(open_validation(CATALOGUE, reference, OPTIONS[options]), list(sparse(reference))) == []


@pytest.mark.parametrize(
    ("reference", "options"),
    [
        ("aws-dms/json@1", "none listed"),
        ("goldengate/json@1", "none listed"),
        ("goldengate/json-row@1", "none listed"),
        ("maxwell/json@2", "may lack columns"),
    ],
)
def test_rows_that_may_lack_columns_are_of_as_many_groups_as_whole_ones(reference, options):
    validator = FastValidator(open_validation(CATALOGUE, reference, OPTIONS[options]))
    whole = validator.validate(list(rendered(reference, TOTAL)), texts=False)
    lacking = validator.validate([value for value in sparse(reference) if b'["id", ' not in value], texts=False)

    assert not lacking.alone
    assert len(lacking.group_results) <= len(whole.group_results) + 3


@pytest.mark.parametrize("native", ["off", "eager"])
def test_rows_that_lack_a_column_of_their_kafka_key_are_told_whatever_came_before(native, monkeypatch):
    monkeypatch.setenv("CDC_CONTRACTS_NATIVE", native)
    pairs = []
    for number, value in enumerate(sparse("debezium/mongodb@1")):
        message = json.loads(value)
        row = json.loads(message["after"] or message["before"])
        key = json.dumps({"id": json.dumps(row.pop("id"))}).encode()
        if number % 2:
            row["_id"] = json.loads(json.loads(key)["id"])
        message |= {"op": "c", "before": None, "after": json.dumps(row)}
        pairs.append(Pair(json.dumps(message).encode(), key))
    validation = open_documents()
    expected = [validation.validate(pair.value, pair.key).verdict for pair in pairs]
    lacking = [any(one.rule == "D09.primary-key-in-image" for one in verdict.findings) for verdict in expected]
    assert lacking == [number % 2 == 0 for number in range(TOTAL)]

    order = Random(3).sample(range(TOTAL), TOTAL)
    values, keys = (pa.array([pairs[number][part] for number in order], pa.binary()) for part in (0, 1))
    found = FastValidator(validation).validate(
        open_images(MessageValues(values), keys, validation.wire.text_images), keys, texts=True
    )
    verdicts = {}
    for one in found.group_results:
        verdicts |= dict.fromkeys(one.record_group.numbers.tolist(), one.verdict)
    verdicts |= {number: one.verdict for number, one in found.alone}
    assert [shown(verdicts[number]) for number in range(TOTAL)] == [shown(expected[number]) for number in order]
