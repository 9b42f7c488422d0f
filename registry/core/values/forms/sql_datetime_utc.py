"""An instant in UTC, `YYYY-MM-DD HH:mm:ss` with up to nine digits of a second and no mark of a zone."""

from cdc_contracts.registry.core.values import datetimes
from cdc_contracts.registry.core.values.form_schemas import CLOCK, DATE, TEXT, text_like
from cdc_contracts.registry.core.values.value_form import Examples, NativeCheck, ValueForm

FORM = ValueForm(
    "sql-datetime-utc",
    "timestamp",
    TEXT,
    schema=text_like(f"{DATE} {CLOCK}"),
    reader=datetimes.read_sql_utc,
    writer=datetimes.write_sql_utc,
    native=(NativeCheck("SQL_DATETIME"),),
    examples=Examples(
        good=(('"2024-06-10 06:13:20.5"', "2024-06-10T06:13:20.5Z"),),
        bad=('"2024-06-10"', '"2024-06-10T06:13:20Z"', '"2024-06-10 06:13:20Z"'),
    ),
)
