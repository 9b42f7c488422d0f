"""Topics of many tables: each is read as if it were the only one, and a new one is no new case for the reference."""

import json
import os
import sys
from dataclasses import replace

import pytest
from mutations import Token, replaced, to_bytes
from output_rows import looks_of_the_reference, records_of, unlike_columns
from record_batches import batch_of
from topics import CATALOGUE, renderer_of, samples, scope_of

from cdc_contracts.registry.core.common.json_messages import Unreadable, parse_message
from cdc_contracts.registry.core.common.pointers import ABSENT, follow, split_pointer
from cdc_contracts.registry.core.engine.kernel import Kernel
from cdc_contracts.registry.core.engine.parse import batch_parser
from cdc_contracts.registry.core.generate.event_streams import row_stream
from cdc_contracts.registry.core.stats.partition_tallies import Source
from cdc_contracts.registry.core.stats.reference_tally import account

REFERENCES = [version.reference for version in CATALOGUE.all_versions()]
TYPED = [version.reference for version in CATALOGUE.all_versions() if version.meaning.columns.types != "none"]
JSON = [version.reference for version in CATALOGUE.all_versions() if version.meaning.transport == "json"]
UNTYPED = sorted(set(JSON) - set(TYPED))
LONG = os.environ.get("CDC_CONTRACTS_MUTATIONS", "some") != "some"
CANAL = "oms-community/canal@2"
MESSAGES = 400 if LONG else 30
"""Of so many tables one message each is no new case."""
NAMES = ["visits", "a.b", ".", "", "ORDERS", "t\\u002Eu", "ünï", "1"]


def stream(reference, total, name):
    """Messages in which the table of the n-th is called `name(n)`."""
    renderer = renderer_of(reference)
    for number, event in enumerate(row_stream(3, total)):
        table = event.table and replace(event.table, name=name(number))
        yield renderer.render(replace(event, table=table))


@pytest.mark.one_in(6)
@pytest.mark.parametrize("reference", REFERENCES)
def test_each_table_of_many_is_read_as_the_reference_reads_it(reference, part):
    values = list(
        stream(reference, 60 if LONG else 32, lambda number: NAMES[number % 8] if number % 3 else f"t{number}")
    )
    assert unlike_columns(scope_of(reference), part(values, 3)) == []


@pytest.mark.one_in(6)
@pytest.mark.parametrize("reference", JSON)
def test_whatever_drifts_is_reported_alike_of_every_table(reference, part):
    version = CATALOGUE.version(reference)
    envelope = version.meaning.envelope
    places = (envelope.database, envelope.schema_name, envelope.table, envelope.database_table)
    pointers = [split_pointer(place.at) for place in places if place is not None and place.at is not None]
    twins = []
    for number, value in enumerate(samples(version)):
        try:
            message = parse_message(value)
        except Unreadable:
            continue
        held = [parts for parts in pointers if follow(message, parts) is not ABSENT]
        names = NAMES[:3] if LONG else (NAMES[number % 3], NAMES[(number + 1) % 3])
        for name in names if held else ():
            twin = message
            for parts in held:
                twin = replaced(twin, parts, Token(json.dumps(name)))
            twins.append(to_bytes(twin))
    validation = scope_of(reference)
    assert unlike_columns(validation, part(twins, 5)) == []


@pytest.mark.one_in(6)
@pytest.mark.parametrize("reference", TYPED)
def test_a_new_table_in_each_message_is_no_new_case_for_the_reference(reference, monkeypatch):
    looks = looks_of_the_reference(monkeypatch)

    def count(values):
        looks.clear()
        kernel = Kernel(scope_of(reference))
        for start in range(0, len(values), 50):
            kernel.audit(records_of(values[start : start + 50]))
        return len(looks)

    one, many = (list(stream(reference, MESSAGES, name)) for name in (lambda _: "t", "t{}".format))
    assert count(many) <= 2 * count(one)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("reference", TYPED)
def test_records_of_many_tables_are_as_few_groups_as_those_of_one(reference):
    def groups(name):
        values = list(stream(reference, MESSAGES, name))
        batch = records_of(values, [None] * len(values))  # findings of keys are told table by table
        return sum(len(result.group_results) for _, result in Kernel(scope_of(reference)).batch_results(batch))

    assert groups("t{}".format) == groups(lambda _: "t")


def test_a_new_table_in_each_message_costs_few_calls_of_functions():
    calls = []

    def count(name):
        kernel, batch = Kernel(scope_of(CANAL)), records_of(list(stream(CANAL, 600, name)))
        kernel.audit(batch)
        calls.clear()
        sys.setprofile(lambda _, event, __: calls.append(event) if event == "call" else None)
        try:
            kernel.audit(batch)
        finally:
            sys.setprofile(None)
        return len(calls)

    assert count("t{}".format) - count(lambda _: "t") < 8 * 600


@pytest.mark.parametrize("reference", ["oms-community/default@1", "oms-community/default@2", "oms/default@2"])
def test_tables_with_the_columns_of_another_are_not_learnt_anew(reference, monkeypatch):
    learnt = []
    parse = batch_parser.parse_message

    def counted(value, **options):
        learnt.append(value)
        return parse(value, **options)

    monkeypatch.setattr(batch_parser, "parse_message", counted)
    Kernel(scope_of(reference)).audit(records_of(list(stream(reference, 200, "t{}".format))))
    assert len(learnt) <= 20


@pytest.mark.one_in(6)
@pytest.mark.parametrize("reference", JSON)
def test_many_tables_are_counted_as_the_reference_counts_each_message(reference):
    each = 40 if LONG else 8
    values = [value for number in range(2) for value in stream(reference, each, f"t{number}_{{}}".format)]
    values += stream(reference, each, lambda number: f"t0_{each - 1 - number}")
    records = [(0, offset, value) for offset, value in enumerate(values)]
    validation, kernel = scope_of(reference), Kernel(scope_of(reference))
    slow, fast = (
        account(validation, Source("orders", 0), enumerate(values)),
        kernel.audit(batch_of(records[: each * 7 // 4])),
    )
    fast.merge(kernel.audit(batch_of(records[each * 7 // 4 :])))
    assert fast.statistics == slow.statistics
    assert (fast.readable, fast.outcomes) == (slow.readable, slow.outcomes)


@pytest.mark.one_in(6)
@pytest.mark.parametrize("reference", UNTYPED)
def test_a_table_has_no_column_that_another_has(reference, part):
    version = CATALOGUE.version(reference)
    images = [split_pointer(at) for at in version.meaning.images.pointers()]
    values = []
    for number, value in enumerate(stream(reference, 60, "t{}".format)):
        message = parse_message(value)
        for parts in images:
            row = follow(message, parts)
            dropped = (None, "note", "seen")[number % 3]
            if isinstance(row, dict):
                row.pop(dropped, None)
        values.append(to_bytes(message))
    assert unlike_columns(scope_of(reference), part(values, 2)) == []


@pytest.mark.parametrize("reference", ["oms-community/default@2", "oms/debezium@1"])
def test_tables_with_the_columns_of_another_in_another_order_keep_their_order(reference, monkeypatch):
    images = [split_pointer(at) for at in CATALOGUE.version(reference).meaning.images.pointers()]
    values = []
    for number, value in enumerate(stream(reference, 300, "t{}".format)):
        message = parse_message(value)
        for parts in images if number % 3 == 2 else ():
            row = follow(message, parts)
            if isinstance(row, dict):
                backwards = list(row.items())[::-1]
                row.clear()
                row.update(backwards)
        values.append(to_bytes(message))

    def decoded():
        parts = Kernel(scope_of(reference)).decode(records_of(values))
        return [change for part in parts for change in part.changes.to_pylist()]

    scanned = decoded()
    monkeypatch.setenv("CDC_CONTRACTS_NATIVE", "off")
    assert scanned == decoded()
