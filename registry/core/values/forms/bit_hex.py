"""A bit field as upper-case hex of up to 8 bytes, the most significant first; leading zeros may be missing."""

from cdc_contracts.registry.core.values import bit_strings
from cdc_contracts.registry.core.values.form_schemas import TEXT, text_like
from cdc_contracts.registry.core.values.value_form import Examples, NativeCheck, ValueForm

FORM = ValueForm(
    "bit-hex",
    "bit",
    TEXT,
    schema=text_like(bit_strings.HEX),
    reader=bit_strings.read_bit_hex,
    writer=bit_strings.write_bit_hex,
    native=(NativeCheck("BIT_HEX"),),
    examples=Examples(good=(('"05"', "5"),), bad=('"1"', '"0g"', '"ff"')),
)
