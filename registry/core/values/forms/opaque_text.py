"""Text whose meaning no document gives, as it is."""

from __future__ import annotations

from cdc_contracts.registry.core.values import integers, text_values
from cdc_contracts.registry.core.values.form_schemas import TEXT, any_of
from cdc_contracts.registry.core.values.value_form import Examples, NativeCheck, ValueForm

FORM = ValueForm(
    "opaque-text",
    "opaque",
    TEXT,
    "text",
    schema=any_of("string"),
    doc=__doc__,
    reader=text_values.read_text,
    writer=integers.write_text,
    native=(NativeCheck("ANY_TEXT"),),
    examples=Examples(good=(('"1011"', "1011"),)),
)
