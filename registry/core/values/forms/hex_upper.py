"""Bytes as pairs of upper-case hex digits."""

from cdc_contracts.registry.core.values import byte_strings
from cdc_contracts.registry.core.values.form_schemas import TEXT, text_like
from cdc_contracts.registry.core.values.value_form import Examples, NativeCheck, ValueForm

FORM = ValueForm(
    "hex-upper",
    "bytes",
    TEXT,
    schema=text_like(byte_strings.HEX.pattern),
    reader=byte_strings.read_hex,
    writer=byte_strings.write_hex,
    native=(NativeCheck("HEX"),),
    examples=Examples(good=(('"6A67"', "amc="),), bad=('"6"', '"6a"', '"0x6A"')),
)
