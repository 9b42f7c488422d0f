"""Topics of many tables that differ in their columns: each is read as if it were the only one, in any order and cut."""

import gc
import random
import re
import sys
from dataclasses import replace
from itertools import islice

import numpy as np
import pytest
from mutations import Token, replaced, to_bytes
from output_rows import records_of, unlike_columns
from record_batches import batch_of, batch_of_values
from topics import CATALOGUE, rendered, renderer_of, scope_of
from written_reports import build_report

from cdc_contracts.registry.core.common.json_messages import parse_message
from cdc_contracts.registry.core.common.pointers import ABSENT, follow, split_pointer
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.contract.version_files import parse_versions
from cdc_contracts.registry.core.engine.columns.value_columns import ColumnValues
from cdc_contracts.registry.core.engine.fast_validator import FastValidator
from cdc_contracts.registry.core.engine.kernel import Kernel
from cdc_contracts.registry.core.engine.layouts import decoder_kinds
from cdc_contracts.registry.core.engine.layouts.decoded_batches import DecodedBatch
from cdc_contracts.registry.core.engine.layouts.layout_parts import RowShape
from cdc_contracts.registry.core.engine.layouts.parsed_columns import ParsedColumn
from cdc_contracts.registry.core.engine.native.native_library import native_library
from cdc_contracts.registry.core.engine.native.scanning import Scanner
from cdc_contracts.registry.core.engine.statistics import column_runs, written_columns
from cdc_contracts.registry.core.generate.event_streams import ORDERS, row_stream
from cdc_contracts.registry.core.records.batch_sizes import BatchSize
from cdc_contracts.registry.core.stats.tally import Tally
from cdc_contracts.registry.core.validate.described_contexts import open_ranges
from cdc_contracts.registry.core.validate.validation_context import open_validation
from cdc_contracts.registry.core.writer_schemas.writer_schemas import WriterSchemas

REFERENCES = [version.reference for version in CATALOGUE.all_versions()]
SETTINGS = ["off", "on", "eager"]
DEBEZIUM, CANAL, MAXWELL = "debezium/json@4", "oms-community/canal@2", "maxwell/json@2"


def table_of(number):
    """A table that lacks one of the columns of orders, and has one that no other table has."""
    lacking = [*ORDERS.types][1 + number % (len(ORDERS.types) - 1)]
    types = {name: type_ for name, type_ in ORDERS.types.items() if name != lacking}
    return replace(ORDERS, name=f"t{number}", types=types | {f"own_{number}": "varchar(60)"})


def messages(reference, tables, each, order=3):
    """Messages of some tables, in turn by chance; of each table in its own order."""
    renderer = renderer_of(reference)
    streams = [
        iter([*renderer.render_all(row_stream(5 + number, each, table=table_of(number)))]) for number in range(tables)
    ]
    turns = [number for number in range(tables) for _ in range(each)]
    random.Random(order).shuffle(turns)
    return [value for number in turns for value in islice(streams[number], 1)]


def with_unknown_ops(reference, values):
    """The same messages, some of which have an op code that no version lists."""
    at = CATALOGUE.version(reference).meaning.envelope.op.at
    parts = split_pointer(at or "")
    for number, value in enumerate(values):
        message = parse_message(value) if number % 7 == 3 and parts else {}
        held = follow(message, parts) not in (ABSENT, message)
        yield to_bytes(replaced(message, parts, Token('"ODD"'))) if held else value


@pytest.mark.one_in(9, any_subject=True)
@pytest.mark.parametrize("native", SETTINGS)
@pytest.mark.parametrize("reference", REFERENCES)
def test_each_table_is_read_as_the_reference_reads_it(reference, native, monkeypatch):
    monkeypatch.setenv("CDC_CONTRACTS_NATIVE", native)
    values = messages(reference, 4, 12)
    if CATALOGUE.version(reference).meaning.transport == "json":
        values = [*with_unknown_ops(reference, values)]
    assert unlike_columns(scope_of(reference), values) == []


DRIFTS = {
    3: (rb'"ts":\d+', rb'"ts":1718000000000'),
    5: (rb'"ts":\d+', rb'"ts":-1'),
    7: (rb'"ts":\d+', rb'"ts":[1]'),
    9: (rb"^{", rb'{"primary_key":["a",1],'),
    11: (rb"^{", rb'{"unknown":1,'),
}  # fmt: skip
"""Times in another unit and before 1970, a list for a number, a list of other kinds, and an unknown member."""


@pytest.mark.parametrize("native", ["off", "eager"])
def test_what_drifts_in_the_envelope_is_told_of_the_messages_that_drift(native, monkeypatch):
    monkeypatch.setenv("CDC_CONTRACTS_NATIVE", native)
    values = [re.sub(*DRIFTS.get(n % 13, (b"^", b"")), one) for n, one in enumerate(messages(MAXWELL, 5, 14))]
    assert unlike_columns(scope_of(MAXWELL), values) == []


@pytest.mark.parametrize("native", ["off", "eager"])
@pytest.mark.parametrize("reference", [CANAL, MAXWELL])
def test_a_column_whose_values_no_form_takes_is_told_of_each_record(reference, native, monkeypatch):
    monkeypatch.setenv("CDC_CONTRACTS_NATIVE", native)
    values = [re.sub(rb'"quantity":-?\d+', rb'"quantity":true', one) for one in rendered(reference, 16)]
    assert unlike_columns(scope_of(reference), values) == []


def test_messages_that_only_the_reference_may_read_are_those_of_their_own_layout():
    validator, shape = FastValidator(scope_of(MAXWELL)), RowShape((), [], has_types=False)
    lists = [[b"[1]", b"[", b'["a"]'], [b"[2]"], [b"[", b'{"a":1}', b"["]]
    layouts = [
        DecodedBatch(shape, None, np.arange(len(each)), {"/primary_key": ParsedColumn(each, decoder_kinds.RAW)})
        for each in lists
    ]
    codes = [part.keys[0].tolist() for part in validator._envelopes.read(layouts)]
    assert [one.unfit for one in layouts] == [{1}, set(), {0, 2}]
    assert codes[0][0] == codes[1][0]
    assert len({codes[0][0], codes[0][2], codes[2][1]}) == 3


@pytest.mark.one_in(2, any_subject=True)
@pytest.mark.parametrize("reference", [DEBEZIUM, CANAL, "oms-community/default@2", "dts/canal@2"])
def test_the_tally_of_many_tables_depends_on_no_order_or_cut(reference):
    values = [*with_unknown_ops(reference, messages(reference, 20, 20))]
    records = [(0, offset, value) for offset, value in enumerate(values)]
    whole, cut, backwards = Kernel(scope_of(reference)), Kernel(scope_of(reference)), Kernel(scope_of(reference))
    told = report_of(reference, whole.audit(batch_of(records)))
    by_cut = Tally()
    for start in range(0, len(records), 53):
        by_cut.merge(cut.audit(batch_of(records[start : start + 53])))
    assert report_of(reference, by_cut) == told
    assert report_of(reference, backwards.audit(batch_of(records[::-1]))) == told
    assert report_of(reference, whole.audit(batch_of(records))) == told  # every shape is known by now


def report_of(reference, tally):
    return build_report(
        tally, catalogue=CATALOGUE, contract=reference, source={"kind": "kafka"}, spans={}, fail_on="error"
    )


@pytest.mark.skipif(native_library() is None, reason="no native part was compiled here, or it is switched off")
@pytest.mark.parametrize("reference", [DEBEZIUM, CANAL])
def test_tables_that_take_turns_are_scanned_with_foreign_messages_among_them(reference, monkeypatch):
    scanned = []
    lay_out = Scanner._lay_out

    def counted(self, shape, compiled, found, array):
        batch = lay_out(self, shape, compiled, found, array)
        scanned.append(len(batch))
        return batch

    monkeypatch.setattr(Scanner, "_lay_out", counted)
    values, kernel = messages(reference, 12, 60), Kernel(scope_of(reference))
    values[::30] = [b'{"beat":1}'] * len(values[::30])
    kernel.audit(records_of(values))
    scanned.clear()
    kernel.audit(records_of(values))
    assert sum(scanned) > len(values) * 9 / 10
    assert len(scanned) <= 2 * 12


def test_many_tables_that_take_turns_cost_few_calls_of_functions():
    def count(tables):
        calls = 0

        def called(_frame, event, _argument):
            nonlocal calls
            calls += event == "call"

        kernel, batch = Kernel(scope_of(CANAL)), records_of(messages(CANAL, tables, 720 // tables))
        kernel.audit(batch)
        sys.setprofile(called)
        try:
            kernel.audit(batch)
        finally:
            sys.setprofile(None)
        return calls

    assert count(30) - count(1) < 30 * 3_000


@pytest.mark.parametrize("native", ["off", "eager"])
def test_the_values_of_a_batch_are_freed_before_garbage_is_collected(native, monkeypatch):
    """Garbage is collected once in many batches, and a column keeps all bytes of its batch in memory."""
    monkeypatch.setenv("CDC_CONTRACTS_NATIVE", native)
    kernel, batch = Kernel(scope_of(DEBEZIUM)), records_of(rendered(DEBEZIUM, 20))
    kernel.audit(batch)
    gc.disable()
    gc.freeze()  # so that only what comes now is looked at, not all that other tests keep
    try:
        before = held_columns()
        kernel.audit(batch)
        assert sum(part.changes.num_rows for part in kernel.decode(batch)) == 20
        assert held_columns() <= before
    finally:
        gc.enable()


def held_columns():
    return sum(type(one) is ColumnValues for one in gc.get_objects())


@pytest.mark.parametrize("native", ["off", "eager"])
def test_names_that_another_subject_asks_for_are_told_apart_in_each_table(native, monkeypatch):
    """Messages of a connector of MySQL are those of OMS if its name is OMS, and else of nobody."""
    monkeypatch.setenv("CDC_CONTRACTS_NATIVE", native)
    reference, source = "ticdc/debezium@1", ("payload", "source")
    values = []
    for number, value in enumerate(messages(reference, 3, 8)):
        message = replaced(parse_message(value), (*source, "connector"), Token('"mysql"'))
        values.append(to_bytes(replaced(message, (*source, "name"), Token('"OMS"' if number % 2 else '"cdc"'))))
    assert unlike_columns(scope_of(reference), values) == []


@pytest.mark.parametrize("native", SETTINGS)
def test_shapes_that_come_again_are_told_from_those_that_come_once(native, monkeypatch):
    """Larger batches pay for the first; of the others they would only hold more."""
    monkeypatch.setenv("CDC_CONTRACTS_NATIVE", native)
    again, once = Kernel(scope_of(CANAL)), Kernel(scope_of(CANAL))
    values = messages(CANAL, 12, 30)
    found = []
    for cut in range(3):
        again.audit(batch_of_values(values[cut * 120 : cut * 120 + 120]))
        once.audit(batch_of_values([value.replace(b"own_", b"of_%d_" % cut) for value in values[:120]]))
        found.append((again.known_shapes, once.known_shapes))
    assert found == [(0, 0), (12, 0), (12, 0)]
    assert again.batch_size.rows > once.batch_size.rows


def test_shapes_of_messages_of_other_subjects_are_known_as_well():
    """A topic of many tables may be declared by ranges, or be mixed: what is dear is the shapes of its messages."""
    ranges = parse_versions({"topics": {"orders": {0: [{"contract": CANAL}]}}}, "v.yaml", CATALOGUE)
    kernel, values = Kernel(open_ranges(CATALOGUE, ranges, ReadingOptions())), messages(CANAL, 12, 20)
    for start in (0, 120):
        kernel.audit(batch_of_values(values[start : start + 120], start=start))
    assert kernel.known_shapes == 12


@pytest.mark.parametrize(
    ("reference", "options"),
    [("dts/avro@1", {}), (CANAL, {"wrapping": "base64"}), ("debezium/json-schema@4", {"schemas": WriterSchemas({})})],
)
def test_batches_of_values_that_are_opened_first_stay_small(reference, options):
    kernel = Kernel(open_validation(CATALOGUE, reference, ReadingOptions(**options)))
    kernel._validator._sorter.known_shapes = 100
    assert kernel.batch_size == BatchSize()


@pytest.mark.parametrize("native", SETTINGS)
@pytest.mark.parametrize("reference", [DEBEZIUM, MAXWELL, "oms-community/default@2"])
def test_columns_of_few_rows_are_counted_as_those_of_many(reference, native, monkeypatch):
    """Few rows are looked through together with those of other tables, many by themselves; in no case is one lost."""
    monkeypatch.setenv("CDC_CONTRACTS_NATIVE", native)
    values = messages(reference, 3, 60)

    def count(short, held):
        for module in (column_runs, written_columns):
            monkeypatch.setattr(module, "SHORT", short)
        monkeypatch.setattr(column_runs, "_MOST_HELD", held)
        kernel, total = Kernel(scope_of(reference)), Tally()
        for begin in range(0, len(values), 60):
            total.merge(kernel.audit(batch_of_values(values[begin : begin + 60], start=begin)))
        return total.statistics

    many = count(0, 2**17)
    assert sum(map(len, many.writing.seen.values())) >= 3 * 12
    for few in (count(10**6, 2**17), count(10**6, 1), count(25, 2**17)):
        assert (few.writing, few.options, few.substitutes) == (many.writing, many.options, many.substitutes)
