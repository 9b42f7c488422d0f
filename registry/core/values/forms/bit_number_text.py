"""A bit field as the digits of an unsigned number of up to 64 bits."""

from cdc_contracts.registry.core.values import bit_strings
from cdc_contracts.registry.core.values.form_schemas import TEXT, text_like
from cdc_contracts.registry.core.values.value_form import Examples, NativeCheck, ValueForm

FORM = ValueForm(
    "bit-number-text",
    "bit",
    TEXT,
    schema=text_like("0|[1-9][0-9]{0,19}"),
    reader=bit_strings.read_bit_number_text,
    native=(NativeCheck("INTEGERS", 0),),
    examples=Examples(
        good=(('"513"', "513"), ('"18446744073709551615"', "18446744073709551615"), ('"0"', "0")),
        bad=('"-1"', '"-0"', '"007"', '"18446744073709551616"', '"1.0"', '""'),
    ),
)
