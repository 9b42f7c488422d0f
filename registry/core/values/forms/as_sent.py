"""Any value as it was sent: a text, the digits of a number, `true` and `false`, the JSON text of an array or object."""

from __future__ import annotations

from cdc_contracts.registry.core.values import integers, text_values
from cdc_contracts.registry.core.values.form_schemas import BOOLEAN, EITHER, STRUCTURE
from cdc_contracts.registry.core.values.value_form import Examples, NativeCheck, ValueForm

FORM = ValueForm(
    "as-sent",
    "opaque",
    EITHER | BOOLEAN | STRUCTURE,
    "raw",
    schema={},
    doc=__doc__,
    reader=text_values.read_as_sent,
    writer=integers.write_text,
    native=(NativeCheck("ANY_VALUE"),),
    examples=Examples(
        good=(('"AxY="', "AxY="), ("7.90", "7.90"), ("true", "true"), ('{"scale": 2}', '{"scale":2}')),
    ),
)
