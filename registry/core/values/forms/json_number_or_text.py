"""Any number, or the text of one, kept exactly."""

from cdc_contracts.registry.core.values import decimals, integers
from cdc_contracts.registry.core.values.form_schemas import EITHER, JSON_NUMBER, text_or
from cdc_contracts.registry.core.values.value_form import Examples, NativeCheck, ValueForm

FORM = ValueForm(
    "json-number-or-text",
    "number",
    EITHER,
    decoder="raw",
    schema=text_or("number", JSON_NUMBER),
    reader=decimals.read_decimal,
    writer=integers.write_number,
    native=(NativeCheck("DECIMALS"),),
    examples=Examples(good=(('"12.10"', "12.10"),), bad=('"abc"', '"1."', '"NaN"')),
)
