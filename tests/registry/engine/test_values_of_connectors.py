"""Values that connectors write for types of PostgreSQL and MySQL, read by the types of a table contract.

Releases of the connector wrote them for the rows of a database, but for those of polygon, mood, tsquery and vector. Both
paths read them alike.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from output_rows import unlike_columns
from topics import CATALOGUE

from cdc_contracts.registry.core.common.errors import UsageError
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.contract.table_contracts import TableContracts, parse_table_contract
from cdc_contracts.registry.core.engine.kernel import Kernel
from cdc_contracts.registry.core.validate.validation_context import ValidationContext, open_validation

PLACEHOLDER = "__debezium_unavailable_value"
OPTIONS = {
    "time.precision.mode": "adaptive", "decimal.handling.mode": "precise", "hstore.handling.mode": "json",
    "interval.handling.mode": "numeric",
}  # fmt: skip
POSTGRESQL: list[tuple[str, Any, str]] = [
    ("real", "NaN", "NaN"),
    ("real", 1.4e-45, "1.4e-45"),
    ("double precision", "-Infinity", "-Infinity"),
    ("date", -2147472692, "-2147472692"),
    ("date", -2147472691, "-2147472691"),
    ("date", -735160, "-735160"),
    ("timestamp(3)", 9223372036825200, "9223372036825200"),
    ("timestamp(0)", -9223372036832400, "-9223372036832400"),
    ("timestamp(6)", 9223372036825200000, "9223372036825200000"),
    ("timestamp", -63517780799999999, "-63517780799999999"),
    ("timestamptz(6)", "infinity", "infinity"),
    ("timestamptz(6)", "-infinity", "-infinity"),
    ("timestamptz(6)", "-0043-03-15T12:00:00.500Z", "-0043-03-15T12:00:00.500Z"),
    ("money(19,2)", "f/////////8=", "92233720368547758.07"),
    ("interval", 37091106789000, "37091106789000"),
    ("polygon", {"wkb": "AQM=", "srid": None}, '{"wkb":"AQM=","srid":null}'),
    ("mood", "glad", "glad"),
    ("tsquery", 7, "7"),
]
MYSQL: list[tuple[str, Any, str]] = [
    ("year", 1900, "0000"),
    ("year", 2024, "2024"),
    ("vector(2)", [1.5, 2.0], "[1.5,2.0]"),
    ("uuid", "00112233-4455-6677-8899-aabbccddeeff", "00112233-4455-6677-8899-aabbccddeeff"),
]


def validation_of(types: list[str], more: dict[str, str], stated: dict[str, str] = OPTIONS) -> ValidationContext:
    columns = {f"c{number}": {"type": declared} for number, declared in enumerate(types)}
    tables = TableContracts([parse_table_contract({"table": "shop.things", "columns": columns}, "things.yaml")])
    return open_validation(CATALOGUE, "debezium/json@4", ReadingOptions(parameters=stated | more, tables=tables))


def message(connector: str, after: dict[str, Any], op: str = "c") -> bytes:
    times = {"ts_ms": 1_718_000_000_000, "ts_us": 1_718_000_000_000_000, "ts_ns": 1_718_000_000_000_000_000}
    source = {"version": "3.6.1.Final", "connector": connector, "name": "p", "snapshot": "false", **times}
    source |= {"db": "shop", "table": "things"}
    return json.dumps({"before": None, "after": after, "source": source, "op": op, **times}).encode()


@pytest.mark.parametrize("setting", ["off", "eager"])
@pytest.mark.parametrize(
    ("connector", "declared", "value", "text"),
    [("postgresql", *case) for case in POSTGRESQL] + [("mysql", *case) for case in MYSQL],
)
def test_a_value_of_a_connector_is_read_by_the_type_of_its_column(
    connector, declared, value, text, setting, monkeypatch
):
    monkeypatch.setenv("CDC_CONTRACTS_NATIVE", setting)
    validation = validation_of([declared], {})
    sent = message(connector, {"c0": value})
    (change,) = validation.validate(sent).changes
    assert change.after == {"c0": text}
    assert not unlike_columns(validation, [sent], Kernel(validation))


@pytest.mark.parametrize("setting", ["off", "eager"])
@pytest.mark.parametrize(
    ("declared", "value", "text"),
    [
        ("date", "2024-02-29Z", "2024-02-29"),
        ("date", "-0043-03-15Z", "-0043-03-15Z"),
        ("date", "-5877611-06-21Z", "-5877611-06-21Z"),
        ("timestamp(6)", "-0043-03-15T12:00:00.000001Z", "-0043-03-15T12:00:00.000001Z"),
        ("timestamp(0)", "+294247-01-10T04:00:25.2Z", "+294247-01-10T04:00:25.2Z"),
        ("timestamp(3)", "-290308-12-21T19:59:27.6Z", "-290308-12-21T19:59:27.6Z"),
    ],
)
def test_a_text_of_a_year_before_0000_or_after_9999_is_kept(declared, value, text, setting, monkeypatch):
    monkeypatch.setenv("CDC_CONTRACTS_NATIVE", setting)
    validation = validation_of([declared], {"time.precision.mode": "isostring"})
    sent = message("postgresql", {"c0": value})
    (change,) = validation.validate(sent).changes
    assert change.after == {"c0": text}
    assert not unlike_columns(validation, [sent], Kernel(validation))


@pytest.mark.parametrize(
    ("mode", "value", "text"),
    [
        ({}, 37091106789000, "37091106789000"),
        ({}, "P1Y2M3DT4H5M6.789S", "P1Y2M3DT4H5M6.789S"),
        ({"interval.handling.mode": "string"}, "P1Y2M3DT4H5M6.789S", "P1Y2M3DT4H5M6.789S"),
        ({"interval.handling.mode": "string"}, "P0Y0M0DT0H0M0S", "P0D"),
    ],
)
def test_an_interval_is_read_as_the_option_of_the_connector_says_or_as_it_was_sent(mode, value, text):
    validation = validation_of(["interval"], mode, stated={})
    sent = message("postgresql", {"c0": value})
    (change,) = validation.validate(sent).changes
    assert change.after == {"c0": text}
    assert not unlike_columns(validation, [sent], Kernel(validation))


@pytest.mark.parametrize("setting", ["off", "eager"])
@pytest.mark.parametrize(
    ("declared", "value"),
    [
        ("integer[]", [*PLACEHOLDER.encode()]),
        ("text[]", [PLACEHOLDER]),
        ("hstore", json.dumps({PLACEHOLDER: PLACEHOLDER}, separators=(",", ":"))),
        ("hstore", {PLACEHOLDER: PLACEHOLDER}),
        ("hstore", PLACEHOLDER),
        ("jsonb", PLACEHOLDER),
    ],
)
def test_a_placeholder_of_an_array_or_of_pairs_is_a_value_that_was_not_sent(declared, value, setting, monkeypatch):
    monkeypatch.setenv("CDC_CONTRACTS_NATIVE", setting)
    validation = validation_of([declared, "integer"], {})
    sent = message("postgresql", {"c0": value, "c1": 7}, op="u")
    (change,) = validation.validate(sent).changes
    assert change.after == {"c1": "7"}
    assert not unlike_columns(validation, [sent], Kernel(validation))


@pytest.mark.parametrize("setting", ["off", "eager"])
@pytest.mark.parametrize(
    ("value", "text", "broken"),
    [
        (-1, "18446744073709551615", []),
        (-9223372036854775808, "9223372036854775808", []),
        (9223372036854775807, "9223372036854775807", []),
        (0, "0", []),
        (9223372036854775808, None, ["D07.uint64-as-int64"]),
    ],
)
def test_the_upper_half_of_an_unsigned_bigint_is_read_from_negative_numbers(value, text, broken, setting, monkeypatch):
    monkeypatch.setenv("CDC_CONTRACTS_NATIVE", setting)
    validation = validation_of(["bigint(20) unsigned"], {"bigint.unsigned.handling.mode": "long"})
    sent = message("mysql", {"c0": value})
    validated = validation.validate(sent)
    assert [change.after for change in validated.changes] == ([] if text is None else [{"c0": text}])
    assert [one.rule for one in validated.verdict.findings if one.severity == "error"] == broken
    assert not unlike_columns(validation, [sent], Kernel(validation))


@pytest.mark.parametrize("setting", ["off", "eager"])
@pytest.mark.parametrize(
    ("declared", "digits", "text", "rules"),
    [
        ("money", {}, "AeJA", ["D07.no-scale"]),
        ("money", {"money.fraction.digits": "2"}, "1234.56", []),
        ("money", {"money.fraction.digits": "0"}, "123456", []),
        ("money", {"money.fraction.digits": "4"}, "12.3456", []),
        ("money(19,3)", {"money.fraction.digits": "2"}, "123.456", []),
        ("numeric", {"money.fraction.digits": "2"}, "AeJA", ["D06"]),
    ],
)
def test_money_has_the_digits_that_its_type_or_the_option_of_the_connector_says(
    declared, digits, text, rules, setting, monkeypatch
):
    monkeypatch.setenv("CDC_CONTRACTS_NATIVE", setting)
    validation = validation_of([declared], digits)
    sent = message("postgresql", {"c0": "AeJA"})
    validated = validation.validate(sent)
    assert [one.rule for one in validated.verdict.findings] == rules
    assert [change.after for change in validated.changes] == ([] if rules == ["D06"] else [{"c0": text}])
    assert not unlike_columns(validation, [sent], Kernel(validation))


def test_the_digits_of_money_are_a_number():
    with pytest.raises(UsageError, match="is not one of its values"):
        validation_of(["money"], {"money.fraction.digits": "two"})
