"""A wall-clock time as milliseconds since 1970-01-01T00:00:00 of the same clock."""

from cdc_contracts.registry.core.values import timestamps
from cdc_contracts.registry.core.values.form_schemas import NUMBER, at_least
from cdc_contracts.registry.core.values.value_form import Examples, NativeCheck, ValueForm

FORM = ValueForm(
    "millis-wallclock",
    "datetime",
    NUMBER,
    decoder="int",
    schema=at_least(timestamps.FIRST_MILLI),
    reader=timestamps.read_millis_wallclock,
    writer=timestamps.write_millis,
    native=(NativeCheck("MILLIS", timestamps.FIRST_MILLI, timestamps.LAST_MILLI),),
    examples=Examples(
        good=(("1718028800500", "2024-06-10T14:13:20.5"),), bad=("-62167219200001", "253402300800000", "1.5")
    ),
    kept=timestamps.KEPT_MILLIS,
)
