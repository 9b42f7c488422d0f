"""A year as text: 0 or 0000, or 1901 to 2155."""

from cdc_contracts.registry.core.values import integers
from cdc_contracts.registry.core.values.form_schemas import TEXT, text_like
from cdc_contracts.registry.core.values.value_form import Examples, ValueForm

FORM = ValueForm(
    "year-text",
    "year",
    TEXT,
    schema=text_like(integers.YEAR.pattern),
    reader=integers.read_year,
    examples=Examples(good=(('"2024"', "2024"),), bad=('"00"', '"000"', '"1900"')),
)
