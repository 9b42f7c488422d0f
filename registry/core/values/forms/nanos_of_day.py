"""A signed duration in nanoseconds, to 838 hours."""

from cdc_contracts.registry.core.values import day_times
from cdc_contracts.registry.core.values.form_schemas import NUMBER, at_least
from cdc_contracts.registry.core.values.value_form import Examples, NativeCheck, ValueForm

FORM = ValueForm(
    "nanos-of-day",
    "time",
    NUMBER,
    decoder="int",
    schema=at_least(-day_times.MOST_NANOS),
    reader=day_times.read_nanos,
    writer=day_times.write_nanos,
    native=(NativeCheck("NANOS_OF_DAY", -day_times.MOST_NANOS, day_times.MOST_NANOS),),
    examples=Examples(
        good=(("45000000000001", "12:30:00.000000001"), ("3020399999999999", "838:59:59.999999999")),
        bad=("3020400000000000", "-3020400000000000", "1.0"),
    ),
)
