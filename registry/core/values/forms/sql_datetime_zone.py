"""A wall-clock time, `YYYY-MM-DD HH:mm:ss` with up to nine digits of a second, and perhaps a zone id."""

from cdc_contracts.registry.core.values import datetimes
from cdc_contracts.registry.core.values.form_schemas import CLOCK, DATE, TEXT, text_like
from cdc_contracts.registry.core.values.value_form import Examples, NativeCheck, ValueForm

FORM = ValueForm(
    "sql-datetime-zone",
    "datetime",
    TEXT,
    schema=text_like(f"{DATE} {CLOCK}(?: (?:{datetimes.ZONE}))?"),
    reader=datetimes.read_sql_zone,
    writer=datetimes.write_sql_zone,
    native=(NativeCheck("SQL_DATETIME"),),
    examples=Examples(
        good=(('"2024-06-10 14:13:20.5 +08:00"', "2024-06-10T14:13:20.5[+08:00]"),),
        bad=('"2020-11-25"', '"2020-11-25T00:01:02"', '"2020-11-25 00:01:02 "'),
    ),
)
