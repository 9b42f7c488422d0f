"""A signed duration, `HH:mm` or `HH:mm:ss`, to 838 hours; a fraction of a second is noted."""

from cdc_contracts.registry.core.values import day_times
from cdc_contracts.registry.core.values.form_schemas import CLOCK_MINUTES, SIGN, TEXT, text_like
from cdc_contracts.registry.core.values.value_form import Examples, NativeCheck, ValueForm

FORM = ValueForm(
    "iso-time-minutes",
    "time",
    TEXT,
    schema=text_like(SIGN + CLOCK_MINUTES),
    reader=day_times.read_time_minutes,
    native=(NativeCheck("TIME_MINUTES"),),
    examples=Examples(good=(('"12:30"', "12:30:00"),), bad=('"00"', '"0:01"', '"00:1"')),
)
