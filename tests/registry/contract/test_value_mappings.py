"""Value mappings: the form of a type under one value of an option, and under several of which one holds."""

import pytest
from topics import CATALOGUE

from cdc_contracts.registry.core.common.errors import UsageError
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.contract.value_mappings import AS_SENT, known_options

MYSQL = CATALOGUE.mapping("debezium-mysql")
BYTES, TIMES = "binary.handling.mode", "time.precision.mode"


@pytest.mark.parametrize(
    ("stated", "forms"),
    [
        ({}, {"blob": AS_SENT, "date": AS_SENT, "datetime(6)": AS_SENT, "int": "integer-number"}),
        ({BYTES: "hex"}, {"blob": "hex-lower", "date": AS_SENT}),
        ({BYTES: "base64,bytes"}, {"blob": "base64", "date": AS_SENT}),
        ({BYTES: "base64,hex"}, {"blob": AS_SENT}),
        ({TIMES: "connect,microseconds"}, {"date": "days-since-epoch", "datetime(6)": AS_SENT, "time": AS_SENT}),
        ({TIMES: "adaptive_time_microseconds,connect"}, {"datetime(3)": "millis-wallclock", "datetime(6)": AS_SENT}),
        ({TIMES: "adaptive_time_microseconds,microseconds"}, {"datetime(6)": "micros-wallclock", "datetime": AS_SENT}),
        ({TIMES: "connect,isostring"}, {"date": AS_SENT}),
    ],
)
def test_a_type_has_the_form_that_all_values_left_of_its_option_write(stated, forms):
    mapping = MYSQL.given(stated)
    assert {name: mapping.form_of(name) for name in forms} == forms
    for name, form in forms.items():
        assert bool(mapping.options_of(name)) == (form == AS_SENT), name


def test_a_value_that_the_option_does_not_have_is_refused_among_others():
    options = ReadingOptions(parameters={BYTES: "base64,hexx"})
    with pytest.raises(UsageError, match="hexx"):
        options.check_options(known_options([MYSQL]))
