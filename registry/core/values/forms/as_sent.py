"""Any value as it was sent: a text, the digits of a number, `true` and `false`, the JSON text of an array or object."""

from cdc_contracts.registry.core.values import text_values
from cdc_contracts.registry.core.values.form_schemas import BOOLEAN, EITHER, STRUCTURE
from cdc_contracts.registry.core.values.value_form import Examples, NativeCheck, ValueForm

FORM = ValueForm(
    "as-sent",
    "opaque",
    EITHER | BOOLEAN | STRUCTURE,
    decoder="raw",
    schema={},
    reader=text_values.read_as_sent,
    native=(NativeCheck("ANY_VALUE"),),
    examples=Examples(
        good=(('"AxY="', "AxY="), ("7.90", "7.90"), ("true", "true"), ('{"scale": 2}', '{"scale":2}')),
    ),
)
