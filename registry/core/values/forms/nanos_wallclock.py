"""A wall-clock time as nanoseconds since 1970-01-01T00:00:00 of the same clock, in 64 bits."""

from cdc_contracts.registry.core.values import timestamps
from cdc_contracts.registry.core.values.form_schemas import NUMBER, at_least
from cdc_contracts.registry.core.values.value_form import Examples, NativeCheck, ValueForm

FORM = ValueForm(
    "nanos-wallclock",
    "datetime",
    NUMBER,
    decoder="int",
    schema=at_least(timestamps.FIRST_NANO),
    reader=timestamps.read_nanos_wallclock,
    writer=timestamps.write_nanos,
    native=(NativeCheck("NANOS"),),
    examples=Examples(
        good=(
            ("1718028800500000001", "2024-06-10T14:13:20.500000001"),
            ("-1", "1969-12-31T23:59:59.999999999"),
            ("-9223372036854775808", "1677-09-21T00:12:43.145224192"),
            ("9223372036854775807", "2262-04-11T23:47:16.854775807"),
        ),
        bad=("-9223372036854775809", "9223372036854775808", "1.5", "1e3"),
    ),
)
