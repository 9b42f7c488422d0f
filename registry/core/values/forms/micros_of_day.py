"""A signed duration in microseconds, to 838 hours."""

from cdc_contracts.registry.core.values import day_times
from cdc_contracts.registry.core.values.form_schemas import NUMBER, at_least
from cdc_contracts.registry.core.values.value_form import Examples, NativeCheck, ValueForm

FORM = ValueForm(
    "micros-of-day",
    "time",
    NUMBER,
    decoder="int",
    schema=at_least(-day_times.MOST_MICROS),
    reader=day_times.read_micros,
    writer=day_times.write_micros,
    native=(NativeCheck("MICROS_OF_DAY", -day_times.MOST_MICROS, day_times.MOST_MICROS),),
    examples=Examples(good=(("45000000000", "12:30:00"),), bad=("3020400000000", "-3020400000000", "1.0")),
)
