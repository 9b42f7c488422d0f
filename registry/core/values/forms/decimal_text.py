"""An exact decimal as the text of a JSON number; trailing zeros count."""

from cdc_contracts.registry.core.values import decimals
from cdc_contracts.registry.core.values.form_schemas import JSON_NUMBER, TEXT, text_like
from cdc_contracts.registry.core.values.value_form import Examples, NativeCheck, ValueForm

FORM = ValueForm(
    "decimal-text",
    "decimal",
    TEXT,
    schema=text_like(JSON_NUMBER),
    reader=decimals.read_decimal,
    native=(NativeCheck("DECIMALS"),),
    examples=Examples(good=(('"12.10"', "12.10"),), bad=('"-"', '"+1"', '".5"')),
)
