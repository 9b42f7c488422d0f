"""Null values that follow no deletion are told: in a topic of flattened rows they may be the deletions themselves."""

import json

import pyarrow as pa
import pytest
from record_batches import batch_of
from topics import CATALOGUE
from written_reports import build_report, notes

from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.engine.kernel import Kernel
from cdc_contracts.registry.core.stats.tally import Tally
from cdc_contracts.registry.core.validate.validation_context import open_validation

FLAT = "debezium/flat@2"


def row(op, number):
    return {"id": number, "name": "lamp", "__op": op, "__deleted": "true" if op == "d" else "false"}


INSERTS = [(1, row("c", 1)), (2, row("c", 2)), (3, row("c", 3))]
DELETED_IN_FULL = [*INSERTS, (1, row("d", 1)), (1, None), (2, row("d", 2)), (2, None)]
DELETED_BY_NULL = [*INSERTS, (1, None), (2, None), (3, None)]


def audit(changes, *, contract=FLAT, partitions=1, backwards=False, cut=None, **parameters):
    """The report of changes that stand in so many partitions in turn."""
    records = [
        (offset % partitions, offset, json.dumps({"id": key}).encode(), change and json.dumps(change).encode())
        for offset, (key, change) in enumerate(changes)
    ]
    records = records[::-1] if backwards else records
    kernel = Kernel(open_validation(CATALOGUE, contract, ReadingOptions(parameters=parameters)))
    tally = Tally()
    for start in range(0, len(records), cut or len(records)):
        part = records[start : start + (cut or len(records))]
        batch = batch_of([(partition, offset, value) for partition, offset, _, value in part])
        tally.merge(kernel.audit(batch.append_column("key", pa.array([key for *_, key, _ in part], pa.binary()))))
    return build_report(
        tally, catalogue=CATALOGUE, contract=contract, validation=kernel.validation, spans={}, fail_on="warning"
    )


def told(report):
    return [note for note in notes(report) if "null values" in note]


@pytest.mark.parametrize("cut", [None, 1, 4])
@pytest.mark.parametrize("backwards", [False, True])
def test_null_values_without_deletions_are_told_with_what_reads_them(backwards, cut):
    report = audit(DELETED_BY_NULL, backwards=backwards, cut=cut)
    assert report["null_values"] == {"contract": FLAT, "records": 3, "partitions": 1, "deletions": 0}
    (note,) = told(report)
    assert note.startswith("At least 2 of 3 null values follow no deletion (there are 0)")
    assert "--contract debezium/flat@2 --parameter null_values=deletion" in note


def test_a_null_value_behind_each_deletion_is_as_it_should_be():
    report = audit(DELETED_IN_FULL)
    assert report["null_values"] == {"contract": FLAT, "records": 2, "partitions": 1, "deletions": 2}
    assert told(report) == []


def test_the_deletion_of_the_first_null_value_of_each_partition_may_stand_before_the_range():
    report = audit(DELETED_BY_NULL, partitions=3)
    assert report["null_values"]["partitions"] == 3
    assert told(report) == []


@pytest.mark.parametrize("meaning", ["tombstone", "deletion"])
def test_who_said_what_null_values_are_is_told_nothing(meaning):
    report = audit(DELETED_BY_NULL, null_values=meaning)
    assert "null_values" not in report
    assert told(report) == []


def test_null_values_of_other_contracts_are_tombstones():
    message = {"id": 0, "database": "shop", "table": "orders", "pkNames": ["id"], "isDdl": False, "type": "INSERT",
               "es": 1, "ts": 2, "sql": "", "sqlType": {"id": 4}, "mysqlType": {"id": "int"}, "data": [{"id": "1"}],
               "old": None, "gtid": ""}  # fmt: skip
    report = audit([(1, message), (1, None), (1, None)], contract="canal/flat@3")
    assert report["ledger"]["tombstone"] == 2
    assert "null_values" not in report
