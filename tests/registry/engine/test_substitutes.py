"""Values that a producer also sends in place of others: NULL as the default of a column, dates that do not exist."""

from __future__ import annotations

import json
from itertools import product

import pytest
from default_values import DEFAULTS, message_with_defaults, sample_of
from record_batches import batch_of
from topics import CATALOGUE

from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.contract.table_contracts import TableContracts, parse_table_contract
from cdc_contracts.registry.core.engine.kernel import Kernel
from cdc_contracts.registry.core.stats.partition_tallies import Source
from cdc_contracts.registry.core.stats.reference_tally import account
from cdc_contracts.registry.core.stats.tally import Tally
from cdc_contracts.registry.core.validate.validation_context import open_validation
from cdc_contracts.registry.core.values import FORMS, Context, Flag, Number, Value


def both(reference, values, options):
    """What batches and single messages show of the same values."""
    validation = open_validation(CATALOGUE, reference, options)
    slow = account(validation, Source("orders", 0), enumerate(values))
    kernel, fast = Kernel(validation), Tally()
    for first in range(0, len(values), 50):
        cut = values[first : first + 50]
        fast.merge(kernel.audit(batch_of([(0, first + number, value) for number, value in enumerate(cut)])))
    assert fast.statistics.substitutes == slow.statistics.substitutes
    assert fast.statistics.options == slow.statistics.options
    return fast


def found_in(tally):
    return {
        (rows.at, name, *substitute): (stretch.count, stretch.first.offset)
        for rows, name, substitute, stretch in tally.statistics.substitutes.found()
    }


@pytest.mark.parametrize("native", ["off", "eager"])
@pytest.mark.parametrize("optional", [True, False])
def test_defaults_are_counted_where_the_column_may_be_null(native, optional, monkeypatch):
    monkeypatch.setenv("CDC_CONTRACTS_NATIVE", native)
    rows = [*product(*([*others, default] for _, default, *others in DEFAULTS.values()))] * 8
    values = [message_with_defaults(row, optional=optional) for row in rows]

    found = found_in(both("debezium/json-schema@2", values, ReadingOptions()))

    wanted = {
        ("/payload/after", name, "the default of the column", "NULL"): (
            sum(row[place] == default for row in rows),
            next(number for number, row in enumerate(rows) if row[place] == default),
        )
        for place, (name, (_, default, *_)) in enumerate(DEFAULTS.items())
    }
    assert found == (wanted if optional else {})


@pytest.mark.parametrize("native", ["off", "eager"])
@pytest.mark.parametrize(
    ("stated", "counted"), [(None, "all"), ("true", "nulls"), ("false", "none"), ("false,true", "all")]
)
def test_null_where_a_column_has_a_default_says_that_it_is_not_replaced(native, stated, counted, monkeypatch):
    monkeypatch.setenv("CDC_CONTRACTS_NATIVE", native)
    rows = [(7, "old", True), (8, None, True), (None, None, False)] * 20
    values = [message_with_defaults(row, optional=True) for row in rows]
    options = ReadingOptions(parameters={} if stated is None else {"replace.null.with.default": stated})

    tally = both("debezium/json-schema@2", values, options)

    either, not_replaced = ("false", "true"), ("false",)
    every = {
        ("qty", either): (40, 0), ("qty", not_replaced): (20, 2), ("name", either): (20, 0),
        ("name", not_replaced): (40, 1), ("open", either): (60, 0),
    }  # fmt: skip
    wanted = every if counted == "all" else {key: every[key] for key in every if key[1] == not_replaced}
    assert {
        (name, allowed.values): (stretch.count, stretch.first.offset)
        for columns in tally.statistics.options.seen.values()
        for name, column in columns.items()
        for allowed, stretch in column.items()
    } == (wanted if counted != "none" else {})
    refuted = {(one.name, one.before, one.after, one.stretch.count) for one in tally.statistics.options.changes()}
    assert refuted == (
        {("qty", ("true",), ("false",), 20), ("name", ("true",), ("false",), 40)} if stated == "true" else set()
    )
    assert tally.outcomes["conforming"] == 60


@pytest.mark.parametrize("native", ["off", "eager"])
def test_a_first_of_1970_of_mysql_is_counted_and_read(native, monkeypatch):
    monkeypatch.setenv("CDC_CONTRACTS_NATIVE", native)
    table = {"table": "shop.orders", "columns": {"id": {"type": "int"}, "day": {"type": "date"}}}
    tables = TableContracts([parse_table_contract(table, "orders.yaml")])
    options = ReadingOptions(tables=tables, parameters={"time.precision.mode": "connect"})
    message = sample_of("debezium/json@2", "insert-from-mysql")
    values = [json.dumps({**message, "after": {"id": 1, "day": day}}).encode() for day in (1, 0, -1, None) * 30]

    tally = both("debezium/json@2", values, options)

    assert found_in(tally) == {("/after", "day", "0", "0000-00-00"): (30, 1)}
    assert tally.outcomes["conforming"] == 120
    (change,) = open_validation(CATALOGUE, "debezium/json@2", options).validate(values[1]).changes
    assert (change.after["day"], change.invalid) == ("1970-01-01", [])


@pytest.mark.parametrize("native", ["off", "eager"])
def test_an_integer_zero_with_a_sign_is_counted_as_the_zero_that_it_is_read_as(native, monkeypatch):
    """A check of such a message ended with an error."""
    monkeypatch.setenv("CDC_CONTRACTS_NATIVE", native)
    message = sample_of("debezium/json-schema@2", "insert-from-mysql")
    field = {"type": "int64", "optional": True, "default": 0, "field": "qty"}
    for place in (0, 1):
        message["schema"]["fields"][place]["fields"] = [field]
    values = [json.dumps({**message, "payload": {**message["payload"], "after": {"qty": 99}}}).encode()] * 3
    values = [value.replace(b"99", token) for value, token in zip(values, (b"1", b"-0", b"0"), strict=True)]

    found = found_in(both("debezium/json-schema@2", values, ReadingOptions()))

    assert found == {("/payload/after", "qty", "the default of the column", "NULL"): (2, 1)}


def test_a_message_that_does_not_conform_counts_no_substitutes():
    value = message_with_defaults((7, "old", False), optional=True).replace(b'"op": "c"', b'"op": "?"')

    assert not found_in(both("debezium/json-schema@2", [value], ReadingOptions()))


def test_a_substitute_has_its_own_canonical_text_and_only_a_value_of_the_form_is_one():
    context = Context(substitutes=(("0", "0000-00-00"), ("x", "NULL")))

    assert FORMS["days-since-epoch"].read(Number("0"), context) == Value("1970-01-01", Flag.SUBSTITUTE)
    assert FORMS["days-since-epoch"].read(Number("1"), context) == Value("1970-01-02")
    assert FORMS["text"].read("x", context) == Value("x", Flag.SUBSTITUTE)
    assert FORMS["text"].read("y", context) == Value("y")
