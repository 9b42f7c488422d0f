"""The options that real producers were run with are found out from what they wrote, as far as the values tell."""

import json
from copy import deepcopy
from random import Random

import pytest
from producers.captures import list_captures, read_records
from producers.decoded_captures import (
    DEFAULTS,
    DIALECTS,
    last_tables,
    mode_of,
    named_as_in_topics,
    stated_options,
    table_in_topic,
    values_of,
)
from producers.test_captures import name_of, reference_of
from record_batches import batch_of, batch_of_values
from topics import CATALOGUE
from written_reports import build_report

from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.contract.table_contracts import TableContracts, parse_table_contract
from cdc_contracts.registry.core.engine.kernel import Kernel
from cdc_contracts.registry.core.stats.finding_tallies import FindingKey
from cdc_contracts.registry.core.stats.tally import Tally
from cdc_contracts.registry.core.validate.validation_context import open_validation

CAPTURES = [
    one for one in list_captures() if one.product == "debezium" and not one.has_schema_block and not one.is_framed
]
ALIKE = {
    "bytes": {"bytes", "base64"},
    "base64": {"bytes", "base64"},
    "adaptive": {"adaptive", "adaptive_time_microseconds", "microseconds", "nanoseconds"},
    "adaptive_time_microseconds": {"adaptive", "adaptive_time_microseconds", "microseconds", "nanoseconds"},
    "connect": {"adaptive", "adaptive_time_microseconds", "connect", "microseconds", "nanoseconds"},
}
"""The values of an option that write the values of these captures alike, besides those that nothing else writes so.

In a smaller unit every moment is one that is nearer to 1970, so that numbers rule out larger units only.
"""


def kernel_of(capture, parameters, table=None, defaults=None):
    contracts = deepcopy(last_tables(capture.database))
    for one in contracts:
        for name, default in (defaults or {}).get(one["table"].rpartition(".")[2], {}).items():
            one["columns"][name]["default"] = default
    contracts = contracts if table is None else named_as_in_topics(contracts)
    tables = [parse_table_contract(one, f"{one['table']}.yaml") for one in contracts]
    options = ReadingOptions(tables=TableContracts(tables), parameters=parameters | mode_of(capture), table=table)
    return Kernel(open_validation(CATALOGUE, reference_of(capture), options))


def audit(capture, values, parameters, table=None):
    return kernel_of(capture, parameters, table).audit(batch_of_values(values))


def audit_capture(capture):
    """Audit all records of a capture; rows that name no schema of their table, topic by topic."""
    records = read_records(capture)
    if not capture.is_flattened:
        return audit(capture, values_of(records), {})
    topics = {}
    for record in records:
        topics.setdefault(table_in_topic(record), []).append(record)
    total = Tally()
    for table, found in topics.items():
        total.merge(audit(capture, values_of(found), {}, table))
    return total


def changes_in(tally, reference):
    report = build_report(tally, catalogue=CATALOGUE, contract=reference, spans={}, fail_on="error")
    found = [{**one, **column} for one in report["findings"] if one["rule"] == "D03.option"
             for column in one.get("columns", [one])]  # fmt: skip
    return [(one["first"]["offset"], one["expected"], *one["observed"]) for one in found]


@pytest.mark.one_in(5)
@pytest.mark.parametrize("capture", CAPTURES, ids=name_of)
def test_options_are_found_out_from_the_messages_alone(capture):
    tally = audit_capture(capture)

    found = {one.option: set(one.values) for one in tally.statistics.options.options()}
    stated = DEFAULTS[capture.database] | stated_options(capture)
    assert found.keys() == stated.keys()
    for option, value in stated.items():
        assert value in found[option]
        assert found[option] <= ALIKE.get(value, {value})
    assert changes_in(tally, reference_of(capture)) == []


@pytest.mark.one_in(2)
@pytest.mark.parametrize("native", ["off", "eager"])
@pytest.mark.parametrize("database", DIALECTS)
@pytest.mark.parametrize(("options", "left"), [("nulls", ("false",)), ("defaults", ("false", "true"))])
def test_null_in_a_column_whose_default_a_table_contract_states_is_not_replaced(
    database, options, left, native, monkeypatch
):
    monkeypatch.setenv("CDC_CONTRACTS_NATIVE", native)
    run = ("3.5.0", database, options)
    capture = next(one for one in CAPTURES if (one.version, one.database, one.options) == run)
    values = values_of(read_records(capture))

    tally = kernel_of(
        capture, {}, defaults={"orders_full" if database == "postgresql" else "orders": {"extra": "7"}}
    ).audit(batch_of_values(values))

    found = {one.option: one for one in tally.statistics.options.options()}["replace.null.with.default"]
    table = {"postgresql": "shop.public.orders_full", "mariadb": "shop.orders"}[database]
    assert (found.values, found.names, found.of_null) == (left, (f"{table}.extra",), True)
    assert changes_in(tally, reference_of(capture)) == []


@pytest.mark.one_in(12)
@pytest.mark.parametrize("capture", [one for one in CAPTURES if not one.is_flattened], ids=name_of)
def test_two_orders_and_1_7_and_400_cuts_of_the_same_messages_find_the_same_options(capture, part):
    kernel, found = kernel_of(capture, {}), []
    records = [(0, offset, value) for offset, value in enumerate(values_of(read_records(capture)))]
    shuffled = Random(1).sample(records, len(records))
    others = part([(shuffled, 400), (records, 7), (shuffled, 1), (records, 400), (shuffled, 7)], 3)
    for order, cuts in [(records, 1), *others]:
        total = Tally()
        for start in range(min(cuts, len(order))):
            total.merge(kernel.audit(batch_of(order[start::cuts])))
        found.append((list(total.statistics.options.options()), list(total.statistics.options.runs())))
    assert found[0][0]
    assert found == [found[0]] * (1 + len(others))


@pytest.mark.parametrize("database", DIALECTS)
def test_an_option_changed_in_mid_topic_is_told_with_the_offset_of_the_change(database):
    first, second = (
        next(one for one in CAPTURES if (one.version, one.database, one.options) == ("3.5.0", database, options))
        for options in ("texts", "doubles")
    )
    values = [values_of(read_records(one)) for one in (first, second)]

    tally = audit(first, [*values[0], *values[1]], {})

    changes = changes_in(tally, reference_of(first))
    told = {one[1:] for one in changes}
    assert ("decimal.handling.mode=string", "decimal.handling.mode=double") in told
    assert ("binary.handling.mode=base64 or bytes", "binary.handling.mode=hex") in told
    assert {offset >= len(values[0]) for offset, *_ in changes} == {True}


@pytest.mark.parametrize("database", DIALECTS)
@pytest.mark.parametrize(
    ("written", "modes"),
    [
        (("texts", "doubles"), ("connect", "adaptive_time_microseconds")),
        (("doubles", "texts"), ("adaptive_time_microseconds", "connect")),
    ],
)
def test_a_unit_of_time_changed_in_mid_topic_is_told_though_all_counts_are_dates(database, written, modes):
    captures = [
        next(one for one in CAPTURES if (one.version, one.database, one.options) == ("3.5.0", database, options))
        for options in written
    ]
    values = [values_of(read_records(one)) for one in captures]

    tally = audit(captures[0], [*values[0], *values[1]], {})

    told = [one for one in changes_in(tally, reference_of(captures[0])) if one[1].startswith("time.precision.mode=")]
    assert told
    for offset, before, *after in told:
        assert offset >= len(values[0])
        assert modes[0] in before.partition("=")[2].split(" or ")
        assert {modes[1] in one.partition("=")[2].partition(",")[0].split(" or ") for one in after} == {True}
    found = {one.option: one for one in tally.statistics.options.options()}["time.precision.mode"]
    assert (found.values, {*modes} <= {*found.left}) == ((), True)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("database", DIALECTS)
@pytest.mark.parametrize(
    ("written", "stated", "table", "column"),
    [
        ("texts", {"decimal.handling.mode": "double"}, "orders", "total"),
        ("doubles", {"decimal.handling.mode": "string"}, "orders", "total"),
        ("doubles", {"decimal.handling.mode": "precise"}, "numbers", "price"),
        ("isostrings", {"time.precision.mode": "connect"}, "times", "moment_6"),
        ("texts", {"time.precision.mode": "isostring"}, "times", "moment_3"),
    ],
)
def test_a_capture_read_by_the_options_of_another_run_is_drift(database, written, stated, table, column):
    run = ("3.5.0", database, written)
    capture = next(one for one in CAPTURES if (one.version, one.database, one.options) == run)
    values = values_of(read_records(capture))

    tally = audit(capture, values, stated)

    qualified = {"postgresql": f"shop.public.{table}", "mariadb": f"shop.{table}"}[database]
    (extent,) = tally.findings[FindingKey("type-change", "D06", f"/after/{column}", qualified)].extents.values()
    assert extent.first.offset == first_value(values, table, column)


def first_value(values, table, column):
    """Return the offset of the first message of a table with a value of a column, by plain reading."""
    messages = [json.loads(value) if value is not None else {} for value in values]
    return next(
        offset
        for offset, message in enumerate(messages)
        if (message.get("source") or {}).get("table") == table and (message.get("after") or {}).get(column) is not None
    )
