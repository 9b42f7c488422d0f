"""A floating point number in the range of 32 bits."""

from cdc_contracts.registry.core.values import floats, integers
from cdc_contracts.registry.core.values.form_schemas import NUMBER, any_of
from cdc_contracts.registry.core.values.value_form import Examples, NativeCheck, ValueForm

FORM = ValueForm(
    "float32-number",
    "float",
    NUMBER,
    decoder="raw",
    schema=any_of("number"),
    reader=floats.read_float32,
    writer=integers.write_number,
    native=(NativeCheck("FLOATS"),),
    examples=Examples(good=(("0.5", "0.5"),), bad=("3.4028236e38", "3.4028235677973366e38", "-1e39")),
)
