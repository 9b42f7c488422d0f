"""Text."""

from cdc_contracts.registry.core.values import text_values
from cdc_contracts.registry.core.values.named_records import record_form
from cdc_contracts.registry.core.values.value_form import Examples, NativeCheck

FORM = record_form(
    "avro-text-object",
    "text",
    "TextObject",
    reader=text_values.read_text,
    native=(NativeCheck("ANY_TEXT", record="TextObject"),),
    examples=Examples(good=(('"TextObject {}"', "{}"),), bad=('"TextObject"',)),
)
