"""Text, decoded from its charset."""

from cdc_contracts.registry.core.values import text_values
from cdc_contracts.registry.core.values.named_records import record_form
from cdc_contracts.registry.core.values.value_form import Examples, NativeCheck

FORM = record_form(
    "avro-character",
    "text",
    "Character",
    reader=text_values.read_text,
    native=(NativeCheck("ANY_TEXT", record="Character"),),
    examples=Examples(good=(('"Character red apple"', "red apple"),), bad=('"Character! klingon YWJj"', '"Character"')),
)
