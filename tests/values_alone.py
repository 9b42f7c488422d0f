"""Values alone: text and flag of one value by its form, its declared type and its use, told word by word."""

from __future__ import annotations

from typing import Any

from cdc_contracts.registry.core.engine.layouts.layout_parts import FormUse
from cdc_contracts.registry.core.values import FIRST_MISFIT, NOTED_MISFIT, BrokenValue, Flag, Number


def read_alone(use: FormUse, value: Any) -> tuple[str | None, int]:
    """Return text and flag; a number is a `Number`, an int, or the bytes of its token, and null is OK.

    A use that is lenient keeps broken text as sent.
    """
    if value is None:
        return None, Flag.OK
    sent = Number(str(value)) if type(value) is int else Number(value.decode()) if type(value) is bytes else value
    try:
        read = use.form.read(sent, use.context)
    except BrokenValue as broken:
        kept = use.lenient and broken.flag == Flag.BROKEN
        return (sent.token if isinstance(sent, Number) else str(sent)) if kept else None, broken.flag
    misfit = (
        0
        if use.bound is None or read.flag not in (Flag.OK, Flag.NOTED, Flag.SUBSTITUTE)
        else use.bound.misfit_of(read.text)
    )
    noted = NOTED_MISFIT if read.flag == Flag.NOTED else 0
    return read.text, FIRST_MISFIT + misfit + noted if misfit else read.flag
