"""Counts near 1970: moments that in a smaller unit are mostly counts of a larger one.

Milliseconds of this century, read as nanoseconds, are minutes after midnight of 1970-01-01, and read as microseconds
days of that January. No count says which is meant, but where all counts of a topic turn into such ones, its unit did.
"""

from __future__ import annotations

from functools import cache, partial
from typing import Final

from cdc_contracts.registry.core.values.form_schemas import NUMBER
from cdc_contracts.registry.core.values.form_values import Context, Value
from cdc_contracts.registry.core.values.forms.integer_number import FORM as INTEGER
from cdc_contracts.registry.core.values.integers import read_count
from cdc_contracts.registry.core.values.value_form import NativeCheck, ValueForm

_FIRST: Final = "1969-12-01T00:00:00"
_END: Final = "1970-02-01T00:00:00"
"""A month to each side: units are a thousand apart, so that counts to the year 2054 of the larger one are within it."""


@cache
def near_epoch(form: ValueForm) -> ValueForm | None:
    """Return the form of those counts of a form that are moments within a month of 1970; None if it has no counts."""
    if form.kind not in ("timestamp", "datetime") or form.wire != NUMBER or form.decoder != "int":
        return None
    zone = "Z" if form.kind == "timestamp" else ""
    least, end = (int(str(form.writer(text + zone, Context()))) for text in (_FIRST, _END))
    return ValueForm(
        f"{form.name}-near-1970", INTEGER.kind, NUMBER, INTEGER.schema, partial(_read, least, end - 1),
        INTEGER.examples, decoder="int", native=(NativeCheck("COUNTS", least, end - 1, writes=False),),
    )  # fmt: skip


def _read(least: int, most: int, token: str, _context: Context) -> Value:
    return Value(str(read_count(token, least, most)))
