"""A bit field as Base64 of up to 8 bytes, the most significant first; leading zero bytes may be missing."""

from cdc_contracts.registry.core.values import bit_strings
from cdc_contracts.registry.core.values.form_schemas import TEXT, text_like
from cdc_contracts.registry.core.values.value_form import Examples, NativeCheck, ValueForm

FORM = ValueForm(
    "bit-base64",
    "bit",
    TEXT,
    schema=text_like(bit_strings.BASE64),
    reader=bit_strings.read_bit_base64,
    writer=bit_strings.write_bit_base64,
    native=(NativeCheck("BIT_BASE64"),),
    examples=Examples(good=(('"BQ=="', "5"),), bad=('"AQ"', '"AQ="', '"AR=="')),
)
