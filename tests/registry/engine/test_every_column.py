"""Every column of every output, fast path against reference, for every version: the schema says which there are.

Samples, streams, and both with another value in some member of the envelope; CDC_CONTRACTS_COLUMNS says how many of
these there are for each version.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from typing import Any

import pytest
from mutations import DROP, Token, members, replaced, to_json
from output_rows import COLUMNS, OUTPUTS, by_reference, expected_columns, records_of, unlike_columns
from topics import CATALOGUE, WITH_TABLES, rendered, samples

from cdc_contracts.registry.core.common.json_messages import Unreadable
from cdc_contracts.registry.core.common.pointers import split_pointer
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.engine.kernel import Kernel
from cdc_contracts.registry.core.message.transport import open_transport
from cdc_contracts.registry.core.validate.validation_context import open_validation

CHOSEN = int(os.environ.get("CDC_CONTRACTS_COLUMNS", "10"))
"""How many values are put into members of the envelope of a version's messages, of the thousands there are."""
VERSIONS = list(CATALOGUE.all_versions())
TOLD_TYPES = ReadingOptions(parameters={"timestamp_zone": "+08:00"}, table="shop.orders")
OWN_TYPES = ReadingOptions(tables=WITH_TABLES.tables, parameters={"time_zone": "Europe/Berlin"}, table="shop.orders")
TOKENS = (
    "null", "true", '""', '"x"', '"null"', '"NULL"', '"0"', '"-1"', '"1718000000"', '"1718000000.5"', '"1718000000123"',
    '"2024-06-10T06:13:20"', '"2024-06-10 06:13:20.1234567"', '"2024-06-10T06:13:20Z"', '"2024-13-10 06:13:20"',
    "0", "-0", "-1", "1.5", "1e3", "1718000000", "1718000000123", "253402300800000", "9223372036854775808",
    "18446744073709551616", "100000000000000000000000000000000000000000", "[]", "{}", "[1718000000123]", "[1,-5]",
    "[null]", '["1718000000123"]', "[1.5]", "[18446744073709551616]", '{"a":1}',
)  # fmt: skip


def stream(version, count: int) -> list[bytes]:
    return rendered(version.reference, count, seed=5, snapshot=count // 8, controls=7, reading_options=TOLD_TYPES)


def places_outside_of_rows(version) -> list[tuple[dict[str, Any], tuple[str, ...]]]:
    """Return samples and messages of a stream, each with every place outside of its rows."""
    wire = open_transport(version, TOLD_TYPES)
    rows = {split_pointer(at) for at in version.meaning.images.pointers()} - {()}
    found = []
    for value in [*samples(version), *stream(version, 12)]:
        try:
            message = wire.open(value)
        except Unreadable:
            continue
        outside = [parts for parts in members(message) if not any(parts[: len(row)] == row for row in rows)]
        found += [(message, parts) for parts in outside]
    return found


def chosen(version) -> Iterator[bytes]:
    wire, found = open_transport(version, TOLD_TYPES), places_outside_of_rows(version)
    others = (DROP, *map(Token, TOKENS))
    total = len(found) * len(others)
    for number in random.Random(version.reference).sample(range(total), min(CHOSEN, total)):
        message, parts = found[number // len(others)]
        try:
            yield wire.write(to_json(replaced(message, parts, others[number % len(others)])))
        except Exception:  # noqa: BLE001  whatever keeps a message from being a record
            continue


def validations(version) -> Iterator[Any]:
    for reading_options in (TOLD_TYPES, OWN_TYPES) if version.meaning.columns.types == "none" else (TOLD_TYPES,):
        for reference in (version.subject, version.reference):
            yield open_validation(CATALOGUE, reference, reading_options)


def test_every_column_is_said_here_once_more():
    assert {name: set(columns) for name, columns in COLUMNS.items()} == {
        name: set(schema.names) for name, schema in OUTPUTS.items()
    }


@pytest.mark.one_in(6)
@pytest.mark.parametrize("version", VERSIONS, ids=str)
def test_both_paths_write_the_same_into_every_column_and_count_the_same(version, part):
    values = [*part(samples(version), 5), *part(stream(version, 24), 5), *part(chosen(version), 3), None]
    found = []
    for place, validation in enumerate(part(validations(version), 2)):
        mixed = random.Random(place).sample(values, len(values))
        kernel = Kernel(validation)
        found += unlike_columns(validation, mixed, kernel)
        found += unlike_columns(validation, mixed[::-6], kernel)  # by what it has learnt, in another order
    assert not found, "\n".join(found)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("version", VERSIONS, ids=str)
def test_what_a_contract_names_a_place_for_is_in_its_rows(version):
    """A column that is null in all rows by either path says nothing of its place."""
    validation = open_validation(CATALOGUE, version.reference, OWN_TYPES)
    reported = by_reference(validation, records_of([*samples(version)[:8], *stream(version, 16)]))
    filled = {column for column, values in expected_columns("changes", reported["changes"]) if any(values)}

    envelope = version.meaning.envelope
    named = {"event_time", "process_time", "position", "transaction", "primary_key"}
    if envelope.primary_key is not None and envelope.primary_key.json_texts:
        named.remove("primary_key")  # the product names the key column, and a made table has another
    assert {name for name in named if getattr(envelope, name) is not None} <= filled
    assert {"contract", "op", "table", "after", "after_complete", "topic", "partition", "offset"} <= filled
    assert {"kafka_timestamp", "kafka_key", "types_from"} <= filled
