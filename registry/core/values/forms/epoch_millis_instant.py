"""An instant as milliseconds since 1970-01-01T00:00:00Z."""

from cdc_contracts.registry.core.values import timestamps
from cdc_contracts.registry.core.values.form_schemas import NUMBER, at_least
from cdc_contracts.registry.core.values.value_form import Examples, NativeCheck, ValueForm

FORM = ValueForm(
    "epoch-millis-instant",
    "timestamp",
    NUMBER,
    decoder="int",
    schema=at_least(timestamps.FIRST_MILLI),
    reader=timestamps.read_millis_instant,
    writer=timestamps.write_millis,
    native=(NativeCheck("MILLIS", timestamps.FIRST_MILLI, timestamps.LAST_MILLI),),
    examples=Examples(
        good=(("1718000000500", "2024-06-10T06:13:20.5Z"),),
        bad=("253402300800000", "-62167219200001", "1606233662012.5"),
    ),
    kept=timestamps.KEPT_MILLIS,
)
