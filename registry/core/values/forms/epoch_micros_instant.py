"""An instant in microseconds since 1970-01-01T00:00:00Z."""

from cdc_contracts.registry.core.values import timestamps
from cdc_contracts.registry.core.values.form_schemas import NUMBER, at_least
from cdc_contracts.registry.core.values.value_form import Examples, NativeCheck, ValueForm

FORM = ValueForm(
    "epoch-micros-instant",
    "timestamp",
    NUMBER,
    decoder="int",
    schema=at_least(timestamps.FIRST_MICRO),
    reader=timestamps.read_micros_instant,
    writer=timestamps.write_micros,
    native=(NativeCheck("MICROS", timestamps.FIRST_MICRO, timestamps.LAST_MICRO),),
    examples=Examples(
        good=(
            ("1718000000500001", "2024-06-10T06:13:20.500001Z"),
            ("-1", "1969-12-31T23:59:59.999999Z"),
            ("-62167219200000000", "0000-01-01T00:00:00Z"),
            ("253402300799999999", "9999-12-31T23:59:59.999999Z"),
        ),
        bad=("-62167219200000001", "253402300800000000", "1606233662012.5"),
    ),
    kept=timestamps.KEPT_MICROS,
)
