"""A bit field as an unsigned number of up to 64 bits."""

from cdc_contracts.registry.core.values import bit_strings, integers
from cdc_contracts.registry.core.values.form_schemas import NUMBER, at_least
from cdc_contracts.registry.core.values.value_form import Examples, NativeCheck, ValueForm

FORM = ValueForm(
    "bit-number",
    "bit",
    NUMBER,
    decoder="int",
    schema=at_least(0),
    reader=bit_strings.read_bit_number,
    writer=integers.write_number,
    native=(NativeCheck("INTEGERS", 0),),
    examples=Examples(
        good=(("5", "5"),), bad=("-1", "18446744073709551616", "36893488147419103231"), edges=("0", "1", "255")
    ),
)
