"""Likely counts: those that are moments between 1980 and 2054 in their unit, and of no such time in another."""

import json

import pytest
from option_messages import CONTRACT, SAMPLE, options_of
from record_batches import batch_of_values
from topics import CATALOGUE

from cdc_contracts.registry.core.engine.kernel import Kernel
from cdc_contracts.registry.core.validate.validation_context import open_validation
from cdc_contracts.registry.core.values import FORMS, Context, Number
from cdc_contracts.registry.core.values.likely_counts import likely_counts

SPANS = {
    "millis-wallclock": (315_532_800_000, 2_678_399_999_999),
    "epoch-millis-instant": (315_532_800_000, 2_678_399_999_999),
    "micros-wallclock": (315_532_800_000_000, 2_678_399_999_999_999),
    "epoch-micros-instant": (315_532_800_000_000, 2_678_399_999_999_999),
    "nanos-wallclock": (315_532_800_000_000_000, 2_678_399_999_999_999_999),
    "epoch-nanos-instant": (315_532_800_000_000_000, 2_678_399_999_999_999_999),
}
"""The first and last count from 1980-01-01, 3,652 days behind 1970-01-01, to before 31,000 days, of 86,400 seconds each."""


@pytest.mark.parametrize("name", SPANS)
def test_likely_counts_are_those_from_1980_to_2054(name):
    form, (first, last) = likely_counts(FORMS[name]), SPANS[name]
    read = [form.reads(Number(str(count)), Context()) for count in (first - 1, first, last, last + 1, 0, -first)]
    assert read == [False, True, True, False, False, False]


@pytest.mark.parametrize("name", ["days-since-epoch", "micros-of-day", "iso-wallclock-z", "integer-number", "text"])
def test_what_counts_no_moments_has_none(name):
    assert likely_counts(FORMS[name]) is None


@pytest.mark.parametrize(
    ("token", "likely"),
    [
        ("315532799999", []),
        ("315532800000", ["connect"]),
        ("2678399999999", ["connect"]),
        ("2678400000000", []),
        ("315532800000000", ["adaptive_time_microseconds", "microseconds"]),
        ("1718000000000250", ["adaptive_time_microseconds", "microseconds"]),
        ("1718000000000250000", ["nanoseconds"]),
        ("253402300799000", []),
        ("253402300799000000", []),
        ("28800000000", []),
        ("28800000000000", []),
        ("-1718000000000", []),
        ("0", []),
        ("-0", []),
        ("9223372036854775807", []),
    ],
)
@pytest.mark.parametrize("native", ["off", "eager"])
def test_each_count_is_likely_in_one_unit_or_none(token, likely, native, monkeypatch):
    """28,800 seconds behind 1970-01-01 is a midnight to the west; 253,402,300,799 are the last of the year 9999."""
    monkeypatch.setenv("CDC_CONTRACTS_NATIVE", native)
    text = json.dumps({**SAMPLE, "after": {"id": 1, "made": 0}}).replace('"made": 0', f'"made": {token}')
    values = [text.encode()] * 40  # as many as are scanned

    tally = Kernel(open_validation(CATALOGUE, CONTRACT, options_of())).audit(batch_of_values(values))

    (columns,) = tally.statistics.options.seen.values()
    ((allowed, stretch),) = columns["made"].items()
    assert (stretch.count, [*allowed.likely]) == (40, likely)
