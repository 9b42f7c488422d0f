"""Options of a producer that nobody states are found out from many messages, in any order and however they are cut."""

import json
from functools import cache
from random import Random

import pytest
from option_messages import BYTES, CONTRACT, DECIMALS, SAMPLE, TABLE, TIMES, message, options_of
from record_batches import batch_of
from topics import CATALOGUE
from written_reports import build_report, notes

from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.contract.table_contracts import TableContracts, parse_table_contract
from cdc_contracts.registry.core.contract.version_files import parse_versions
from cdc_contracts.registry.core.engine.kernel import Kernel
from cdc_contracts.registry.core.stats.option_evidence import allowed_by, open_columns
from cdc_contracts.registry.core.stats.partition_tallies import Source
from cdc_contracts.registry.core.stats.reference_tally import account
from cdc_contracts.registry.core.stats.tally import Tally
from cdc_contracts.registry.core.validate.described_contexts import open_ranges
from cdc_contracts.registry.core.validate.form_selection import TypedColumns
from cdc_contracts.registry.core.validate.validation_context import open_validation
from cdc_contracts.registry.core.values import Number

SMALLER_UNITS = ("adaptive_time_microseconds", "microseconds", "nanoseconds")
PRICES = [None, None, "1234", {"scale": 1, "value": "fA=="}, [1], True, "NaN", 1234, ""]


@cache
def without_options():
    """The context in which no option of the producer is stated."""
    return open_validation(CATALOGUE, CONTRACT, options_of(None))


def audited(records, parameters=None):
    stated = open_validation(CATALOGUE, CONTRACT, options_of(parameters)) if parameters else without_options()
    return Kernel(stated).audit(batch_of(records))


def report_of(tally):
    return build_report(
        tally, catalogue=CATALOGUE, contract=CONTRACT, source={"kind": "file"}, spans={}, fail_on="warning"
    )


def found_in(tally):
    return {one.option: one.values for one in tally.statistics.options.options()}


def option_findings(report):
    found = [one for one in report["findings"] if one["rule"] == "D03.option"]
    return [(column["path"], one["first"]["offset"], one["expected"], one["observed"])
            for one in found for column in one.get("columns", [one])]  # fmt: skip


@pytest.mark.parametrize("decimals", DECIMALS)
def test_one_message_tells_how_decimals_are_written_if_its_value_does(decimals):
    assert found_in(audited([(0, 0, message(decimals))]))["decimal.handling.mode"] == (decimals,)


def test_a_text_of_digits_is_a_decimal_or_base64_until_another_value_tells():
    digits, decided = message(price="1234"), message(price="12.5")

    assert found_in(audited([(0, 0, digits)]))["decimal.handling.mode"] == ("precise", "string")
    assert found_in(audited([(0, 0, digits), (0, 1, decided)]))["decimal.handling.mode"] == ("string",)


@pytest.mark.parametrize(
    ("times", "left"),
    [
        ("isostring", ("isostring",)),
        ("adaptive_time_microseconds", SMALLER_UNITS),
        ("microseconds", SMALLER_UNITS),
        ("nanoseconds", ("nanoseconds",)),
        ("connect", ("adaptive_time_microseconds", "connect", "microseconds", "nanoseconds")),
    ],
)
def test_a_number_of_a_moment_rules_out_the_units_in_which_no_date_is_that_late(times, left):
    assert found_in(audited([(0, 0, message(times=times))]))["time.precision.mode"] == left


@pytest.mark.parametrize(
    ("marks", "left"),
    [
        ("hex", ("base64", "base64-url-safe", "bytes", "hex")),
        ("base64", ("base64", "base64-url-safe", "bytes")),
        ("base64-url-safe", ("base64-url-safe",)),
        ("bytes", ("base64", "bytes")),
    ],
)
def test_what_no_value_can_tell_stays_undecided(marks, left):
    assert found_in(audited([(0, 0, message(marks=marks))]))["binary.handling.mode"] == left


def test_an_option_that_is_stated_is_not_looked_for():
    tally = audited([(0, 0, message("string"))], {"decimal.handling.mode": "string"})

    assert sorted(found_in(tally)) == ["binary.handling.mode", "time.precision.mode"]


def test_a_count_of_a_time_of_day_rules_out_no_unit_however_large_it_is():
    """Releases before 2.5 wrote -838:59:59 so: more than 838 hours in microseconds, and fewer in nanoseconds."""
    found = found_in(audited([(0, 0, message(times="microseconds", late=-3_020_399_000_000_000))]))

    assert found["time.precision.mode"] == SMALLER_UNITS


def test_null_says_nothing_and_a_column_without_a_type_neither():
    row = {"id": 1, "price": None, "extra": "12.5"}

    assert found_in(audited([(0, 0, json.dumps({**SAMPLE, "after": row}).encode())])) == {}


@pytest.mark.parametrize("price", [True, "NaN", {"scale": 2}])
def test_a_value_that_no_option_writes_says_nothing(price):
    tally = audited([(0, 0, message("string")), (0, 1, message(price=price)), (0, 2, message("string"))])

    assert found_in(tally)["decimal.handling.mode"] == ("string",)
    assert option_findings(report_of(tally)) == []


@pytest.mark.parametrize(
    ("declared", "value", "left"),
    [
        ("timestamp(6)", 9223372036825200000, ("adaptive", *SMALLER_UNITS)),
        ("timestamp(3)", 9223372036825200, ("adaptive", "adaptive_time_microseconds", "connect", *SMALLER_UNITS[1:])),
        ("timestamp(6)", "-0043-03-15T12:00:00.5Z", ("isostring",)),
        ("date", "-5877611-06-21Z", ("isostring",)),
    ],
)
def test_a_value_that_stands_for_no_time_is_one_of_the_option_that_writes_it(declared, value, left):
    mapping = CATALOGUE.mapping("debezium-postgresql")
    (column,) = open_columns(TypedColumns({"made": declared}, "table", None, mapping))
    assert allowed_by(column, Number(str(value)) if isinstance(value, int) else value).values == left


def changing(partitions, draw):
    """Sixty messages in each partition, whose decimals are Base64 up to offset 29, and text from there on."""
    records = [
        (partition, offset, message("precise" if offset < 30 else "string", draw.choice(["connect", "microseconds"])))
        for partition in range(partitions)
        for offset in range(60)
    ]
    draw.shuffle(records)
    return records


@pytest.mark.parametrize("partitions", [1, 3])
@pytest.mark.parametrize("cuts", [1, 7, 60])
def test_a_change_in_mid_topic_is_told_with_its_offset_however_the_messages_are_cut(partitions, cuts):
    draw = Random(partitions * 100 + cuts)
    records = changing(partitions, draw)
    parts = [audited(records[start::cuts]) for start in range(cuts)]
    draw.shuffle(parts)
    tally = Tally()
    for part in parts:
        tally.merge(part)

    report = report_of(tally)

    assert option_findings(report) == [
        ("/after/price", 30, "decimal.handling.mode=precise", ["decimal.handling.mode=string"])
    ]
    assert report["verdict"] == "drift"
    assert found_in(tally)["decimal.handling.mode"] == ()
    assert found_in(tally)["time.precision.mode"] == SMALLER_UNITS


@pytest.mark.parametrize("cuts", [1, 4])
def test_every_value_since_a_change_counts_and_is_told_once_whether_its_row_was_loaded_or_changed(cuts):
    records = [
        (0, offset, message("string" if offset < 20 else "double", op="r" if offset % 4 == 1 else "c"))
        for offset in range(60)
    ]
    tally = Tally()
    for start in range(cuts):
        tally.merge(audited(records[start::cuts]))

    found = [one for one in report_of(tally)["findings"] if one["severity"] != "info" or one["class"] == "table-schema"]

    assert [(one["rule"], one["count"], one["first"]["offset"]) for one in found] == [("D03.option", 40, 20)]


def test_the_fast_path_sees_what_the_reference_sees():
    draw = Random(4)
    values = [
        message(
            draw.choice([*DECIMALS]), draw.choice([*TIMES]), draw.choice([*BYTES]), draw.choice([None, None, "1234"])
        )
        for _ in range(80)
    ]
    validation = open_validation(CATALOGUE, CONTRACT, options_of())

    slow = account(validation, Source("orders", 0), enumerate(values))

    fast = audited([(0, offset, value) for offset, value in enumerate(values)])
    assert fast.statistics.options == slow.statistics.options
    assert slow.statistics.options.seen


def test_the_report_names_the_options_and_how_to_state_them():
    tally = audited([(0, offset, message("string", "connect", "bytes")) for offset in range(20)])

    said = [one for one in notes(report_of(tally)) if one.startswith("Option")]

    of_orders = "Option of the producer of orders: "
    assert said == [
        of_orders
        + "binary.handling.mode may be base64 or bytes (1 column, 20 values). Read as sent: shop.orders.mark.",
        of_orders + "decimal.handling.mode=string (1 column, 20 values). "
        "--parameter decimal.handling.mode=string reads them so.",
        of_orders + "time.precision.mode may be adaptive_time_microseconds or connect or microseconds or nanoseconds "
        "(3 columns, 60 values). Read as sent: shop.orders.day, shop.orders.late, shop.orders.made.",
    ]


@pytest.mark.parametrize(
    ("written", "runs"),
    [
        ("ppp?ss", [(("precise",), 0, 29), (("string",), 40, 59)]),
        ("pp?pss", [(("precise",), 0, 39), (("string",), 40, 59)]),
        ("psspss", [(("precise",), 0, 9), ((), 10, 39), (("string",), 40, 59)]),
        ("pssspp", [(("precise",), 0, 9), ((), 10, 59)]),
        ("??ssdd", [(("string",), 0, 39), (("double",), 40, 59)]),
        ("ppssdd", [(("precise",), 0, 19), (("string",), 20, 39), (("double",), 40, 59)]),
    ],
)
def test_parts_of_a_partition_are_those_that_no_value_rules_out(written, runs, part):
    """Ten messages for each letter: precise, string, double, or a text that is of the first two."""
    modes = {"p": "precise", "s": "string", "d": "double", "?": None}
    records = []
    for place, letter in enumerate(written):
        value = message(modes[letter] or "string", price=None if modes[letter] else "1234")
        records += [(0, 10 * place + number, value) for number in range(10)]
    Random(written).shuffle(records)
    for cuts in part((1, 7, 60), 3):
        tally = Tally()
        for start in range(cuts):
            tally.merge(audited(records[start::cuts]))

        found = [one for one in tally.statistics.options.runs() if one.option == "decimal.handling.mode"]

        assert [(one.values, one.first, one.last) for one in found] == runs


UNITS = {
    "connect": "connect", "microseconds": "adaptive_time_microseconds or microseconds", "nanoseconds": "nanoseconds",
}  # fmt: skip
"""The values of time.precision.mode under which a DATETIME(6) of 2024 in milli-, micro- or nanoseconds is one of 2024."""
OF_1970 = ", or moments within a month of 1970-01-01"


def audited_in_parts(records, cuts, draw):
    draw.shuffle(records)
    parts = [audited(records[start::cuts]) for start in range(cuts)]
    draw.shuffle(parts)
    tally = Tally()
    for part in parts:
        tally.merge(part)
    return tally


@pytest.mark.parametrize("native", ["off", "eager"])
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("nanoseconds", "connect"), ("nanoseconds", "microseconds"), ("microseconds", "connect"),
        ("connect", "microseconds"), ("connect", "nanoseconds"), ("microseconds", "nanoseconds"),
    ],
)  # fmt: skip
def test_a_unit_of_time_that_changes_is_told_though_counts_of_both_are_dates(before, after, native, part, monkeypatch):
    monkeypatch.setenv("CDC_CONTRACTS_NATIVE", native)
    draw = Random(before + after)
    for partitions, cuts in part([(1, 1), (3, 7), (1, 60), (3, 1)], 2):
        records = [
            (partition, offset, message(times=before if offset < 30 else after))
            for partition in range(partitions)
            for offset in range(60)
        ]

        tally = audited_in_parts(records, cuts, draw)

        told = {(path, offset, expected.partition("=")[2], observed[0].partition("=")[2])
                for path, offset, expected, observed in option_findings(report_of(tally))}  # fmt: skip
        assert told == {("/after/made", 30, UNITS[before], UNITS[after] + OF_1970)}
        assert found_in(tally)["time.precision.mode"] == ()
        runs = [one for one in tally.statistics.options.runs() if one.option == "time.precision.mode"]
        assert [(one.first, one.last) for one in runs] == [(0, 29), (30, 59)] * partitions
        assert {"nanoseconds" in one.values for one in runs} == {True}  # which alone no value rules out


@pytest.mark.parametrize(
    "january",
    [[10, 40], [0, 20, 59], [0, *range(20, 40)]],
)
def test_dates_of_january_1970_among_others_are_no_change_of_unit(january):
    """In microseconds, 1970-01-20 21:13:20 is 1718000000000, which in milliseconds is 2024-06-10 06:13:20."""
    records = [(0, offset, message(times="connect" if offset in january else "microseconds")) for offset in range(60)]

    tally = audited_in_parts(records, 7, Random(5))

    assert option_findings(report_of(tally)) == []
    assert found_in(tally)["time.precision.mode"] == SMALLER_UNITS


def test_another_column_that_goes_on_in_its_unit_speaks_against_a_change():
    def both(made, seen):
        table = {**TABLE, "columns": {**TABLE["columns"], "seen": {"type": "datetime(6)"}}}
        return table, json.dumps({**SAMPLE, "after": {"id": 1, "made": TIMES[made], "seen": TIMES[seen]}}).encode()

    table, _ = both("connect", "connect")
    options = ReadingOptions(tables=TableContracts([parse_table_contract(table, "orders.yaml")]))
    kernel = Kernel(open_validation(CATALOGUE, CONTRACT, options))
    records = [(0, at, both("microseconds" if at < 30 else "connect", "microseconds")[1]) for at in range(60)]

    tally = kernel.audit(batch_of(records))

    assert option_findings(report_of(tally)) == []
    assert found_in(tally)["time.precision.mode"] == SMALLER_UNITS


@pytest.mark.parametrize("count", [0, 1_000, 86_400_000])
def test_moments_near_1970_in_every_unit_say_nothing_of_a_change(count):
    """Zero stands for zero dates; 1,000 and 86,400,000 are moments of 1970-01-01 or 02 in each unit."""
    row = {"id": 1, "made": count}
    records = [
        (0, offset, json.dumps({**SAMPLE, "after": row}).encode() if offset < 30 else message(times="microseconds"))
        for offset in range(60)
    ]

    tally = audited_in_parts(records, 7, Random(6))

    assert option_findings(report_of(tally)) == []
    assert found_in(tally)["time.precision.mode"] == SMALLER_UNITS


HOUR = 3_600
PER_SECOND = {"microseconds": 10**6, "nanoseconds": 10**9}


@pytest.mark.parametrize("said", ["nothing", "stated", "sampled"])
@pytest.mark.parametrize("hours", [-14, -8, 1, 8, 12])
@pytest.mark.parametrize("unit", PER_SECOND)
@pytest.mark.parametrize("written", ["ED", "DE", "EEEED", "DEEEE", "EEEE", "E"])
def test_midnight_of_1970_in_another_zone_is_a_usual_default_and_no_change_of_unit(written, unit, hours, said):
    """E is the default, of rows that were not deleted yet, D a date of 2024."""
    defaulted = json.dumps({**SAMPLE, "after": {"id": 1, "made": -hours * HOUR * PER_SECOND[unit]}}).encode()
    values = [defaulted if letter == "E" else message(times=unit) for letter in written]
    records = [(0, offset, value) for offset, value in enumerate(values)]
    option = {"time.precision.mode": unit}
    validation = open_validation(CATALOGUE, CONTRACT, options_of(option if said == "stated" else None))
    validation = validation.stating(option) if said == "sampled" else validation

    assert option_findings(report_of(Kernel(validation).audit(batch_of(records)))) == []


def test_the_report_says_that_what_a_versions_file_leaves_open_has_to_be_stated():
    records = [(0, offset, message(times="nanoseconds" if offset < 2 else "connect")) for offset in range(4)]

    (found,) = [one for one in report_of(audited(records))["findings"] if one["rule"] == "D03.option"]

    assert "State what the file leaves open; `decode --versions versions.yaml` then reads each part" in found["action"]


@pytest.mark.parametrize("cuts", [1, 7])
@pytest.mark.parametrize(
    ("before", "after", "observed"),
    [("nanoseconds", "connect", "connect"), ("nanoseconds", "microseconds", UNITS["microseconds"])],
)
def test_a_column_with_dates_of_january_1970_does_not_hide_that_the_unit_of_the_others_changes(
    before, after, observed, cuts
):
    """Of twenty people in turn, one was born at noon of 1970-01-05, or 388,800 seconds behind 1970-01-01."""
    table = {**TABLE, "columns": {**TABLE["columns"], "born": {"type": "datetime(6)"}}}
    options = ReadingOptions(tables=TableContracts([parse_table_contract(table, "orders.yaml")]))
    seconds = {"connect": 10**3, "microseconds": 10**6, "nanoseconds": 10**9}
    records = []
    for offset in range(60):
        unit = before if offset < 30 else after
        born = seconds[unit] * (388_800 if offset % 20 == 10 else 500_000_000 + 10_000_000 * offset)
        records.append(
            (0, offset, json.dumps({**SAMPLE, "after": {"id": 1, "made": TIMES[unit], "born": born}}).encode())
        )
    kernel, tally = Kernel(open_validation(CATALOGUE, CONTRACT, options)), Tally()
    for start in range(cuts):
        tally.merge(kernel.audit(batch_of(records[start::cuts])))

    told = [(path, offset, expected, seen) for path, offset, expected, (seen, *_) in option_findings(report_of(tally))]

    assert told == [("/after/made", 30, "time.precision.mode=nanoseconds", f"time.precision.mode={observed}{OF_1970}")]


@pytest.mark.parametrize(("before", "after"), [("nanoseconds", "connect"), ("connect", "microseconds")])
def test_units_of_which_each_partition_has_one_decide_none(before, after):
    """The option changed between the last record of one partition and the first of another."""
    records = [
        (partition, offset, message(times=(before, after)[partition])) for partition in (0, 1) for offset in (0, 1)
    ]

    tally = audited(records)

    assert found_in(tally)["time.precision.mode"] == ()
    (said,) = [one for one in notes(report_of(tally)) if "time.precision.mode" in one]
    assert "time.precision.mode changes (3 columns, 12 values)" in said


@pytest.mark.parametrize("native", ["off", "eager"])
@pytest.mark.parametrize("stated", ["microseconds", "adaptive_time_microseconds,microseconds"])
def test_a_larger_unit_than_a_parameter_states_is_told_where_it_begins(stated, native, monkeypatch):
    monkeypatch.setenv("CDC_CONTRACTS_NATIVE", native)
    records = [(0, at, message(times="microseconds" if at < 30 else "connect")) for at in range(60)]

    report = report_of(audited(records, {"time.precision.mode": stated}))

    expected = f"time.precision.mode={UNITS['microseconds']}"
    assert option_findings(report) == [("/after/made", 30, expected, ["time.precision.mode=connect" + OF_1970])]
    assert not [one for one in notes(report) if "time.precision.mode" in one]


def test_a_parameter_is_believed_where_values_of_one_unit_alone_speak_against_it():
    records = [(0, at, message(times="connect")) for at in range(60)]

    assert option_findings(report_of(audited(records, {"time.precision.mode": "microseconds"}))) == []


@pytest.mark.parametrize(
    ("written", "offset"),
    [(["connect"] * 20, 0), (["nanoseconds"] * 5 + ["connect"] * 15, 5), (["connect", "nanoseconds"] * 10, None),
     (["nanoseconds"] * 20, None)],
)  # fmt: skip
def test_what_a_sample_decided_is_not_believed_where_all_moments_are_near_1970(written, offset):
    validation = open_validation(CATALOGUE, CONTRACT, options_of()).stating({"time.precision.mode": "nanoseconds"})
    records = [(0, at, message(times=times)) for at, times in enumerate(written)]

    found = option_findings(report_of(Kernel(validation).audit(batch_of(records))))

    assert (
        [one[1:] for one in found] == []
        if offset is None
        else [(offset, "time.precision.mode=nanoseconds", ["time.precision.mode=connect" + OF_1970])]
    )


def test_units_that_ranges_state_one_after_the_other_are_no_change():
    ranges = parse_versions(
        {"topics": {"orders": {0: [
            {"to": 30, "contract": CONTRACT, "options": {"time.precision.mode": "microseconds"}},
            {"from": 30, "contract": CONTRACT, "options": {"time.precision.mode": "connect"}},
        ]}}},
        "versions.yaml", CATALOGUE,
    )  # fmt: skip
    records = [(0, at, message(times="microseconds" if at < 30 else "connect")) for at in range(60)]
    validation = open_ranges(CATALOGUE, ranges, options_of())

    assert option_findings(report_of(Kernel(validation).audit(batch_of(records)))) == []
