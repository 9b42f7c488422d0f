"""A time of day in UTC, `HH:mm:ssZ` with up to nine digits of a second; the `Z` is part of it."""

from cdc_contracts.registry.core.values import day_times
from cdc_contracts.registry.core.values.form_schemas import CLOCK, TEXT, text_like
from cdc_contracts.registry.core.values.value_form import Examples, NativeCheck, ValueForm

FORM = ValueForm(
    "iso-time-zoned",
    "time",
    TEXT,
    schema=text_like(CLOCK + "Z"),
    reader=day_times.read_time_zoned,
    native=(NativeCheck("TIME_ZONED"),),
    examples=Examples(
        good=(('"04:34:56.789123Z"', "04:34:56.789123Z"), ('"23:59:59.500Z"', "23:59:59.5Z")),
        bad=('"12:34:56"', '"12:34:56+00:00"', '"24:00:00Z"', '"-01:00:00Z"'),
    ),
)
