"""A decimal as Base64 of its unscaled big-endian two's complement; the column's type says its scale.

Without a scale the text is kept as sent, and warned of (`D07.no-scale`).
"""

from cdc_contracts.registry.core.values import byte_strings, decimals
from cdc_contracts.registry.core.values.form_schemas import TEXT, text_like
from cdc_contracts.registry.core.values.value_form import Examples, NativeCheck, ValueForm

FORM = ValueForm(
    "decimal-base64",
    "decimal",
    TEXT,
    schema=text_like(byte_strings.BASE64.pattern),
    reader=decimals.read_unscaled,
    writer=decimals.write_unscaled,
    native=(NativeCheck("DECIMAL_BASE64"),),
    examples=Examples(
        good=(
            ('"AxY="', "7.90"),
            ('"AA=="', "0.00"),
            ('"/w=="', "-0.01"),
            ('"//8="', "-0.01"),
            ('"AAE="', "0.01"),
            ('"f/////////8="', "92233720368547758.07"),
            ('"gAAAAAAAAAA="', "-92233720368547758.08"),
            ('"AQAAAAAAAAAA"', "184467440737095516.16"),
            ('"f////////////////////w=="', "1701411834604692317316873037158841057.27"),
            ('"gAAAAAAAAAAAAAAAAAAAAA=="', "-1701411834604692317316873037158841057.28"),
            ('"AIAAAAAAAAAAAAAAAAAAAAA="', "1701411834604692317316873037158841057.28"),
        ),
        bad=('""', '"AxY"', '"7.90"', '"AxZ="'),
        column_type="decimal(39,2)",
    ),
    type_parameters=frozenset({"scale"}),
)
