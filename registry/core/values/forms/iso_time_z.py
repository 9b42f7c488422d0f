"""A time of day, `HH:mm:ssZ` with up to nine digits of a second; its `Z` says nothing of a zone."""

from cdc_contracts.registry.core.values import dates, day_times
from cdc_contracts.registry.core.values.form_schemas import CLOCK, TEXT, text_like
from cdc_contracts.registry.core.values.value_form import Examples, NativeCheck, ValueForm

FORM = ValueForm(
    "iso-time-z",
    "time",
    TEXT,
    schema=text_like(CLOCK + "Z"),
    reader=day_times.read_time_z,
    writer=dates.write_z,
    native=(NativeCheck("TIME_Z"),),
    examples=Examples(
        good=(('"12:34:56.789Z"', "12:34:56.789"), ('"00:00:00Z"', "00:00:00")),
        bad=('"12:34:56"', '"12:34Z"', '"24:00:00Z"', '"-01:00:00Z"'),
    ),
)
