"""Bytes in Base64 (RFC 4648, section 4), padded."""

from __future__ import annotations

from cdc_contracts.registry.core.values import byte_strings, integers
from cdc_contracts.registry.core.values.form_schemas import TEXT, text_like
from cdc_contracts.registry.core.values.value_form import Examples, NativeCheck, ValueForm

FORM = ValueForm(
    "base64",
    "bytes",
    TEXT,
    "text",
    schema=text_like(byte_strings.BASE64.pattern),
    doc=__doc__,
    reader=byte_strings.read_base64,
    writer=integers.write_text,
    native=(NativeCheck("BASE64"),),
    examples=Examples(
        good=(('"amc="', "amc="),), bad=('"aA"', '"aA="', '"aB=="'), edges=("", "AA==", "/w==", "eyJhIjoxfQ==")
    ),
)
