"""Likely counts: those that are moments between 1980 and 2054 in their unit, which they are in no other unit.

Milliseconds of these years, read as nanoseconds, are minutes after midnight of 1970-01-01, and read as microseconds
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

_FIRST: Final = "1980-01-01T00:00:00"
"""Common defaults are later in no other unit: 9999-12-31 is of 1978 in the next smaller one, and the midnight of
1970-01-01 in another time zone is of 1971 at the latest in the next larger one."""
_END: Final = "2054-11-16T00:00:00"
"""31,000 days behind 1970-01-01: units are a thousand apart, so that in a smaller one this is still January 1970."""


@cache
def likely_counts(form: ValueForm) -> ValueForm | None:
    """Return the form of those counts of a form that are moments between 1980 and 2054; None if it has no counts."""
    if form.kind not in ("timestamp", "datetime") or form.wire != NUMBER or form.decoder != "int":
        return None
    zone = "Z" if form.kind == "timestamp" else ""
    least, end = (int(str(form.writer(text + zone, Context()))) for text in (_FIRST, _END))
    return ValueForm(
        f"likely-{form.name}", INTEGER.kind, NUMBER, INTEGER.schema, partial(_read, least, end - 1),
        INTEGER.examples, decoder="int", native=(NativeCheck("COUNTS", least, end - 1, writes=False),),
    )  # fmt: skip


def _read(least: int, most: int, token: str, _context: Context) -> Value:
    return Value(str(read_count(token, least, most)))
