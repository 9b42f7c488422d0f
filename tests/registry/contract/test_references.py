"""What a reference may look like, and in which order releases and dates stand."""

from __future__ import annotations

import pytest

from cdc_contracts.registry.core.common.contract_references import ContractReference, parse_reference, release_order
from cdc_contracts.registry.core.common.errors import UsageError


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("dts/canal", ContractReference("dts", "canal", None)),
        ("dts/canal@2", ContractReference("dts", "canal", "2")),
        ("dts/canal@latest", ContractReference("dts", "canal", "latest")),
        ("dts/canal@2022-03-20", ContractReference("dts", "canal", "2022-03-20")),
        ("oms-community/default@3.3.0", ContractReference("oms-community", "default", "3.3.0")),
        ("oms-community/default@3.10", ContractReference("oms-community", "default", "3.10")),
    ],
)
def test_a_reference_is_read(text, expected):
    assert parse_reference(text) == expected
    assert str(expected) == text
    assert expected.subject == text.partition("@")[0]


@pytest.mark.parametrize(
    "text",
    ["", "dts", "dts/", "/canal", "dts/canal/x", "DTS/canal", "dts/canal@", "dts/canal@@2", "dts/canal@v2",
     "dts/canal@2022-3-20", "dts/canal@2020-99-99", "dts/canal@2022-02-30", "dts/canal@now", "dts canal", "dts/canal@2 ", "../canal", "dts/canal\n"],
)  # fmt: skip
def test_anything_else_is_refused(text):
    with pytest.raises(UsageError) as error:
        parse_reference(text)
    assert error.value.exit_code == 2


def test_releases_stand_in_the_order_of_their_numbers():
    releases = ["3.3.0", "3.10.0", "3.2.9", "3.3.0.1", "4.0"]
    assert sorted(releases, key=release_order) == ["3.2.9", "3.3.0", "3.3.0.1", "3.10.0", "4.0"]


def test_a_release_is_the_same_with_and_without_zeros_at_its_end():
    assert release_order("3.3") == release_order("3.3.0") == release_order("3.3.0.0")
    assert release_order("3.30") > release_order("3.3.1") > release_order("3.3")


def test_dates_stand_in_the_order_of_the_calendar():
    dates = ["2022-03-20", "2021-12-31", "2022-03-09"]
    assert sorted(dates, key=release_order) == ["2021-12-31", "2022-03-09", "2022-03-20"]
