"""A JSON document as text, as it is."""

from cdc_contracts.registry.core.values import text_values
from cdc_contracts.registry.core.values.form_schemas import TEXT, any_of
from cdc_contracts.registry.core.values.value_form import Examples, NativeCheck, ValueForm

FORM = ValueForm(
    "json-text",
    "json",
    TEXT,
    schema=any_of("string"),
    reader=text_values.read_text,
    native=(NativeCheck("ANY_TEXT"),),
    examples=Examples(good=(('"{\\"a\\": 1}"', '{"a": 1}'),), edges=("{}", "null", '{"a": [1.0, null, ""]}')),
)
