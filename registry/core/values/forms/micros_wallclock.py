"""A wall-clock time as microseconds since 1970-01-01T00:00:00 of the same clock."""

from cdc_contracts.registry.core.values import timestamps
from cdc_contracts.registry.core.values.form_schemas import NUMBER, at_least
from cdc_contracts.registry.core.values.value_form import Examples, NativeCheck, ValueForm

FORM = ValueForm(
    "micros-wallclock",
    "datetime",
    NUMBER,
    decoder="int",
    schema=at_least(timestamps.FIRST_MICRO),
    reader=timestamps.read_micros_wallclock,
    writer=timestamps.write_micros,
    native=(NativeCheck("MICROS", timestamps.FIRST_MICRO, timestamps.LAST_MICRO),),
    examples=Examples(
        good=(
            ("1718028800500001", "2024-06-10T14:13:20.500001"),
            ("-1", "1969-12-31T23:59:59.999999"),
            ("-62167219200000000", "0000-01-01T00:00:00"),
            ("253402300799999999", "9999-12-31T23:59:59.999999"),
        ),
        bad=("-62167219200000001", "253402300800000000", "1.5", "1e3"),
    ),
    kept=timestamps.KEPT_MICROS,
)
