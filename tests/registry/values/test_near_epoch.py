"""Counts near 1970: those that in a smaller unit are moments of that time, and in a larger one of another."""

import json

import pytest
from option_messages import CONTRACT, SAMPLE, options_of
from record_batches import batch_of_values
from topics import CATALOGUE

from cdc_contracts.registry.core.engine.kernel import Kernel
from cdc_contracts.registry.core.validate.validation_context import open_validation
from cdc_contracts.registry.core.values import FORMS, Context, Number
from cdc_contracts.registry.core.values.near_epoch import near_epoch

MONTHS = {
    "millis-wallclock": (-2_678_400_000, 2_678_399_999),
    "epoch-millis-instant": (-2_678_400_000, 2_678_399_999),
    "micros-wallclock": (-2_678_400_000_000, 2_678_399_999_999),
    "epoch-micros-instant": (-2_678_400_000_000, 2_678_399_999_999),
    "nanos-wallclock": (-2_678_400_000_000_000, 2_678_399_999_999_999),
    "epoch-nanos-instant": (-2_678_400_000_000_000, 2_678_399_999_999_999),
}
"""The first and last count of the 31 days on each side of 1970-01-01, of 86,400 seconds each."""


@pytest.mark.parametrize("name", MONTHS)
def test_counts_near_1970_are_those_of_a_month_on_each_side(name):
    form, (first, last) = near_epoch(FORMS[name]), MONTHS[name]
    read = [form.reads(Number(str(count)), Context()) for count in (first - 1, first, 0, last, last + 1)]
    assert read == [False, True, True, True, False]


@pytest.mark.parametrize("name", ["days-since-epoch", "micros-of-day", "iso-wallclock-z", "integer-number", "text"])
def test_what_counts_no_moments_has_none(name):
    assert near_epoch(FORMS[name]) is None


@pytest.mark.parametrize(
    ("token", "near"),
    [
        ("2678399999999", ["microseconds", "nanoseconds"]),
        ("2678400000000", ["nanoseconds"]),
        ("-2678400000000", ["microseconds", "nanoseconds"]),
        ("-2678400000001", ["nanoseconds"]),
        ("2678400000000000", []),
        ("0", ["connect", "microseconds", "nanoseconds"]),
        ("-0", ["connect", "microseconds", "nanoseconds"]),
        ("1718000000000250000", []),
        ("9223372036854775807", []),
    ],
)
@pytest.mark.parametrize("native", ["off", "eager"])
def test_each_count_is_near_1970_in_the_units_in_which_it_is(token, near, native, monkeypatch):
    monkeypatch.setenv("CDC_CONTRACTS_NATIVE", native)
    text = json.dumps({**SAMPLE, "after": {"id": 1, "made": 0}}).replace('"made": 0', f'"made": {token}')
    values = [text.encode()] * 40  # as many as are scanned

    tally = Kernel(open_validation(CATALOGUE, CONTRACT, options_of())).audit(batch_of_values(values))

    (columns,) = tally.statistics.options.seen.values()
    ((allowed, stretch),) = columns["made"].items()
    assert stretch.count == 40
    assert [value for value in allowed.near if not value.startswith("adaptive")] == [
        value for value in near if value in allowed.values
    ]
