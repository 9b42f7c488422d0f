"""Bytes as a list such as `[106, -1]`: -128 to 255, a comma and one space between them."""

from cdc_contracts.registry.core.values import byte_strings
from cdc_contracts.registry.core.values.form_schemas import TEXT, text_like
from cdc_contracts.registry.core.values.value_form import Examples, ValueForm

FORM = ValueForm(
    "byte-list",
    "bytes",
    TEXT,
    schema=text_like(byte_strings.BYTE_LIST.pattern),
    reader=byte_strings.read_byte_list,
    writer=byte_strings.write_byte_list,
    examples=Examples(good=(('"[106, -1]"', "av8="),), bad=('"["', '"]"', '"[ ]"')),
)
