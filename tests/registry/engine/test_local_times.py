"""Local times that clocks skip or show twice: kept as sent, named and noted, on every path from message to typed table."""

from __future__ import annotations

from itertools import product

import pyarrow as pa
import pytest
from both_paths import by_fast_path, by_reference, shown
from output_rows import records_of
from topics import CATALOGUE

from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.contract.table_contracts import TableContracts, parse_table_contract
from cdc_contracts.registry.core.engine.fast_validator import FastValidator
from cdc_contracts.registry.core.engine.kernel import Kernel
from cdc_contracts.registry.core.generate.rendering import Renderer
from cdc_contracts.registry.core.generate.source_events import Event, SourceTable
from cdc_contracts.registry.core.stats.observed_columns import ObservedColumns
from cdc_contracts.registry.core.tables.canonical.layout_resolution import resolve_layouts
from cdc_contracts.registry.core.tables.canonical.typed_rows import split_by_table, type_rows
from cdc_contracts.registry.core.validate.validation_context import open_validation

TABLE = SourceTable("times", {"id": "bigint", "at": "timestamp(6)", "seen": "datetime(6)"}, ("id",), database="shop")
VERSIONS = [
    version
    for version in CATALOGUE.all_versions()
    if isinstance(version.meaning.values.mapping, str)
    and CATALOGUE.mapping(version.meaning.values.mapping).form_of("timestamp(6)") == "sql-datetime-instant"
]
BERLIN = {
    "2021-03-28 01:59:59.999999": "2021-03-28T00:59:59.999999Z",
    "2021-03-28 02:00:00": None,
    "2021-03-28 02:30:00.25": None,
    "2021-03-28 02:59:59.999999": None,
    "2021-03-28 03:00:00": "2021-03-28T01:00:00Z",
    "2020-10-25 01:59:59.5": "2020-10-24T23:59:59.5Z",
    "2020-10-25 02:00:00": None,
    "2020-10-25 02:30:00": None,
    "2020-10-25 03:00:00": "2020-10-25T02:00:00Z",
    "2021-06-01 12:00:00": "2021-06-01T10:00:00Z",
}
SHANGHAI = {
    "1991-04-14 02:30:00": None,  # the last summer of China with another clock
    "1991-09-15 01:30:00": None,
    "1991-09-15 02:00:00": "1991-09-14T18:00:00Z",
    "2021-03-28 02:30:00": "2021-03-27T18:30:00Z",
}
PLACES = {"Europe/Berlin": BERLIN, "Asia/Shanghai": SHANGHAI}


def options(zone: str, told: str) -> ReadingOptions:
    if told == "parameter":
        return ReadingOptions(parameters={"timestamp_zone": zone})
    columns = {name: {"type": source_type} for name, source_type in TABLE.types.items()}
    names = ("shop.times", "times")
    return ReadingOptions(
        tables=TableContracts(
            parse_table_contract({"table": name, "columns": columns, "source_time_zone": zone}, "t.yaml")
            for name in names
        )
    )


def messages(version, texts) -> list[bytes]:
    renderer = Renderer(version, ReadingOptions())
    rows = [
        {"id": str(n), "at": text.replace(" ", "T"), "seen": text.replace(" ", "T")} for n, text in enumerate(texts)
    ]
    at = 1_718_000_000_000_000
    return [renderer.render(Event("insert", TABLE, None, row, at, at, str(int(row["id"]) + 1), "1")) for row in rows]


@pytest.mark.one_in(4)
@pytest.mark.parametrize("native", ["off", "eager"])
@pytest.mark.parametrize(
    ("version", "zone", "told"),
    [
        (version, zone, told)
        for version, zone, told in product(VERSIONS, PLACES, ["parameter", "table contract"])
        if told != "parameter" or version.meaning.columns.types != "none"  # then only a table contract says a type
    ],
    ids=str,
)
def test_a_local_time_that_is_no_single_instant_is_kept_as_sent(version, zone, told, native, part, monkeypatch):
    monkeypatch.setenv("CDC_CONTRACTS_NATIVE", native)
    expected, repeats = PLACES[zone], 40  # enough of each for the native part
    texts = [text for text in expected for _ in range(repeats)]
    reading_options, values = options(zone, told), messages(version, texts)
    validation = open_validation(CATALOGUE, version.reference, reading_options)

    audited = FastValidator(validation).validate(values, texts=False)
    noted = sum(
        len(group.record_group.numbers)
        for group in audited.group_results
        for finding in group.verdict.findings
        if finding.rule == "D07.no-single-instant"
    )
    assert noted == repeats * sum(instant is None for instant in expected.values())
    validated = zip(texts, by_fast_path(FastValidator(validation), values), values, strict=True)
    for text, fast, value in part(validated, 9):
        reference = by_reference([validation], value)[0]
        assert shown(fast) == shown(reference)
        assert fast.outcome == "conforming"
        notes = [(one.rule, one.severity, one.path[-2:]) for one in fast.findings if one.name == "value-form"]
        assert notes == ([] if expected[text] else [("D07.no-single-instant", "info", "at")])
        (change,) = validation.validate(value).changes
        assert change.after["at"] == (expected[text] or text)
        assert change.after["seen"] == text.replace(" ", "T")
        assert change.invalid == ([] if expected[text] else ["at"])

    observed, changes = ObservedColumns(), []
    for written in Kernel(validation).decode(records_of(values)):
        observed.merge(written.observed)
        changes += pa.Table.from_batches([written.changes]).to_batches()
    (rows,) = [batch for _, batch in split_by_table(pa.Table.from_batches(changes).combine_chunks().to_batches()[0])]
    (layout,) = resolve_layouts({}, TableContracts(()), observed, {}).values()
    typed = type_rows(rows, layout)[0]
    after = typed.column("after")
    for text, kept, raw, row in zip(
        texts, rows.column("invalid").to_pylist(), typed.column("_raw").to_pylist(), after.to_pylist(), strict=True
    ):
        instant = expected[text]
        assert kept == ([] if instant else ["at"])
        assert dict(raw) == ({} if instant else {"after.at": text})
        assert (row["at"] is None) == (instant is None)
        if row["at"] is not None:
            shown_at = row["at"].strftime("%Y-%m-%dT%H:%M:%S.%f").rstrip("0").rstrip(".") + "Z"
            assert shown_at == instant
