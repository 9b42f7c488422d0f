"""Text of a type that no document shows, as it is; always noted."""

from __future__ import annotations

from cdc_contracts.registry.core.values import integers, text_values
from cdc_contracts.registry.core.values.form_schemas import TEXT, any_of
from cdc_contracts.registry.core.values.value_form import Examples, ValueForm

FORM = ValueForm(
    "undocumented-text",
    "opaque",
    TEXT,
    "text",
    schema=any_of("string"),
    doc=__doc__,
    reader=text_values.read_undocumented,
    writer=integers.write_text,
    examples=Examples(good=(('"POINT (1 2)"', "POINT (1 2)"),)),
)
