"""Single values: one value as a form reads it, with what keeps it out of its declared type; without Arrow."""

from __future__ import annotations

from typing import Any

from cdc_contracts.registry.core.engine.layouts.layout_parts import FormUse
from cdc_contracts.registry.core.validate.decoded_changes import text_as_sent
from cdc_contracts.registry.core.values import FIRST_MISFIT, NOTED_MISFIT, BrokenValue, Flag, Number


def read_value(use: FormUse, value: Any) -> tuple[str | None, int]:
    """Return the canonical text and the flag of one value, FIRST_MISFIT and more where its type does not hold it.

    The text is None where the value is broken, and is kept as sent where the use of the form is lenient.
    """
    sent = number_by_token(value)
    try:
        read = use.form.read(sent, use.context)
    except BrokenValue as broken:
        lenient = use.lenient and broken.flag == Flag.BROKEN
        return text_as_sent(sent) if lenient else None, broken.flag
    if use.bound is None or read.flag not in (Flag.OK, Flag.NOTED, Flag.SUBSTITUTE):
        return read.text, read.flag
    misfit = use.bound.misfit_of(read.text)
    if not misfit:
        return read.text, read.flag
    return read.text, FIRST_MISFIT + misfit + (NOTED_MISFIT if read.flag == Flag.NOTED else 0)


def number_by_token(value: Any) -> Any:
    """Return a value as the strict parser makes it, where a decoder made it an integer or the bytes of a number."""
    if type(value) is int:
        return Number(str(value))
    return Number(value.decode()) if type(value) is bytes else value
