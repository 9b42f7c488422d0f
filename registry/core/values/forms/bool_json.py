"""The JSON values true and false."""

from __future__ import annotations

from cdc_contracts.registry.core.values import plain_texts
from cdc_contracts.registry.core.values.form_schemas import BOOLEAN, any_of
from cdc_contracts.registry.core.values.value_form import Examples, NativeCheck, ValueForm

FORM = ValueForm(
    "bool-json",
    "boolean",
    BOOLEAN,
    "bool",
    schema=any_of("boolean"),
    doc=__doc__,
    reader=plain_texts.read_text,
    writer=plain_texts.write_boolean,
    native=(NativeCheck("BOOLEANS"),),
    examples=Examples(good=(("true", "true"),), edges=("true", "false")),
)
