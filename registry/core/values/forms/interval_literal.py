"""An Oracle literal: `INTERVAL '3' DAY`, `… DAY TO SECOND`, `… YEAR` or `… YEAR TO MONTH`."""

from cdc_contracts.registry.core.values import intervals
from cdc_contracts.registry.core.values.form_schemas import TEXT, text_like
from cdc_contracts.registry.core.values.value_form import Examples, ValueForm

FORM = ValueForm(
    "interval-literal",
    "interval",
    TEXT,
    schema=text_like(intervals.LITERAL),
    reader=intervals.read_interval,
    writer=intervals.write_interval,
    examples=Examples(good=(("\"INTERVAL '3' DAY\"", "P3D"),), bad=('"3"', '"INTERVAL 3 DAY"', "\"interval '3' day\"")),
)
