"""False and true as the numbers 0 and 1."""

from cdc_contracts.registry.core.values import text_values
from cdc_contracts.registry.core.values.form_schemas import NUMBER
from cdc_contracts.registry.core.values.value_form import Examples, NativeCheck, ValueForm

FORM = ValueForm(
    "bool-0-1",
    "boolean",
    NUMBER,
    decoder="int",
    schema={"enum": [0, 1, None]},
    reader=text_values.read_boolean_digit,
    writer=text_values.write_boolean_digit,
    native=(NativeCheck("BOOLEAN_DIGITS", 0, 1),),
    examples=Examples(good=(("1", "true"),), bad=("2", "-1", "1.0")),
)
