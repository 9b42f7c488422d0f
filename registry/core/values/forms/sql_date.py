"""A date, `YYYY-MM-DD`."""

from cdc_contracts.registry.core.values import dates
from cdc_contracts.registry.core.values.form_schemas import DATE, TEXT, text_like
from cdc_contracts.registry.core.values.value_form import Examples, NativeCheck, ValueForm

FORM = ValueForm(
    "sql-date",
    "date",
    TEXT,
    schema=text_like(DATE),
    reader=dates.read_date,
    native=(NativeCheck("DATE"),),
    examples=Examples(
        good=(('"2024-06-10"', "2024-06-10"),),
        bad=('"2020-1-1"', '"20201125"', '"2020/11/25"'),
        edges=("1970-01-01", "2024-02-29", "9999-12-31", "1000-01-01"),
    ),
)
