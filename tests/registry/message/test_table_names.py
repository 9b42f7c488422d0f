"""The table of a message that says some of its names is the one that its topic names, unless the message says another."""

import json

import pytest
from record_batches import batch_of_values
from topics import CATALOGUE

from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.engine.kernel import Kernel
from cdc_contracts.registry.core.message.reading import Reading
from cdc_contracts.registry.core.validate.validation_context import open_validation

FLAT = "debezium/flat@2"
CASES = [
    ({}, None, (None, None, None)),
    ({}, "cdc.public.orders", ("public", None, "orders")),
    ({"__table": "orders"}, "cdc.public.orders", ("public", None, "orders")),
    ({"__table": "orders"}, None, (None, None, "orders")),
    ({"__table": "lines"}, "cdc.public.orders", (None, None, "lines")),
    ({"__db": "shop", "__table": "orders"}, "cdc.other.orders", ("shop", None, "orders")),
    ({"__db": "shop", "__schema": "public", "__table": "orders"}, "t", ("shop", "public", "orders")),
    ({"__db": "shop"}, "cdc.public.orders", ("shop", None, "orders")),
    ({"__schema": "public", "__table": "orders"}, "cdc.public.orders", ("public", None, "orders")),
    ({"__schema": "public"}, "cdc.public.orders", ("public", None, "orders")),
    ({"__schema": "sales", "__table": "orders"}, "cdc.public.orders", (None, "sales", "orders")),
    ({"__schema": "public", "__table": "lines"}, "cdc.public.orders", (None, "public", "lines")),
    ({"__db": "shop", "__schema": "public", "__table": "orders"}, "cdc.public.orders", ("shop", "public", "orders")),
    ({"__table": None}, "cdc.public.orders", ("public", None, "orders")),
    ({"__table": "orders"}, "orders", (None, None, "orders")),
]


@pytest.mark.parametrize(("members", "table", "named"), CASES)
def test_a_message_is_believed_and_its_topic_says_the_rest(members, table, named):
    message = {"id": 1, "__op": "c", **members}
    reading = Reading(CATALOGUE.version(FLAT).meaning, message, ReadingOptions(table=table))

    assert (reading.names.database, reading.names.schema, reading.names.table) == named


@pytest.mark.parametrize("table", [None, "cdc.public.orders"])
def test_a_batch_has_the_tables_of_its_messages_one_by_one(table):
    messages = [{"id": 1, "__op": "c", **members} for members, *_ in CASES]
    options = ReadingOptions(table=table)
    meaning = CATALOGUE.version(FLAT).meaning
    values = [json.dumps(message).encode() for message in messages]

    (one,) = Kernel(open_validation(CATALOGUE, FLAT, options)).decode(batch_of_values(values))

    found = [(row["tenant"], row["database"], row["schema"], row["table"]) for row in one.changes.to_pylist()]
    assert found == [tuple(Reading(meaning, message, options).names) for message in messages]
