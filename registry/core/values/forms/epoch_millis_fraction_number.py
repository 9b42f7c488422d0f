"""An instant as thirteen digits of milliseconds and a fraction that is not read; always noted."""

from cdc_contracts.registry.core.values import timestamps
from cdc_contracts.registry.core.values.form_schemas import NUMBER, at_least
from cdc_contracts.registry.core.values.value_form import Examples, ValueForm

FORM = ValueForm(
    "epoch-millis.fraction-number",
    "timestamp",
    NUMBER,
    decoder="raw",
    schema=at_least(10**12, "number"),
    reader=timestamps.read_millis_fraction,
    writer=timestamps.write_millis,
    examples=Examples(
        good=(("1718000000500.25", "2024-06-10T06:13:20.5Z"),),
        bad=("159031526900.5", "15903152690001", "1590315269000.1234567890"),
    ),
)
