"""A date, `YYYY-MM-DDZ`."""

from cdc_contracts.registry.core.values import dates
from cdc_contracts.registry.core.values.form_schemas import DATE, FAR_DATE, TEXT, text_like
from cdc_contracts.registry.core.values.value_form import Examples, NativeCheck, ValueForm

FORM = ValueForm(
    "iso-date-z",
    "date",
    TEXT,
    schema=text_like(DATE + "Z"),
    reader=dates.read_date_z,
    writer=dates.write_z,
    native=(NativeCheck("DATE_Z"),),
    examples=Examples(
        good=(('"2024-02-29Z"', "2024-02-29"),), bad=('"2024-02-29"', '"2024-02-29z"', '"2023-02-29Z"', '"Z"')
    ),
    kept_text=f"{FAR_DATE}Z",
)
