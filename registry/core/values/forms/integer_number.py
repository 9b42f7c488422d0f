"""A whole number of any size, without fraction or exponent."""

from cdc_contracts.registry.core.values import integers
from cdc_contracts.registry.core.values.form_schemas import NUMBER, any_of
from cdc_contracts.registry.core.values.value_form import Examples, NativeCheck, ValueForm

FORM = ValueForm(
    "integer-number",
    "integer",
    NUMBER,
    decoder="int",
    schema=any_of("integer"),
    reader=integers.read_integer,
    writer=integers.write_number,
    native=(NativeCheck("INTEGERS"),),
    examples=Examples(
        good=(("42", "42"),),
        bad=("1.0", "1e3", "1E3"),
        edges=(
            "0",
            "1",
            "-1",
            "127",
            "-128",
            "255",
            "32767",
            "65535",
            "2147483647",
            "-2147483648",
            "4294967295",
            "9007199254740993",
            "9223372036854775807",
            "-9223372036854775808",
            "18446744073709551615",
        ),
    ),
)
