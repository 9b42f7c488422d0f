"""An unsigned whole number of 64 bits: its digits as text, or the signed number of the same bits.

A negative number lacks 2^64, and is noted.
"""

from cdc_contracts.registry.core.values import integers
from cdc_contracts.registry.core.values.form_schemas import EITHER, text_or
from cdc_contracts.registry.core.values.forms.uint64_as_int64 import FORM as NUMBERS
from cdc_contracts.registry.core.values.value_form import Examples, NativeCheck, ValueForm

FORM = ValueForm(
    "uint64-as-int64-or-text",
    "integer",
    EITHER,
    decoder="text-or-int",
    schema=text_or("integer", "0|[1-9][0-9]{0,19}"),
    reader=integers.read_unsigned,
    writer=integers.write_wrapped,
    native=(NativeCheck("INTEGERS", 0),),
    examples=Examples(
        good=(
            ('"18446744073709551615"', "18446744073709551615"),
            ('"0"', "0"),
            ("42", "42"),
            ("-1", "18446744073709551615"),
        ),
        bad=('"-1"', '"-0"', '"01"', '"18446744073709551616"', "1.0", "9223372036854775808"),
    ),
    numbers=NUMBERS,
)
