"""Bytes."""

from cdc_contracts.registry.core.values import byte_strings
from cdc_contracts.registry.core.values.named_records import record_form
from cdc_contracts.registry.core.values.value_form import Examples, NativeCheck

FORM = record_form(
    "avro-bytes",
    "bytes",
    "BinaryObject",
    reader=byte_strings.read_base64,
    native=(NativeCheck("BASE64", record="BinaryObject"),),
    examples=Examples(good=(('"BinaryObject amc="', "amc="),), bad=('"BinaryObject a"', '"BinaryObject a_b="')),
)
