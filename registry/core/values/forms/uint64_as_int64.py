"""An unsigned whole number of 64 bits as the signed one of the same bits: negative, it lacks 2^64, and is noted."""

from cdc_contracts.registry.core.values import integers
from cdc_contracts.registry.core.values.form_schemas import NUMBER, at_least
from cdc_contracts.registry.core.values.value_form import Examples, NativeCheck, ValueForm

FORM = ValueForm(
    "uint64-as-int64",
    "integer",
    NUMBER,
    decoder="int",
    schema=at_least(-(2**63)),
    reader=integers.read_wrapped,
    writer=integers.write_wrapped,
    native=(NativeCheck("INTEGERS", 0),),
    examples=Examples(
        good=(
            ("42", "42"),
            ("0", "0"),
            ("9223372036854775807", "9223372036854775807"),
            ("-9223372036854775808", "9223372036854775808"),
            ("-1", "18446744073709551615"),
        ),
        bad=("1.0", "1e3", "9223372036854775808", "-9223372036854775809"),
    ),
)
