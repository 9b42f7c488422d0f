"""A JSON array or object in place of a text; it is kept as JSON text without blanks."""

from cdc_contracts.registry.core.values import structures
from cdc_contracts.registry.core.values.form_schemas import STRUCTURE
from cdc_contracts.registry.core.values.value_form import Examples, NativeCheck, ValueForm

FORM = ValueForm(
    "json-value",
    "json",
    STRUCTURE,
    decoder="raw",
    schema={"type": ["array", "object", "null"]},
    reader=structures.read_structure,
    writer=structures.write_structure,
    native=(NativeCheck("ANY_VALUE"),),
    examples=Examples(
        good=(
            ('{"x": 1.0, "y": [2e3, null]}', '{"x":1.0,"y":[2e3,null]}'),
            ('["a", "\\u00e9"]', '["a","é"]'),
            ("[]", "[]"),
            ('{"x":1.0,"y":[2e3,{"x":null},{"x":"a:b"}]}', '{"x":1.0,"y":[2e3,{"x":null},{"x":"a:b"}]}'),
            ('{"x":1,"y":2,"x":3}', '{"x":3,"y":2}'),
            ('["a b"]', '["a b"]'),
        )
    ),
)
