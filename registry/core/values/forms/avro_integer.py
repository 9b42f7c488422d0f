"""Digits of a whole number."""

from cdc_contracts.registry.core.values import integers
from cdc_contracts.registry.core.values.named_records import record_form
from cdc_contracts.registry.core.values.value_form import Examples, NativeCheck

FORM = record_form(
    "avro-integer",
    "integer",
    "Integer",
    reader=integers.read_integer,
    native=(NativeCheck("INTEGERS", record="Integer"),),
    examples=Examples(good=(('"Integer 42"', "42"),), bad=('"Integer "', '"Integer 007"', '"Integer +1"')),
)
