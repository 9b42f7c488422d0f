"""Rows through messages of every version and back by the fast path: nothing lost, nothing changed.

CDC_CONTRACTS_ROWS says how many rows per version (400; the figures in notes are of 10,000).
"""

from __future__ import annotations

import base64
import os
from functools import cache

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from topics import CATALOGUE, WITH_TABLES, as_decoded, expressed_op

from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.engine.kernel import Kernel
from cdc_contracts.registry.core.generate.event_streams import ORDERS, row_stream
from cdc_contracts.registry.core.generate.rendering import Renderer
from cdc_contracts.registry.core.generate.source_events import Event, SourceTable
from cdc_contracts.registry.core.validate.capabilities import capabilities_of
from cdc_contracts.registry.core.validate.reference_validator import ReferenceValidator
from cdc_contracts.registry.core.validate.validation_context import open_validation

ROWS = int(os.environ.get("CDC_CONTRACTS_ROWS", "400"))
VERSIONS = list(CATALOGUE.all_versions())
TERMS = ReadingOptions(tables=WITH_TABLES.tables, parameters={"timestamp_zone": "+08:00"}, table="shop.orders")


def decoded(version, values):
    places = pa.array(range(len(values)), pa.int64())
    records = pa.RecordBatch.from_pydict({
        "value": pa.array(values, pa.binary()),
        "topic": pa.array(["t"] * len(values)),
        "partition": pa.array([0] * len(values), pa.int32()),
        "offset": places,
    })  # fmt: skip
    kernel = Kernel(open_validation(CATALOGUE, version.reference, TERMS))
    for written in kernel.decode(records):
        assert written.quarantine.num_rows == 0, written.quarantine.slice(0, 1).to_pylist()
        yield from written.changes.to_pylist()


@pytest.mark.one_in(6, any_subject=True)
@pytest.mark.parametrize("version", VERSIONS, ids=str)
def test_rows_come_back_as_they_went_in(version):
    can, renderer = capabilities_of(version, TERMS), Renderer(version, TERMS)
    events = list(row_stream(41, ROWS, snapshot=ROWS // 20))
    reported = {name: {} for name in ORDERS.types}
    rows = list(decoded(version, [renderer.render(event) for event in events]))

    assert [row["offset"] for row in rows] == list(range(len(events)))
    for event, row in zip(events, rows, strict=True):
        assert row["op"] == expressed_op(version, event.op)
        for side in ("before", "after") if can.update_before or event.op != "update" else ("after",):
            sent, found = getattr(event, side), row[side]
            if sent is None:
                assert found is None
                continue
            expected = {}
            for name, text in sent.items():
                known = reported[name]
                if text not in known:
                    known[text] = as_decoded(text, ORDERS.types[name], can)
                expected[name] = known[text]
            assert dict(found) == expected


# --- edges, one value at a time

TEXTS = st.text(st.characters(exclude_categories=("Cs",)), max_size=30)
EDGES = {
    "bigint": st.integers(-(2**63), 2**64 - 1).map(str),
    "decimal(65,30)": st.decimals(allow_nan=False, allow_infinity=False, places=12).map(lambda number: f"{number:f}"),
    "text": TEXTS,
    "blob": st.binary(max_size=40).map(lambda data: base64.b64encode(data).decode()),
    "date": st.dates().map(lambda day: day.isoformat()),
}  # fmt: skip


@pytest.mark.one_in(4, any_subject=True)
@settings(max_examples=max(30, ROWS // 15), deadline=None, derandomize=True, database=None)
@given(values=st.fixed_dictionaries(EDGES))
@pytest.mark.parametrize("version", VERSIONS, ids=str)
def test_values_at_their_edges_come_back_where_the_dialect_has_a_place_for_them(version, values):
    values = {name: values[name] for name in EDGES}  # drawn in any order
    types = {f"c{place}": name for place, name in enumerate(values)}
    if int(values["bigint"]) >= 2**63 and capabilities_of(version).types.kind_of("bigint unsigned") == "decimal":
        types["c0"] = "bigint unsigned"  # no number of 64 bits with a sign
    table = SourceTable("edges", types, ("c0",), None, "shop")
    row = {f"c{place}": text for place, text in enumerate(values.values())}
    reading_options = ReadingOptions(table="shop.edges")
    can, validator = capabilities_of(version, reading_options), validators(version)
    message = Renderer(version, reading_options).render(Event("insert", table, None, row))

    (change,) = validator.validate(validator.wire.open(message)).changes

    typed = can.column_types
    for column, source_type in table.types.items():
        text = row[column]
        if source_type == "decimal(65,30)" and not text.strip("-0."):
            text = text.lstrip("-")
        if typed:
            assert change.after[column] == as_decoded(text, source_type, can)
        elif source_type in ("bigint", "bigint unsigned", "text"):  # without a type a value is read by its kind
            assert change.after[column] == text


@cache
def validators(version):
    return ReferenceValidator(version, ReadingOptions(table="shop.edges"))


# What one row holds, and which of it a dialect keeps: one without types reads by kind, DTS SharePlex sends texts.
NUMBERS = {
    "id": ("bigint unsigned", "10223372036854775806"),
    "price": ("decimal(20,2)", "99999999999999999.99"),
    "scale": ("decimal(4,2)", "12.10"),
    "long": ("decimal", "-" + "1234567890" * 40 + ".5"),
}
LESS = {"ticdc/debezium-payload": {"id": "9223372036854775807"}}
"""Where an unsigned BIGINT is sent as a signed one, and nothing tells which it was."""


@pytest.mark.parametrize("version", VERSIONS, ids=str)
def test_numbers_come_out_digit_for_digit_everywhere(version):
    table = SourceTable("edges", {name: reported for name, (reported, _) in NUMBERS.items()}, ("id",), None, "shop")
    row = {name: text for name, (_, text) in NUMBERS.items()} | LESS.get(version.subject, {})
    message = Renderer(version, ReadingOptions(table="shop.edges")).render(Event("insert", table, None, row))
    validator = validators(version)

    (change,) = validator.validate(validator.wire.open(message)).changes

    assert change.after == row
