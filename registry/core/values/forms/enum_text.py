"""A member of an ENUM as text, in which a backslash may stand before a comma.

The members that the column's type lists tell whether the backslash is one of the member. Where no type lists them, the
text is kept as it is, and noted.
"""

from cdc_contracts.registry.core.values import listed_members
from cdc_contracts.registry.core.values.form_schemas import TEXT, any_of
from cdc_contracts.registry.core.values.value_form import Examples, ValueForm

FORM = ValueForm(
    "enum-text",
    "text",
    TEXT,
    schema=any_of("string"),
    reader=listed_members.read_member,
    examples=Examples(
        good=(
            ('"low"', "low"),
            ('"mid,dle"', "mid,dle"),
            ('"mid\\\\,dle"', "mid,dle"),
            ('"back\\\\,slash"', "back\\,slash"),
            ('"other"', "other"),
        ),
        column_type="enum('low','mid,dle','back\\\\,slash')",
    ),
    type_parameters=frozenset({"members"}),
)
