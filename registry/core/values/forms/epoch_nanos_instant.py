"""An instant in nanoseconds since 1970-01-01T00:00:00Z, in 64 bits."""

from cdc_contracts.registry.core.values import timestamps
from cdc_contracts.registry.core.values.form_schemas import NUMBER, at_least
from cdc_contracts.registry.core.values.value_form import Examples, NativeCheck, ValueForm

FORM = ValueForm(
    "epoch-nanos-instant",
    "timestamp",
    NUMBER,
    decoder="int",
    schema=at_least(timestamps.FIRST_NANO),
    reader=timestamps.read_nanos_instant,
    writer=timestamps.write_nanos,
    native=(NativeCheck("NANOS"),),
    examples=Examples(
        good=(
            ("1718000000500000001", "2024-06-10T06:13:20.500000001Z"),
            ("-1", "1969-12-31T23:59:59.999999999Z"),
            ("-9223372036854775808", "1677-09-21T00:12:43.145224192Z"),
            ("9223372036854775807", "2262-04-11T23:47:16.854775807Z"),
        ),
        bad=("-9223372036854775809", "9223372036854775808", "1.5"),
    ),
)
