"""Text, or bytes shown in Base64, as each value says: the type of the column does not."""

from cdc_contracts.registry.core.values.named_records import either_form
from cdc_contracts.registry.core.values.value_form import Examples, NativeCheck

FORM = either_form(
    "avro-text-or-bytes",
    "text",
    ("Character", "TextObject", "BinaryObject"),
    native=(
        NativeCheck("ANY_TEXT", record="Character"),
        NativeCheck("ANY_TEXT", record="TextObject"),
        NativeCheck("BASE64", record="BinaryObject"),
    ),
    examples=Examples(
        good=(('"Character red apple"', "red apple"),), bad=('"BinaryObject a"', '"Character! utf8mb4 //4="')
    ),
)
