"""A signed duration in milliseconds, to 838 hours."""

from cdc_contracts.registry.core.values import day_times
from cdc_contracts.registry.core.values.form_schemas import NUMBER, at_least
from cdc_contracts.registry.core.values.value_form import Examples, NativeCheck, ValueForm

FORM = ValueForm(
    "millis-of-day",
    "time",
    NUMBER,
    decoder="int",
    schema=at_least(-day_times.MOST_MILLIS),
    reader=day_times.read_millis,
    writer=day_times.write_millis,
    native=(NativeCheck("MILLIS_OF_DAY", -day_times.MOST_MILLIS, day_times.MOST_MILLIS),),
    examples=Examples(
        good=(("45000001", "12:30:00.001"), ("-3020399999", "-838:59:59.999")), bad=("3020400000", "-3020400000", "1.0")
    ),
)
