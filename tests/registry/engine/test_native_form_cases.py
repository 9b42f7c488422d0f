"""The native part against the hand-written values of every form: what it decides of them is what they say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from scanned_messages import LIBRARY, column_of, kind_of_number

from cdc_contracts.registry.core.engine.layouts import decoder_kinds
from cdc_contracts.registry.core.engine.layouts.layout_parts import FormUse
from cdc_contracts.registry.core.engine.native.form_checks import check_values
from cdc_contracts.registry.core.engine.native.scanned_columns import ESCAPED, TEXT
from cdc_contracts.registry.core.values import FORMS, Context, Flag, Number

pytestmark = pytest.mark.skipif(LIBRARY is None, reason="no native part was compiled here")

GROUPS = {
    "good": Flag.OK, "noted": Flag.NOTED, "in part": Flag.NOT_WHOLE, "invalid": Flag.INVALID, "broken": Flag.BROKEN,
    "too long": Flag.TOO_LONG,
}  # fmt: skip
CASES: dict[str, dict[str, Any]] = {}
for path in sorted((Path(__file__).parents[1] / "values" / "cases").glob("*.json")):
    CASES |= json.loads(path.read_text("utf-8"), parse_int=Number, parse_float=Number)


@pytest.mark.parametrize("name", [name for name in CASES if FORMS[name].native])
def test_what_is_decided_of_a_hand_written_value_is_what_the_case_says(name: str) -> None:
    form = FORMS[name]
    use = FormUse(form, Context(keep_invalid=True), lenient=False)
    for group, flag in GROUPS.items():
        values = [case[0] if isinstance(case, list) else case for case in CASES[name].get(group, ())]
        for value in values:
            if isinstance(value, dict) or not isinstance(value, str | Number):
                continue  # repeated parts, and values of kinds that no column of this form has
            ((flags, undecided),) = check_values([(column_of([cell_of(value)], decoder_kinds.WIDE), use)])
            if not len(undecided):
                assert (value, 0 if flags is None else int(flags[0])) == (value, flag)


def cell_of(value: str | Number) -> tuple[int, str]:
    """Return the kind of a value and how JSON writes it."""
    if isinstance(value, Number):
        return kind_of_number(value.token), value.token
    token = json.dumps(value, ensure_ascii=False)[1:-1]
    return (ESCAPED if "\\" in token else TEXT), token
