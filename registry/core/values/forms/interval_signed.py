"""The text of an interval column: `+04-02` is years and months, `+03 04:05:06.7` days and a time."""

from cdc_contracts.registry.core.values import intervals
from cdc_contracts.registry.core.values.form_schemas import TEXT, text_like
from cdc_contracts.registry.core.values.value_form import Examples, ValueForm

FORM = ValueForm(
    "interval-signed",
    "interval",
    TEXT,
    schema=text_like(intervals.SIGNED),
    reader=intervals.read_signed_interval,
    writer=intervals.write_signed_interval,
    examples=Examples(good=(('"+04-02"', "P4Y2M"),), bad=('"+"', '"+04"', '"+04-"')),
)
