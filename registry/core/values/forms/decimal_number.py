"""An exact decimal as a number, with or without an exponent; trailing zeros count."""

from cdc_contracts.registry.core.values import decimals, integers
from cdc_contracts.registry.core.values.form_schemas import NUMBER, any_of
from cdc_contracts.registry.core.values.value_form import Examples, NativeCheck, ValueForm

FORM = ValueForm(
    "decimal-number",
    "decimal",
    NUMBER,
    decoder="raw",
    schema=any_of("number"),
    reader=decimals.read_decimal,
    writer=integers.write_number,
    native=(NativeCheck("DECIMALS"),),
    examples=Examples(
        good=(("12.5", "12.5"),), edges=("0.00", "0.10", "-0.01", "12345678901234567.89", "99999999999999999.99", "0")
    ),
)
