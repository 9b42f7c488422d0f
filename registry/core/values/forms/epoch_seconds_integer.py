"""An instant as whole seconds since 1970-01-01T00:00:00Z: a number, or up to twelve digits as text."""

from cdc_contracts.registry.core.values import timestamps
from cdc_contracts.registry.core.values.form_schemas import EITHER, text_or
from cdc_contracts.registry.core.values.value_form import Examples, NativeCheck, ValueForm

FORM = ValueForm(
    "epoch-seconds-integer",
    "timestamp",
    EITHER,
    decoder="text-or-int",
    schema=text_or("integer", "[0-9]{1,12}", minimum=0),
    reader=timestamps.read_seconds,
    writer=timestamps.write_seconds,
    native=(NativeCheck("SECONDS", most=timestamps.LAST_SECOND),),
    examples=Examples(good=(("1718000000", "2024-06-10T06:13:20Z"),), bad=("-1", "1.0", "1e9")),
)
