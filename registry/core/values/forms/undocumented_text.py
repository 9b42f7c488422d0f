"""Text of a type that no document shows, as it is; always noted."""

from cdc_contracts.registry.core.values import text_values
from cdc_contracts.registry.core.values.form_schemas import TEXT, any_of
from cdc_contracts.registry.core.values.value_form import Examples, ValueForm

FORM = ValueForm(
    "undocumented-text",
    "opaque",
    TEXT,
    schema=any_of("string"),
    reader=text_values.read_undocumented,
    examples=Examples(good=(('"POINT (1 2)"', "POINT (1 2)"),)),
)
