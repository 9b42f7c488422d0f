"""Members with integers of nineteen digits, as nanoseconds since 1970 are, do not keep a message from the scanner."""

import json

import numpy as np
import pyarrow as pa
import pytest
from record_batches import batch_of
from topics import CATALOGUE

from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.engine.fast_validator import FastValidator
from cdc_contracts.registry.core.engine.kernel import Kernel
from cdc_contracts.registry.core.engine.native import native_library as loading
from cdc_contracts.registry.core.engine.native.scanned_columns import INTEGER, ScannedColumn
from cdc_contracts.registry.core.records.message_values import MessageValues
from cdc_contracts.registry.core.validate.validation_context import open_validation

pytestmark = pytest.mark.skipif(
    loading.native_library() is None, reason="no native part was compiled here, or it is switched off"
)
LEAST_LONG, MOST = 10**18, 9 * 10**18 - 1


@pytest.fixture(autouse=True)
def few_messages_are_scanned_too(monkeypatch):
    monkeypatch.setenv("CDC_CONTRACTS_NATIVE", "eager")


def message(nanos):
    source = {"version": "3.5.0.Final", "connector": "postgresql", "name": "shop", "db": "shop", "schema": "public",
              "table": "orders", "ts_ns": nanos}  # fmt: skip
    return json.dumps(
        {
            "before": None,
            "after": {"id": nanos},
            "source": source,
            "op": "c",
            "ts_ms": 1_718_000_000_000,
            "ts_ns": nanos,
        }
    ).encode()


def test_messages_with_nanoseconds_are_scanned():
    values = [1_718_000_000_123_456_789, LEAST_LONG, MOST, -MOST, -LEAST_LONG, 0]
    validator = FastValidator(open_validation(CATALOGUE, "debezium/json@4", ReadingOptions()))
    warm = pa.array([message(LEAST_LONG)] * 4, pa.binary())
    validator._sorter.sort(MessageValues(warm))
    batches = validator._sorter.sort(MessageValues(pa.array(list(map(message, values)), pa.binary()))).decoded_batches
    found = {}
    for batch in batches:
        column = batch.members["/ts_ns"]
        assert isinstance(column, ScannedColumn)
        assert (column.kinds == INTEGER).all()
        assert column.all_integers.dtype == np.int64
        found |= dict(zip(batch.numbers.tolist(), column.all_integers.tolist(), strict=True))
    assert [found[number] for number in range(len(values))] == values


@pytest.mark.parametrize("nanos", [MOST + 1, 2**63 - 1, 2**63, -(2**63), -(MOST + 1), 10**19, 10**30])
def test_integers_that_may_not_fit_in_64_bits_are_read_the_same(nanos):
    kernel = Kernel(open_validation(CATALOGUE, "debezium/json@4", ReadingOptions()))
    records = batch_of([(0, at, message(one)) for at, one in enumerate([LEAST_LONG, LEAST_LONG, nanos, LEAST_LONG])])
    rows = [row for part in kernel.decode(records) for row in part.changes.to_pylist()]
    assert [dict(row["after"])["id"] for row in rows] == [
        str(one) for one in (LEAST_LONG, LEAST_LONG, nanos, LEAST_LONG)
    ]
