"""A signed duration, `HH:mm:ss` with up to nine digits of a second, to 838 hours."""

from cdc_contracts.registry.core.values import day_times
from cdc_contracts.registry.core.values.form_schemas import CLOCK, SIGN, TEXT, text_like
from cdc_contracts.registry.core.values.value_form import Examples, NativeCheck, ValueForm

FORM = ValueForm(
    "sql-time",
    "time",
    TEXT,
    schema=text_like(SIGN + CLOCK),
    reader=day_times.read_time,
    native=(NativeCheck("TIME"),),
    examples=Examples(
        good=(('"-12:30:00.5"', "-12:30:00.5"),),
        bad=('"-"', '"0:00:00"', '"00:00"'),
        edges=("00:00:00", "23:59:59", "838:59:59", "-838:59:59"),
    ),
)
