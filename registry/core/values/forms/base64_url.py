"""Bytes in Base64 of the alphabet for URLs (RFC 4648, section 5), padded."""

from cdc_contracts.registry.core.values import byte_strings
from cdc_contracts.registry.core.values.form_schemas import TEXT, text_like
from cdc_contracts.registry.core.values.value_form import Examples, NativeCheck, ValueForm

FORM = ValueForm(
    "base64-url",
    "bytes",
    TEXT,
    schema=text_like(byte_strings.BASE64_URL.pattern),
    reader=byte_strings.read_base64_url,
    writer=byte_strings.write_base64_url,
    native=(NativeCheck("BASE64_URL"),),
    examples=Examples(
        good=(('"-_-_"', "+/+/"), ('"amc="', "amc="), ('""', "")), bad=('"+/+/"', '"aA"', '"aB=="', '"a==="')
    ),
)
