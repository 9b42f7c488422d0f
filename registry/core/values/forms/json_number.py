"""Any number, kept exactly, of a column whose type is not known."""

from cdc_contracts.registry.core.values import decimals, integers
from cdc_contracts.registry.core.values.form_schemas import NUMBER, any_of
from cdc_contracts.registry.core.values.value_form import Examples, NativeCheck, ValueForm

FORM = ValueForm(
    "json-number",
    "number",
    NUMBER,
    decoder="raw",
    schema=any_of("number"),
    reader=decimals.read_decimal,
    writer=integers.write_number,
    native=(NativeCheck("DECIMALS"),),
    examples=Examples(good=(("12.5", "12.5"),)),
)
