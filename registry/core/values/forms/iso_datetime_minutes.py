"""A wall-clock time, `YYYY-MM-DDTHH:mm` or `…:ss`; a fraction of a second is noted."""

from cdc_contracts.registry.core.values import datetimes
from cdc_contracts.registry.core.values.form_schemas import CLOCK_MINUTES, DATE, TEXT, text_like
from cdc_contracts.registry.core.values.value_form import Examples, NativeCheck, ValueForm

FORM = ValueForm(
    "iso-datetime-minutes",
    "datetime",
    TEXT,
    schema=text_like(f"{DATE}T{CLOCK_MINUTES}|{datetimes.NO_TIME}"),
    reader=datetimes.read_iso_minutes,
    native=(NativeCheck("ISO_MINUTES"),),
    examples=Examples(
        good=(('"2024-06-10T14:13"', "2024-06-10T14:13:00"),),
        bad=('"2020-11-25 00:01:02"', '"2020-11-25 00:01:02.5"', '"2020-11-25 00:01"'),
    ),
)
