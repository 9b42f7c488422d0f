"""Bytes as pairs of hex digits, lower case."""

from cdc_contracts.registry.core.values import byte_strings
from cdc_contracts.registry.core.values.form_schemas import TEXT, text_like
from cdc_contracts.registry.core.values.value_form import Examples, NativeCheck, ValueForm

FORM = ValueForm(
    "hex-lower",
    "bytes",
    TEXT,
    schema=text_like(byte_strings.HEX_LOWER.pattern),
    reader=byte_strings.read_hex_lower,
    writer=byte_strings.write_hex_lower,
    native=(NativeCheck("HEX_LOWER"),),
    examples=Examples(good=(('"6a67"', "amc="), ('""', "")), bad=('"6"', '"6A"', '"0x6a"', '"6g"')),
)
