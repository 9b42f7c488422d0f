"""Any text, as it is; the empty text is not null."""

from cdc_contracts.registry.core.values import text_values
from cdc_contracts.registry.core.values.form_schemas import TEXT, any_of
from cdc_contracts.registry.core.values.value_form import Examples, NativeCheck, ValueForm

FORM = ValueForm(
    "text",
    "text",
    TEXT,
    schema=any_of("string"),
    reader=text_values.read_text,
    native=(NativeCheck("ANY_TEXT"),),
    examples=Examples(
        good=(('"red apple"', "red apple"),),
        edges=(
            "",
            " ",
            "NULL",
            "null",
            "0",
            "0000-00-00",
            'say "yes"',
            "back\\slash",
            "it's",
            "line\nbreak",
            "tab\there",
            "苹果",
            "\U0001f34e",
            "é",
            "e\u0301",
            "<b>&amp;</b>",
            "{}",
            "a,b;c",
            "%s",
            "\u2028",
        ),
    ),
)
