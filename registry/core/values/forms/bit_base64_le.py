"""A bit field as Base64, the least byte first; zero bytes at its end may be missing, and all of them of a zero.

Its type may say how many bits it has.
"""

from cdc_contracts.registry.core.values import bit_strings, byte_strings
from cdc_contracts.registry.core.values.form_schemas import TEXT, text_like
from cdc_contracts.registry.core.values.value_form import Examples, NativeCheck, ValueForm

FORM = ValueForm(
    "bit-base64-le",
    "bit",
    TEXT,
    schema=text_like(byte_strings.BASE64.pattern),
    reader=bit_strings.read_bit_base64_le,
    writer=bit_strings.write_bit_base64_le,
    native=(NativeCheck("BIT_BASE64_LE", 0),),
    examples=Examples(
        good=(('"AQI="', "513"), ('"AQA="', "1"), ('"AQ=="', "1"), ('""', "0"), ('"/wM="', "1023")),
        bad=('"AAQ="', '"AQI"', '"AQJ="', '"513"'),
        column_type="bit(10)",
    ),
    type_parameters=frozenset({"length"}),
)
