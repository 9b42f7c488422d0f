"""A decimal as Base64 of its unscaled big-endian two's complement, or as a number with its point.

A text is read by the scale of the column's type. Without one it is kept as sent, and warned of (`D07.no-scale`).
"""

from cdc_contracts.registry.core.values import byte_strings, decimals
from cdc_contracts.registry.core.values.form_schemas import EITHER, text_or
from cdc_contracts.registry.core.values.forms.decimal_number import FORM as NUMBERS
from cdc_contracts.registry.core.values.value_form import Examples, NativeCheck, ValueForm

FORM = ValueForm(
    "decimal-base64-or-number",
    "decimal",
    EITHER,
    decoder="raw",
    schema=text_or("number", byte_strings.BASE64.pattern),
    reader=decimals.read_unscaled,
    writer=decimals.write_unscaled_or_number,
    native=(NativeCheck("DECIMAL_BASE64"),),
    examples=Examples(
        good=(
            ('"AxY="', "7.90"),
            ("7.90", "7.90"),
            ('"1234"', "-26588.24"),
            ("1234", "1234"),
            ("0.1234567890123456789012345678901234567", "0.1234567890123456789012345678901234567"),
        ),
        bad=('""', '"AxY"', '"7.90"', '"AxZ="'),
        column_type="decimal(39,2)",
    ),
    type_parameters=frozenset({"scale"}),
    numbers=NUMBERS,
)
