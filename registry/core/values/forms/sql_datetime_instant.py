"""`YYYY-MM-DD HH:mm:ss` in the zone `timestamp_zone`: an instant, or a wall-clock time without it.

A time that clocks of the zone skip or repeat is kept as sent.
"""

from cdc_contracts.registry.core.values import datetimes
from cdc_contracts.registry.core.values.form_schemas import CLOCK, DATE, TEXT, text_like
from cdc_contracts.registry.core.values.value_form import Examples, NativeCheck, ValueForm

FORM = ValueForm(
    "sql-datetime-instant",
    "timestamp",
    TEXT,
    schema=text_like(f"{DATE} {CLOCK}"),
    reader=datetimes.read_sql_instant,
    writer=datetimes.write_sql_instant,
    native=(NativeCheck("SQL_DATETIME"),),
    needs_zone=True,
    examples=Examples(
        good=(('"2024-06-10 14:13:20.5"', "2024-06-10T14:13:20.5"),),
        bad=('"2020-11-25"', '"2020-11-25T00:01:02"', '"1606233662.5"'),
    ),
)
