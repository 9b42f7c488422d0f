"""Constraints of table contracts besides types: NULL, keys and valid dates, on both paths, in every possible version."""

import json

import pytest
from record_batches import batch_of_values
from topics import CATALOGUE, rendered
from written_reports import build_report

from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.contract.table_contracts import TableContracts, parse_table_contract
from cdc_contracts.registry.core.engine.kernel import Kernel
from cdc_contracts.registry.core.generate.rendering import Renderer
from cdc_contracts.registry.core.generate.source_events import Event, SourceTable
from cdc_contracts.registry.core.stats.partition_tallies import Source
from cdc_contracts.registry.core.stats.reference_tally import account
from cdc_contracts.registry.core.validate.validation_context import open_validation

TABLE = SourceTable("orders", {"id": "bigint", "note": "varchar(60)", "day": "date"}, ("id",), database="shop")
ALL = [version.reference for version in CATALOGUE.all_versions()]
AT = 7


def promising(*, key=("id",), **columns):
    """The table of the streams as a user describes it."""
    reported = {name: {"type": source_type} for name, source_type in TABLE.types.items()}
    for name, more in columns.items():
        reported[name] |= more
    document = {"table": "shop.orders", "columns": reported, "primary_key": list(key)}
    names = ("shop.orders", "orders")  # some dialects name no database
    return ReadingOptions(
        tables=TableContracts(parse_table_contract({**document, "table": name}, "t.yaml") for name in names),
        table="shop.orders",
    )


def stream(reference, rows, reading_options):
    """One insert for each row."""
    renderer = Renderer(CATALOGUE.version(reference), reading_options)
    return [
        renderer.render(
            Event("insert", TABLE, None, row, 1_718_000_000_000_000 + number, 1_718_000_000_500_000, str(number + 1), "1")
        )
        for number, row in enumerate(rows)
    ]  # fmt: skip


def reported(values, reference, reading_options):
    """The findings of a stream, the same by both paths."""
    validation = open_validation(CATALOGUE, reference, reading_options)
    both = []
    for tally in (
        Kernel(validation).audit(batch_of_values(values)),
        account(validation, Source("orders", 0), enumerate(values)),
    ):
        report = build_report(
            tally, catalogue=CATALOGUE, contract=reference, source={"kind": "file"}, spans={}, fail_on="warning"
        )
        both.append([
            (one["rule"], one["severity"], one["path"].rpartition("/")[2], one["expected"], one["observed"],
             one["count"], one["first"]["offset"])
            for one in report["findings"]
            if one["count"] and one["class"] not in ("control-share", "precision")
        ])  # fmt: skip
    assert both[0] == both[1]
    return both[0]


def rows_until(change, count=12):
    """Rows of which the later ones are changed."""
    rows = [{"id": str(number), "note": "a word", "day": "2024-02-03"} for number in range(count)]
    return [{**row, **change} if number >= AT else row for number, row in enumerate(rows)]


@pytest.mark.one_in(2)
@pytest.mark.parametrize("reference", ALL)
def test_a_null_in_a_column_that_is_never_null_is_reported_in_every_version(reference):
    reading_options = promising(note={"nullable": False})
    values = stream(reference, rows_until({"note": None}), reading_options)
    assert reported(values, reference, reading_options) == [
        ("D11.not-null", "warning", "note", "a value", ["NULL"], 5, AT),
    ]  # fmt: skip
    assert reported(values, reference, promising()) == []


@pytest.mark.one_in(2)
@pytest.mark.parametrize("reference", ALL)
def test_rows_that_keep_what_is_promised_have_no_finding_in_any_version(reference):
    reading_options = promising(note={"nullable": False}, day={"nullable": False})
    assert reported(stream(reference, rows_until({}), reading_options), reference, reading_options) == []


def keyed(reference):
    place = CATALOGUE.version(reference).meaning.envelope.primary_key
    return place is not None and place.in_value is not None


@pytest.mark.parametrize("reference", [one for one in ALL if keyed(one)])
def test_a_key_that_the_messages_give_differently_is_reported_where_they_give_it(reference):
    reading_options = promising(key=("id", "note"))
    values = stream(reference, rows_until({}), reading_options)
    told_at = CATALOGUE.version(reference).meaning.envelope.primary_key.at.rpartition("/")[2]
    assert reported(values, reference, reading_options) == [
        ("D11.primary-key", "warning", told_at, "id, note", ["id"], 12, 0),
    ]  # fmt: skip


@pytest.mark.parametrize("reference", ["oms-community/shareplex@2", "oms/debezium-smt@1", "dts/canal@2", "oms/canal@1"])
def test_a_key_that_the_rows_lack_is_one_finding(reference):
    reading_options = promising(key=("note",))
    rows = rows_until({})
    for row in rows[AT:]:
        del row["note"]
    values = [without_key(value) for value in stream(reference, rows, reading_options)]
    found = [one for one in reported(values, reference, reading_options) if one[2] == "note"]
    assert [one[:3] + one[5:] for one in found if one[0].startswith("D11")] == [
        ("D11.primary-key", "warning", "note", 5, AT)
    ]


def without_key(value):
    """A message that does not tell the names of the key."""
    message = json.loads(value)
    message.pop("pkNames", None)
    for at in ("mysqlType", "sqlType"):
        for name in [name for name in message.get(at) or {} if message["data"] and name not in message["data"][0]]:
            del message[at][name]
    return json.dumps(message).encode()


KEEPING = [
    one
    for one in ALL
    if one.split("@")[0] in ("oms-community/canal", "oms-community/default", "oms/canal", "dts/canal", "oms/shareplex")
]


@pytest.mark.parametrize("reference", KEEPING)
@pytest.mark.parametrize(("day", "severity"), [("2024-02-30", "warning"), ("0000-00-00", "info")])
def test_a_date_that_does_not_exist_is_reported_where_one_is_declared(reference, day, severity):
    values = stream(reference, rows_until({}), promising())
    values[AT:] = [value.replace(b"2024-02-03", day.encode()) for value in values[AT:]]
    assert reported(values, reference, promising()) == [
        ("D07.no-such-time", severity, "day", "a date that exists", ["9999-99-99"], 5, AT),
    ]  # fmt: skip
    assert [one for one in reported(values, reference, ReadingOptions()) if one[0].startswith("D07")] == []


def test_rows_are_still_decoded_that_break_a_promise():
    reading_options = promising(key=("note",), note={"nullable": False})
    values = stream("dts/canal@2", rows_until({"note": None}), reading_options)
    (written,) = Kernel(open_validation(CATALOGUE, "dts/canal@2", reading_options)).decode(batch_of_values(values))
    assert (written.changes.num_rows, written.quarantine.num_rows) == (12, 0)


def test_streams_with_updates_and_deletes_break_no_promise(part):
    for reference in part(ALL, 4):
        values = rendered(reference, 80, table=TABLE, reading_options=promising())
        found = [one for one in reported(values, reference, promising(id={"nullable": False})) if one[0] != "D10"]
        assert found == [], reference
