"""An instant, `YYYY-MM-DD HH:mm:ssZ` with up to nine digits of a second."""

from cdc_contracts.registry.core.values import datetimes
from cdc_contracts.registry.core.values.form_schemas import CLOCK, DATE, TEXT, text_like
from cdc_contracts.registry.core.values.value_form import Examples, NativeCheck, ValueForm

FORM = ValueForm(
    "sql-datetime-z",
    "timestamp",
    TEXT,
    schema=text_like(f"{DATE} {CLOCK}Z"),
    reader=datetimes.read_sql_z,
    writer=datetimes.write_sql,
    native=(NativeCheck("SQL_DATETIME_Z"),),
    examples=Examples(
        good=(('"2024-06-10 06:13:20.5Z"', "2024-06-10T06:13:20.5Z"),),
        bad=('"2024-06-10 06:13:20"', '"2024-06-10T06:13:20Z"', '"2024-06-10Z"'),
    ),
)
