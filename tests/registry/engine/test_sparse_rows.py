"""Rows that lack other columns in each message: as many kinds of records as messages, counted as one by one."""

import json
from random import Random

import pytest
from counts import counts_by_reference, counts_of
from record_batches import batch_of
from topics import CATALOGUE, rendered

from cdc_contracts.registry.core.common.pointers import follow, split_pointer
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.contract.table_contracts import TableContracts, parse_table_contract
from cdc_contracts.registry.core.engine.group import group_decisions
from cdc_contracts.registry.core.engine.kernel import Kernel
from cdc_contracts.registry.core.stats import table_drift
from cdc_contracts.registry.core.stats.tally import Tally
from cdc_contracts.registry.core.validate.validation_context import open_validation

SUBJECTS = ["aws-dms/json@1", "goldengate/json@1", "maxwell/json@2", "oms-community/default@2", "debezium/mongodb@1"]
TOTAL = 400
OTHER = TableContracts(
    [parse_table_contract({"table": "shop.people", "columns": {"id": {"type": "int"}}}, "people.yaml")]
)
"""No table of the messages: each of them has the finding that it is not listed."""


def sparse(reference, *, tables=1):
    """Yield messages whose rows lack about half of their columns behind the first, of tables that take turns."""
    draw, places = Random(11), [split_pointer(at) for at in CATALOGUE.version(reference).meaning.images.pointers()]
    for number, value in enumerate(rendered(reference, TOTAL)):
        message = json.loads(value)
        for *above, last in places:
            holder = follow(message, tuple(above))
            if isinstance(holder, dict) and holder.get(last):
                row = json.loads(holder[last]) if isinstance(holder[last], str) else holder[last]
                kept = {name: row[name] for at, name in enumerate(row) if at == 0 or draw.getrandbits(1)}
                holder[last] = json.dumps(kept) if isinstance(holder[last], str) else kept
        text = json.dumps(message, ensure_ascii=False)
        yield text.replace("orders", f"orders_{number % tables}" if tables > 1 else "orders").encode()


def by_reference(validation, values):
    records = [
        {"topic": "orders", "partition": 0, "offset": offset, "timestamp": None} for offset in range(len(values))
    ]
    return counts_by_reference(
        (record, validation.validate(value)) for record, value in zip(records, values, strict=True)
    )


@pytest.mark.one_in(3)
@pytest.mark.parametrize("native", ["off", "eager"])
@pytest.mark.parametrize(
    "tables", [ReadingOptions(), ReadingOptions(tables=OTHER)], ids=["none listed", "another listed"]
)
@pytest.mark.parametrize("several", [1, 3])
@pytest.mark.parametrize("reference", SUBJECTS)
def test_they_are_counted_as_one_by_one_however_they_are_cut(reference, several, tables, native, monkeypatch):
    monkeypatch.setenv("CDC_CONTRACTS_NATIVE", native)
    validation, values = open_validation(CATALOGUE, reference, tables), list(sparse(reference, tables=several))
    expected = by_reference(validation, values)
    assert len(set(values)) == TOTAL
    for cuts in (1, 7, 50):
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
    kernel = Kernel(open_validation(CATALOGUE, reference, ReadingOptions()))
    tally = kernel.audit(batch_of([(0, offset, value) for offset, value in enumerate(sparse(reference))]))
    assert sum(len(shapes) for shapes in tally.statistics.shapes.seen.values()) > table_drift.MOST_SHAPES
    assert len(compared) < TOTAL / 10
    assert len([held for held in bounded if held > table_drift.MOST_SHAPES]) < TOTAL / table_drift.MOST_SHAPES
