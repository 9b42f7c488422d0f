"""Parts of a second in Avro: how large they are over many values says whether they count nanoseconds."""

import json
from dataclasses import replace
from random import Random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from avro_records import Written
from record_batches import batch_of_values
from topics import CATALOGUE, PLAIN, rendered, scope_of

from cdc_contracts.cli.app import main
from cdc_contracts.registry.core.engine.kernel import Kernel
from cdc_contracts.registry.core.report.audit_report import AppliedContract, ReadRange, build_report
from cdc_contracts.registry.core.report.report_formats import render
from cdc_contracts.registry.core.report.report_model import ReportSource
from cdc_contracts.registry.core.report.report_wording import notes
from cdc_contracts.registry.core.report.stored_reports import read_document
from cdc_contracts.registry.core.stats.partition_tallies import Source
from cdc_contracts.registry.core.stats.reference_tally import account
from cdc_contracts.registry.core.stats.second_parts import MOST_COLUMNS, PartsColumn, PartsOfColumn, SecondParts

OMS = "oms/avro@1"
SOURCE = {"sourceType": "MySQL", "version": "OBMySQL"}
COLUMNS = [
    {"name": name, "dataTypeNumber": number} for name, number in (("id", 8), ("at", 12), ("seen", 7), ("other", 12))
]


def context(**parameters):
    options = replace(PLAIN, parameters=parameters)
    return replace(scope_of(OMS), reading_options=options, made={})


def moment(part):
    return {"year": 2024, "month": 5, "day": 6, "hour": 12, "minute": 53, "second": 20, "millis": part}


def record(number, at, seen, other):
    values = [
        ("Integer", {"precision": 8, "value": f"{number}"}), ("DateTime", moment(at)),
        ("Timestamp", {"timestamp": 1_715_000_000, "millis": seen}), "NULL" if other is None else ("DateTime", moment(other)),
    ]  # fmt: skip
    return Written().record(values, COLUMNS, source=SOURCE, id=number)


def parts_of(tally):
    assert all(one[:2] == ("orders", "shop.orders") for one in tally.statistics.parts.columns)
    return {one.name: found for one, found in tally.statistics.parts.columns.items()}


def report_of(tally):
    source = ReportSource(kind="file")
    return build_report(tally, AppliedContract(CATALOGUE, OMS), ReadRange(source, {}), fail_on="error")


@pytest.mark.parametrize("native", ["eager", "off"])
@pytest.mark.parametrize("size", [1, 7, 100])
def test_both_paths_count_the_parts_of_a_second_however_records_are_cut(native, size, monkeypatch):
    monkeypatch.setenv("CDC_CONTRACTS_NATIVE", native)
    values = [record(n, n * 1000, 999_999_999 if n == 5 else n % 3, 10 if n % 10 == 0 else None) for n in range(30)]
    kernel, tally = Kernel(context()), None
    for start in range(0, len(values), size):
        part = kernel.audit(batch_of_values(values[start : start + size]))
        if tally is None:
            tally = part
        else:
            part.merge(tally)
            tally = part
    # at: 0 has no part; seen: 20 numbers below 30 are no multiples of three, 5 among them; other: 0, 10 and 20
    assert parts_of(tally) == {"at": (29, 29_000), "seen": (20, 999_999_999), "other": (3, 10)}
    assert tally.statistics.parts == account(context(), Source("orders", 0), enumerate(values)).statistics.parts
    assert tally.profiles is None


def test_microseconds_that_are_read_as_nanoseconds_are_named_with_the_parameter_that_reads_them():
    values = [record(n, 999_979 + n, (n + 1) * 1_000_000, n % 2) for n in range(20)]
    tally = Kernel(context()).audit(batch_of_values(values))
    report = report_of(tally)
    (note,) = [one for one in notes(report) if "Parts of a second" in one]
    assert "shop.orders, read as nanoseconds, are at most 999,998 in all 20 values of at that have one" in note
    assert note.endswith("--parameter avro_timestamp_fraction=micros reads them so.")
    found = {one.column: (one.topic, one.table, one.values, one.most) for one in report.parts}
    assert found == {
        "at": ("orders", "shop.orders", 20, 999_998), "other": ("orders", "shop.orders", 10, 1), "seen": ("orders", "shop.orders", 20, 20_000_000),
    }  # fmt: skip
    for ending in (".html", ".md", ".xml"):
        assert "avro_timestamp_fraction=micros" in render(report, ending), ending
    assert read_document(json.loads(render(report, ".json")), "report") == report


def test_the_first_columns_are_kept_in_full_however_parts_of_a_run_are_merged():
    names = [f"c{number:05}" for number in range(2 * MOST_COLUMNS + 500)]
    Random(7).shuffle(names)
    first = sorted(names)[:MOST_COLUMNS]

    for size in (1, 100, len(names)):
        total = SecondParts()
        for start in [*range(0, len(names), size)] * 2:
            part = SecondParts()
            for name in names[start : start + size]:
                part.add(PartsColumn("orders", "shop.orders", name), PartsOfColumn(2, start + 1))
            total.merge(part)
        kept = {column.name: found.values for column, found in total.kept()}
        assert kept == dict.fromkeys(first, 4)


@pytest.mark.parametrize(
    ("parts", "parameters"),
    [
        ([123_456] * 19, {}),
        ([123_456] * 40 + [1_000_000], {}),
        ([0] * 40, {}),
        ([123_456] * 40, {"avro_timestamp_fraction": "micros"}),
        ([123_456] * 40, {"avro_timestamp_fraction": "nanos"}),
    ],
    ids=["too few", "one that is no microsecond", "none", "read as microseconds", "nanoseconds by a parameter"],
)
def test_nothing_is_said_where_it_is_not_shown(parts, parameters):
    values = [record(n, part, 0, None) for n, part in enumerate(parts)]
    tally = Kernel(context(**parameters)).audit(batch_of_values(values))
    assert sum(one.conforming for one in tally.partitions.values()) == len(parts)
    assert not any("Parts of a second" in one for one in notes(report_of(tally)))


@pytest.mark.parametrize("command", ["audit", "check", "decode"])
def test_every_command_that_reads_messages_says_it_without_a_profile(command, tmp_path, capsys):
    values = [record(n, 999_979, 0, None) for n in range(20)]
    source = tmp_path / "orders.parquet"
    pq.write_table(pa.Table.from_batches([batch_of_values(values)]), source)
    options = {
        "audit": ["--engine", "local"],
        "check": [],
        "decode": ["--engine", "local", "--to", str(tmp_path / "to")],
    }
    named = [command, *(["file"] if command != "check" else []), str(source), "--contract", OMS, *options[command]]
    assert main(named) == 0
    output = capsys.readouterr()
    assert "--parameter avro_timestamp_fraction=micros reads them so." in " ".join((output.out + output.err).split())


def test_both_paths_count_the_parts_of_samples_and_of_no_other_contract(part):
    for version in part(CATALOGUE.all_versions(), 5):
        scope = scope_of(version.reference)
        values = rendered(version.reference, 40)
        tally = Kernel(scope).audit(batch_of_values(values))
        expected = account(scope, Source("orders", 0), enumerate(values)).statistics.parts
        assert tally.statistics.parts == expected, version
        assert bool(expected.columns) == (version.reference == OMS), version
