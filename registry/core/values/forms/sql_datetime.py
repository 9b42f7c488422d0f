"""A wall-clock time, `YYYY-MM-DD HH:mm:ss` with up to nine digits of a second."""

from cdc_contracts.registry.core.values import datetimes
from cdc_contracts.registry.core.values.form_schemas import CLOCK, DATE, TEXT, text_like
from cdc_contracts.registry.core.values.value_form import Examples, NativeCheck, ValueForm

FORM = ValueForm(
    "sql-datetime",
    "datetime",
    TEXT,
    schema=text_like(f"{DATE} {CLOCK}"),
    reader=datetimes.read_sql,
    writer=datetimes.write_sql,
    native=(NativeCheck("SQL_DATETIME"),),
    examples=Examples(
        good=(('"2024-06-10 14:13:20.5"', "2024-06-10T14:13:20.5"),),
        bad=('"2020-11-25"', '"2020-11-25T00:01:02"', '"2020-11-25 00:01"'),
        edges=("1970-01-01T00:00:00", "2024-02-29T23:59:59", "9999-12-31T23:59:59"),
    ),
)
