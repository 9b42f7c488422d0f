"""Form parts: the parsed or the scanned values of one form, validated at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from cdc_contracts.registry.engine import decoder_kinds
from cdc_contracts.registry.engine.layout_parts import FormUse
from cdc_contracts.registry.engine.native.form_checks import check_values, write_values
from cdc_contracts.registry.engine.native.scanned_values import ScannedPart
from cdc_contracts.registry.values import FIRST_MISFIT, NOTED_MISFIT, BrokenValue, Flag, FormColumn, Number
from cdc_contracts.registry.values.type_bounds import TypeBound

FormPart = list[Any] | ScannedPart
"""Values as the parser made them, or where the scanner found them."""
JudgedPart = tuple[NDArray[np.uint8] | None, pa.Array | None]
"""The flags of some values, None where all is well, and their canonical texts, where these are wanted."""


def validate_part(part: FormPart, use: FormUse, *, texts: bool) -> JudgedPart:
    """Return the flags of some values, and with `texts` their canonical texts."""
    if isinstance(part, list):
        return _validate_array(_as_array(part, use.form.decoder), use, texts=texts)
    checked = check_values(part.column, use)
    if checked is None:
        return _validate_scanned(part, use, texts=texts)
    flags, undecided = checked
    written = write_values(part.column, use, flags) if texts else None
    if texts and (written is None or (use.lenient and flags is not None)):
        return _validate_scanned(part, use, texts=True)
    text, unwritten = written if written is not None else (None, np.zeros(0, np.int64))
    rest = np.union1d(undecided, unwritten) if len(unwritten) else undecided
    if len(rest):
        of_rest, texts_of_rest = _validate_scanned(part.select(rest), use, texts=texts)
        if flags is not None:
            flags[undecided] = Flag.OK if of_rest is None else of_rest[np.searchsorted(rest, undecided)]
        if text is not None:
            mask = np.zeros(len(part), np.bool_)
            mask[rest] = True
            text = pc.replace_with_mask(text, pa.array(mask), texts_of_rest)
    return flags, text


def _validate_scanned(part: ScannedPart, use: FormUse, *, texts: bool) -> JudgedPart:
    """Validate values as an array; in a column of all kinds, one by one those that the form's decoder rejects."""
    if not part.wide:
        return _validate_array(part.as_array(use.form.decoder), use, texts=texts)
    values, broken = as_decoder(part.opened(), use)
    flags, text = _validate_array(_as_array(values, use.form.decoder), use, texts=texts)
    if broken is not None:
        flags = broken if flags is None else np.where(broken > 0, broken, flags)
    return flags, text


def _validate_array(array: pa.Array, use: FormUse, *, texts: bool) -> JudgedPart:
    if not texts and use.bound is None:
        return use.form.check(array, use.context), None
    column = use.form.column(array, use.context)
    flags = column.flags if use.bound is None else _mark_misfits(column, use.bound)
    if not texts:
        return flags, None
    text = column.text
    if use.lenient and column.flags is not None:
        text = pc.if_else(pa.array(column.flags == Flag.BROKEN), array.cast(pa.string()), text)
    return flags, text


def join_flags(found: Sequence[JudgedPart], parts: Sequence[FormPart]) -> NDArray[np.uint8] | None:
    """Return the flags of all parts one after the other; None if there are none."""
    if all(flags is None for flags, _ in found):
        return None
    return np.concatenate([
        np.zeros(len(part), np.uint8) if flags is None else flags for (flags, _), part in zip(found, parts, strict=True)
    ])  # fmt: skip


def _mark_misfits(column: FormColumn, bound: TypeBound) -> NDArray[np.uint8] | None:
    """Return the flags of a column, including those of valid values that exceed the declared type."""
    misfits = bound.judge_column(column.text)
    if not misfits.any():
        return column.flags
    flags = np.zeros(len(misfits), np.uint8) if column.flags is None else column.flags
    noted = flags == Flag.NOTED
    marked = FIRST_MISFIT + misfits + np.where(noted, NOTED_MISFIT, 0)
    return np.where((misfits > 0) & (noted | (flags == Flag.OK)), marked, flags).astype(np.uint8)


def _as_array(values: list[Any], decoder: str) -> pa.Array:
    match decoder:
        case "int":
            try:
                return pa.array(values, pa.int64())
            except (OverflowError, pa.ArrowInvalid):
                return pa.array([None if value is None else str(value) for value in values], pa.string())
        case "bool":
            return pa.array(values, pa.bool_())
        case "raw":
            return pa.array([value.encode() if type(value) is str else value for value in values], pa.binary()).cast(
                pa.string()
            )
        case "text-or-int":
            if int in set(map(type, values)):
                values = [str(value) if type(value) is int else value for value in values]
            return pa.array(values, pa.string())
        case _:
            return pa.array(values, pa.string())


def as_decoder(values: Sequence[Any], use: FormUse) -> tuple[list[Any], NDArray[np.uint8] | None]:
    """Return the values of a wide column as the form's decoder accepts them; others are validated here and left out."""
    fit: list[Any] = []
    flags = np.zeros(len(values), np.uint8)
    for row, value in enumerate(values):
        taken = _fit_value(value, use.form.decoder)
        if taken is Ellipsis:
            try:
                flags[row] = use.form.read(value, use.context).flag
            except BrokenValue as error:
                flags[row] = error.flag
            taken = None
        fit.append(taken)
    return fit, flags if flags.any() else None


def _fit_value(value: Any, decoder: str) -> Any:
    if not isinstance(value, Number):
        return value
    if decoder == "raw":
        return value.token.encode()
    if decoder_kinds.decoder_takes(decoder_kinds.INT, value):
        return int(value.token)
    return ...
