"""A member of an ENUM by its place, counted from 1, as number or text; 0 is no member, and noted.

Without the members, which the column's type lists, the digits stay and are noted.
"""

from cdc_contracts.registry.core.values import listed_members
from cdc_contracts.registry.core.values.form_schemas import EITHER, text_or
from cdc_contracts.registry.core.values.value_form import Examples, NativeCheck, ValueForm

FORM = ValueForm(
    "enum-index",
    "text",
    EITHER,
    decoder="text-or-int",
    schema=text_or("integer", listed_members.INDEX.pattern, minimum=0),
    reader=listed_members.read_index,
    writer=listed_members.write_index,
    native=(NativeCheck("ENUM_INDEX"),),
    examples=Examples(
        good=(('"2"', "b'c"), ("1", "a"), ("3", ""), ('"0"', "")),
        bad=('"4"', "-1", "1.0", '"01"', '""', '"a"'),
        column_type="enum('a','b''c','')",
    ),
    type_parameters=frozenset({"members"}),
)
