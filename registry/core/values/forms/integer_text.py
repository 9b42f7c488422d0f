"""The digits of a whole number of any size as text, without leading zeros or a plus sign."""

from cdc_contracts.registry.core.values import integers
from cdc_contracts.registry.core.values.form_schemas import INTEGER, TEXT, text_like
from cdc_contracts.registry.core.values.value_form import Examples, NativeCheck, ValueForm

FORM = ValueForm(
    "integer-text",
    "integer",
    TEXT,
    schema=text_like(INTEGER),
    reader=integers.read_integer,
    native=(NativeCheck("INTEGERS"),),
    examples=Examples(good=(('"42"', "42"),), bad=('"-"', '"007"', '"+7"')),
)
