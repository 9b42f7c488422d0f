"""A year as a number: 0, or 1901 to 2155; no YEAR is 1900, which stands for 0000 and is noted."""

from cdc_contracts.registry.core.values import integers
from cdc_contracts.registry.core.values.form_schemas import NUMBER, at_least
from cdc_contracts.registry.core.values.value_form import Examples, NativeCheck, ValueForm

FORM = ValueForm(
    "year-number-or-1900",
    "year",
    NUMBER,
    decoder="int",
    schema=at_least(0),
    reader=integers.read_year_or_1900,
    writer=integers.write_year_number,
    native=(NativeCheck("INTEGERS", integers.FIRST_YEAR, integers.LAST_YEAR),),
    examples=Examples(
        good=(("2024", "2024"), ("0", "0000"), ("1900", "0000"), ("1901", "1901"), ("2155", "2155")),
        bad=("1899", "2156", "1", "-1"),
    ),
)
