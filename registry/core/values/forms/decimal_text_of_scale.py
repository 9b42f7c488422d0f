"""A decimal as text with the digits after the point that its type says; a zero may have fewer, and is noted."""

from cdc_contracts.registry.core.values import decimals
from cdc_contracts.registry.core.values.form_schemas import JSON_NUMBER, TEXT, text_like
from cdc_contracts.registry.core.values.value_form import Examples, NativeCheck, ValueForm

FORM = ValueForm(
    "decimal-text-of-scale",
    "decimal",
    TEXT,
    schema=text_like(JSON_NUMBER),
    reader=decimals.read_decimal_of_scale,
    native=(NativeCheck("DECIMALS"),),
    examples=Examples(
        good=(('"12.10"', "12.10"), ('"0.0"', "0.00"), ('"0"', "0.00"), ('"-0.00"', "0.00"), ('"1.234"', "1.234")),
        bad=('"12.1"', '"12"', '".50"', '"NaN"'),
        column_type="decimal(5,2)",
    ),
    type_parameters=frozenset({"scale"}),
)
