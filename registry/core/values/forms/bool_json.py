"""The JSON values true and false."""

from cdc_contracts.registry.core.values import text_values
from cdc_contracts.registry.core.values.form_schemas import BOOLEAN, any_of
from cdc_contracts.registry.core.values.value_form import Examples, NativeCheck, ValueForm

FORM = ValueForm(
    "bool-json",
    "boolean",
    BOOLEAN,
    decoder="bool",
    schema=any_of("boolean"),
    reader=text_values.read_text,
    writer=text_values.write_boolean,
    native=(NativeCheck("BOOLEANS"),),
    examples=Examples(good=(("true", "true"),), edges=("true", "false")),
)
