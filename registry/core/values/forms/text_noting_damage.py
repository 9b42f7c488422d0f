"""Any text, as it is; U+FFFD, which stands where a character could not be converted, is noted."""

from cdc_contracts.registry.core.values import text_values
from cdc_contracts.registry.core.values.form_schemas import TEXT, any_of
from cdc_contracts.registry.core.values.value_form import Examples, NativeCheck, ValueForm

FORM = ValueForm(
    "text-noting-damage",
    "text",
    TEXT,
    schema=any_of("string"),
    reader=text_values.read_noting_damage,
    native=(NativeCheck("TEXT_NOTING_DAMAGE"),),
    examples=Examples(good=(('"red apple"', "red apple"), ('"M\\ufffdnchen"', "M\ufffdnchen"))),
)
