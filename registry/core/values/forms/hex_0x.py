"""Bytes as `0x` and pairs of hex digits of any case."""

from cdc_contracts.registry.core.values import byte_strings
from cdc_contracts.registry.core.values.form_schemas import TEXT, text_like
from cdc_contracts.registry.core.values.value_form import Examples, NativeCheck, ValueForm

FORM = ValueForm(
    "hex-0x",
    "bytes",
    TEXT,
    schema=text_like(byte_strings.HEX_0X.pattern),
    reader=byte_strings.read_hex_0x,
    writer=byte_strings.write_hex_0x,
    native=(NativeCheck("HEX_0X"),),
    examples=Examples(
        good=(('"0x6A67"', "amc="), ('"0x6a6F"', "am8="), ('"0x"', "")),
        bad=('""', '"0"', '"6A67"', '"0X6A"', '"0x6"', '"0x6g"'),
    ),
)
