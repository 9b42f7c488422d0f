"""An instant as text: seconds since 1970-01-01T00:00:00Z with up to nine digits of a second."""

from cdc_contracts.registry.core.values import timestamps
from cdc_contracts.registry.core.values.form_schemas import PART, TEXT, text_like
from cdc_contracts.registry.core.values.value_form import Examples, NativeCheck, ValueForm

FORM = ValueForm(
    "epoch-seconds.fraction",
    "timestamp",
    TEXT,
    schema=text_like("[0-9]{1,12}" + PART),
    reader=timestamps.read_seconds_fraction,
    writer=timestamps.write_seconds_fraction,
    native=(NativeCheck("SECONDS_FRACTION", most=timestamps.LAST_SECOND),),
    examples=Examples(good=(('"1718000000.5"', "2024-06-10T06:13:20.5Z"),), bad=('"."', '".5"', '"1."')),
)
