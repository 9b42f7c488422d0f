"""Text whose meaning no document gives, as it is."""

from cdc_contracts.registry.core.values import text_values
from cdc_contracts.registry.core.values.form_schemas import TEXT, any_of
from cdc_contracts.registry.core.values.value_form import Examples, NativeCheck, ValueForm

FORM = ValueForm(
    "opaque-text",
    "opaque",
    TEXT,
    schema=any_of("string"),
    reader=text_values.read_text,
    native=(NativeCheck("ANY_TEXT"),),
    examples=Examples(good=(('"1011"', "1011"),)),
)
