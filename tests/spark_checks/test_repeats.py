"""Rows that a source sent again: counted, named, and left out of typed tables only where that is asked for."""

import json
from itertools import pairwise

import jsonschema
import pyarrow.parquet as pq
import pytest
from msgspec import structs
from topics import rendered, scope_of
from written_reports import document_of

from cdc_contracts.registry.core.report.report_model import TableRepeats
from cdc_contracts.registry.core.report.stored_reports import report_schema
from cdc_contracts.spark_checks.decoding import Origin, Output, decode_input
from cdc_contracts.spark_checks.inputs.file_inputs import read_files
from cdc_contracts.spark_checks.kafka.offsets import parse_range
from cdc_contracts.spark_checks.runs.repeats import NO_REPEATS, add_repeats
from cdc_contracts.spark_checks.table_readers import table_files
from cdc_contracts.spark_checks.tables.typed_tables import WriteKey

CONTRACT = "dts/canal@2"
"""Its positions rise, or stay within a transaction."""


@pytest.fixture
def decode(engine, tmp_path):
    def run(messages, out, *, window=("earliest", "latest"), contract=CONTRACT, key=None, **options):
        path = tmp_path / "a.jsonl"
        path.write_bytes(b"\n".join(messages) + b"\n")
        source = read_files([path], parse_range(*window), tasks=2)
        output = Output(str(tmp_path / out), **options)
        return decode_input(engine, source, scope_of(contract), output, fail_on="error", origin=Origin(key))

    return run


def at_position(message, position):
    return json.dumps(json.loads(message) | {"id": position}).encode()


def typed_offsets(out):
    rows = [row for one in table_files(str(out)) for row in pq.read_table(one.path, partitioning=None).to_pylist()]
    return sorted(row["_offset"] for row in rows)


def written(decoded, out, table):
    paths = [out / part.path for part in decoded.record.files_of(table)]
    return [row for path in paths for row in pq.read_table(path, partitioning=None).to_pylist()]


def test_a_stretch_that_was_sent_again_is_counted_named_and_dropped_on_request(decode, tmp_path):
    lines = rendered(CONTRACT, 30)
    messages = lines[:20] + lines[12:]
    kept, dropped = decode(messages, "kept"), decode(messages, "dropped", drop_duplicates=True)
    for decoded, gone in ((kept, 0), (dropped, 8)):
        reported = document_of(decoded.report)["repeats"]
        assert (reported["rows"], reported["dropped"], reported["compared_with"]) == (8, gone, [])
        assert reported["tables"] == [
            {"table": "shop.orders", "topic": "a.jsonl", "partition": 0, "rows": 8, "offset": 20, "first_offset": 12}
        ]
        assert decoded.record.repeats == decoded.report.repeats
        jsonschema.validate(document_of(decoded.report), report_schema())
        (ledger,) = written(decoded, tmp_path / ("dropped" if gone else "kept"), "ledger")
        assert (ledger["changes"], ledger["repeated"], ledger["dropped"]) == (38, 8, gone)
    pairs = [(row["offset"], row["first_offset"]) for row in written(kept, tmp_path / "kept", "repeats")]
    assert sorted(pairs) == [(20 + number, 12 + number) for number in range(8)]
    assert typed_offsets(tmp_path / "kept") == list(range(38))
    assert typed_offsets(tmp_path / "dropped") == [*range(20), *range(28, 38)]
    assert len(written(dropped, tmp_path / "dropped", "changes")) == 38
    assert not (tmp_path / "dropped" / "unrepeated").exists() or not list(
        (tmp_path / "dropped" / "unrepeated").iterdir()
    )


def test_rows_that_an_earlier_run_has_read_are_repeated_too(decode, tmp_path):
    lines = rendered(CONTRACT, 30)
    messages = lines[:20] + lines[12:]
    first = decode(messages, "out", window=("earliest", "offset:20"))
    second = decode(messages, "out", window=("offset:20", "latest"), drop_duplicates=True)
    assert first.report.repeats.rows == 0
    assert (second.report.repeats.rows, second.report.repeats.compared_with) == (8, (first.run,))
    assert typed_offsets(tmp_path / "out") == [*range(20), *range(28, 38)]


@pytest.mark.nightly
def test_the_batches_of_a_stream_report_together_what_one_run_reports(decode):
    lines = rendered(CONTRACT, 8)
    messages = [*lines, lines[4]]  # the last row of the first batch is sent again, the second batch lies between
    cuts = (0, 5, 8, 9)
    batches = [
        decode(messages, "stream", window=(f"offset:{first}", f"offset:{last}"), key=WriteKey("query", number))
        for number, (first, last) in enumerate(pairwise(cuts))
    ]
    whole = decode(messages, "whole").report.repeats
    assert whole.tables == (
        TableRepeats(table="shop.orders", topic="a.jsonl", partition=0, rows=1, offset=8, first_offset=4),
    )
    assert [one.report.repeats.compared_with for one in batches] == [(), (), (batches[0].run,)]
    reported = NO_REPEATS
    for one in batches:
        reported = add_repeats(reported, structs.replace(one.report.repeats, compared_with=()))
    assert reported == whole


def test_a_row_that_changes_to_and_fro_within_a_transaction_is_no_repeat_until_it_is_sent_again(decode, tmp_path):
    there, back, other = rendered(CONTRACT, 3)
    fro = [at_position(line, 7) for line in (there, back, there)]
    once = decode([*fro, at_position(other, 8)], "o[1]{a}*?")
    assert once.report.repeats.rows == 0
    twice = decode([*fro, at_position(other, 8), *fro], "t[w]i{c}e")
    pairs = [(row["offset"], row["first_offset"]) for row in written(twice, tmp_path / "t[w]i{c}e", "repeats")]
    assert sorted(pairs) == [(4, 0), (5, 1), (6, 2)]


def test_other_rows_at_a_position_that_came_again_are_no_repeats(decode):
    lines = rendered(CONTRACT, 6)
    positions = [5, 6, 7, 5, 6, 7]
    decoded = decode([at_position(line, position) for line, position in zip(lines, positions, strict=True)], "out")
    assert document_of(decoded.report)["repeats"] == {"rows": 0, "dropped": 0, "compared_with": [], "tables": []}
