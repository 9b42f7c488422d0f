"""Members of a SET as a number with a bit for each, the lowest for the first, as number or text.

They are joined by commas. Without the members, which the column's type lists, the digits stay and are noted.
"""

from cdc_contracts.registry.core.values import listed_members
from cdc_contracts.registry.core.values.form_schemas import EITHER, text_or
from cdc_contracts.registry.core.values.value_form import Examples, NativeCheck, ValueForm

FORM = ValueForm(
    "set-mask",
    "text",
    EITHER,
    decoder="text-or-int",
    schema=text_or("integer", listed_members.MASK.pattern, minimum=0),
    reader=listed_members.read_mask,
    writer=listed_members.write_mask,
    native=(NativeCheck("SET_MASK"),),
    examples=Examples(
        good=(('"5"', "a,c"), ("7", "a,b,c"), ("0", ""), ("2", "b")),
        bad=('"8"', "-1", "1.0", '"01"', '""', '"a"'),
        column_type="set('a','b','c')",
    ),
    type_parameters=frozenset({"members"}),
)
