"""Bytes in Base64 (RFC 4648, section 4), padded."""

from cdc_contracts.registry.core.values import byte_strings
from cdc_contracts.registry.core.values.form_schemas import TEXT, text_like
from cdc_contracts.registry.core.values.value_form import Examples, NativeCheck, ValueForm

FORM = ValueForm(
    "base64",
    "bytes",
    TEXT,
    schema=text_like(byte_strings.BASE64.pattern),
    reader=byte_strings.read_base64,
    native=(NativeCheck("BASE64"),),
    examples=Examples(
        good=(('"amc="', "amc="),), bad=('"aA"', '"aA="', '"aB=="'), edges=("", "AA==", "/w==", "eyJhIjoxfQ==")
    ),
)
