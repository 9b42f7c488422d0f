"""Bytes as text: each character, from U+0000 to U+00FF, is the byte of that number (ISO-8859-1)."""

from cdc_contracts.registry.core.values import byte_strings
from cdc_contracts.registry.core.values.form_schemas import TEXT, any_of
from cdc_contracts.registry.core.values.value_form import Examples, NativeCheck, ValueForm

FORM = ValueForm(
    "latin1-bytes",
    "bytes",
    TEXT,
    schema=any_of("string"),
    reader=byte_strings.read_latin1,
    writer=byte_strings.write_latin1,
    native=(NativeCheck("LATIN1"),),
    examples=Examples(
        good=(('"jg"', "amc="), ('"\\u0000\u00ff"', "AP8="), ('""', ""), ('"\\n\\u00e9"', "Cuk=")),
        bad=('"\u0100"', '"\u20ac"', '"\U0001f34e"'),
    ),
)
