"""Members of a SET as an array of texts, which are joined by commas."""

from cdc_contracts.registry.core.values import listed_members
from cdc_contracts.registry.core.values.value_form import Examples, ValueForm

FORM = ValueForm(
    "set-list",
    "text",
    frozenset({"array"}),
    decoder="raw",
    schema={"type": ["array", "null"]},
    reader=listed_members.read_list,
    writer=listed_members.write_list,
    examples=Examples(
        good=(('["a", "c"]', "a,c"), ('["\\u00e9"]', "é"), ("[]", "")),
        bad=("[1]", '["a", null]', '[["a"]]'),
    ),
)
