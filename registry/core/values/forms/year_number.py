"""A year as a number: 0, or 1901 to 2155."""

from cdc_contracts.registry.core.values import integers
from cdc_contracts.registry.core.values.form_schemas import NUMBER, at_least
from cdc_contracts.registry.core.values.value_form import Examples, ValueForm

FORM = ValueForm(
    "year-number",
    "year",
    NUMBER,
    decoder="int",
    schema=at_least(0),
    reader=integers.read_year,
    writer=integers.write_year_number,
    examples=Examples(good=(("2024", "2024"),), bad=("1", "1900", "2156"), edges=("1901", "2155", "2024")),
)
