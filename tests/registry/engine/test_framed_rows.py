"""Rows of framed records have their own columns where the Avro types of one batch differ."""

from copy import deepcopy

import pytest
from framed_records import ENVELOPE, MESSAGE, body_of, frame
from framed_topics import HeldSchemas
from record_batches import batch_of
from topics import CATALOGUE

from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.engine.kernel import Kernel
from cdc_contracts.registry.core.validate.validation_context import open_validation
from cdc_contracts.registry.core.writer_schemas.writer_schemas import WriterSchemas


@pytest.fixture(params=["eager", "off"], autouse=True)
def native(request, monkeypatch):
    monkeypatch.setenv("CDC_CONTRACTS_NATIVE", request.param)


def kernel_of(schemas):
    options = ReadingOptions(schemas=WriterSchemas(HeldSchemas(schemas)))
    return Kernel(open_validation(CATALOGUE, "debezium/json@4", options))


def batch_of_records(values):
    return batch_of([(0, at, value) for at, value in enumerate(values)])


def with_row(*names):
    schema = deepcopy(ENVELOPE)
    schema["fields"][0]["type"][1]["fields"] = [{"name": name, "type": "int"} for name in names]
    return schema


def test_rows_of_two_schemas_with_the_same_columns_in_another_order_have_each_its_own():
    schemas = {1: with_row("id", "a", "b"), 2: with_row("b", "id", "a")}
    records = []
    for number in range(80):
        schema = 1 + number // 3 % 2
        row = {"id": number, "a": 1_000 + number, "b": 2_000 + number}
        records.append(frame(schema, body_of(schemas[schema], MESSAGE | {"after": row})))
    (part,) = kernel_of(schemas).decode(batch_of_records(records))
    assert [dict(row["after"]) for row in part.changes.to_pylist()] == [
        {"id": f"{number}", "a": f"{1_000 + number}", "b": f"{2_000 + number}"} for number in range(80)
    ]
