"""A whole number of any size, or its digits as text."""

from cdc_contracts.registry.core.values import integers
from cdc_contracts.registry.core.values.form_schemas import EITHER, INTEGER, text_or
from cdc_contracts.registry.core.values.value_form import Examples, NativeCheck, ValueForm

FORM = ValueForm(
    "integer-or-text",
    "integer",
    EITHER,
    decoder="text-or-int",
    schema=text_or("integer", INTEGER),
    reader=integers.read_integer,
    writer=integers.write_number,
    native=(NativeCheck("INTEGERS"),),
    examples=Examples(good=(("9007199254740993", "9007199254740993"),), bad=("1.0", "1e0", '"01"')),
)
