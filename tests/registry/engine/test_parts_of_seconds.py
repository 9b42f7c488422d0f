"""Parts of a second in Avro: how large they are over many values says whether they count nanoseconds."""

from dataclasses import replace

import pytest
from avro_records import Written
from msgspec import UNSET
from record_batches import batch_of_values
from topics import CATALOGUE, PLAIN, scope_of

from cdc_contracts.registry.engine.kernel import Kernel
from cdc_contracts.registry.report.audit_report import build_report
from cdc_contracts.registry.report.report_model import ReportSource
from cdc_contracts.registry.report.report_wording import notes
from cdc_contracts.registry.stats.partition_tallies import Source
from cdc_contracts.registry.stats.reference_tally import account

OMS = "oms/avro@1"
SOURCE = {"sourceType": "MySQL", "version": "OBMySQL"}
COLUMNS = [
    {"name": name, "dataTypeNumber": number} for name, number in (("id", 8), ("at", 12), ("seen", 7), ("other", 12))
]


def context(**parameters):
    options = replace(PLAIN, profiled=True, parameters=parameters)
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
    (table,) = tally.profiles.tables.values()
    return {name: (one.with_nanos, one.most_nanos) for name, one in table.columns.items()}


def report_of(tally):
    source = ReportSource(kind="file")
    return build_report(
        tally, catalogue=CATALOGUE, contract=OMS, source=source, spans={}, fail_on="error", profiled=True
    )


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
    assert parts_of(tally) == {"id": (0, 0), "at": (29, 29_000), "seen": (20, 999_999_999), "other": (3, 10)}
    assert tally.profiles == account(context(), Source("orders", 0), enumerate(values)).profiles


def test_microseconds_that_are_read_as_nanoseconds_are_named_with_the_parameter_that_reads_them():
    values = [record(n, 999_979 + n, (n + 1) * 1_000_000, n % 2) for n in range(20)]
    tally = Kernel(context()).audit(batch_of_values(values))
    report = report_of(tally)
    (note,) = [one for one in notes(report) if "Parts of a second" in one]
    assert "shop.orders, read as nanoseconds, are at most 999,998 in all 20 values of at that have one" in note
    assert note.endswith("--parameter avro_timestamp_fraction=micros reads them so.")
    columns = {one.name: one for one in report.profile[0].tables[0].columns}
    assert (columns["at"].with_nanos, columns["at"].most_nanos) == (20, 999_998)
    assert columns["id"].with_nanos is UNSET


@pytest.mark.parametrize(
    ("parts", "parameters"),
    [
        ([123_456] * 19, {}),
        ([123_456] * 40 + [1_000_000], {}),
        ([0] * 40, {}),
        ([123_456] * 40, {"avro_timestamp_fraction": "micros"}),
    ],
    ids=["too few", "one that is no microsecond", "none", "read as microseconds"],
)
def test_nothing_is_said_where_it_is_not_shown(parts, parameters):
    values = [record(n, part, 0, None) for n, part in enumerate(parts)]
    tally = Kernel(context(**parameters)).audit(batch_of_values(values))
    assert sum(one.conforming for one in tally.partitions.values()) == len(parts)
    assert not any("Parts of a second" in one for one in notes(report_of(tally)))
