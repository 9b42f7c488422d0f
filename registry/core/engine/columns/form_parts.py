"""Form parts: the parsed or the scanned values of one form, validated at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from cdc_contracts.registry.core.engine.columns.distinct_values import read_values
from cdc_contracts.registry.core.engine.layouts.layout_parts import FormUse
from cdc_contracts.registry.core.engine.native.form_checks import Checked, check_values, write_values
from cdc_contracts.registry.core.engine.native.scanned_values import ScannedPart
from cdc_contracts.registry.core.values import Flag

FormPart = Sequence[Any] | ScannedPart
"""Values as the parser made them, or where the scanner found them."""
ValidatedPart = tuple[NDArray[np.uint8] | None, pa.Array | None]
"""The flags of some values, None where all is well, and their canonical texts, where these are wanted."""


def validate_parts(parts: Sequence[tuple[FormPart, FormUse]], *, texts: bool) -> list[ValidatedPart]:
    """Return the flags of the values of each part, and with `texts` their canonical texts."""
    checked = iter(check_values([(part.column, use) for part, use in parts if isinstance(part, ScannedPart)]))
    return [
        _validate_rest(part, use, next(checked) if isinstance(part, ScannedPart) else None, texts=texts)
        for part, use in parts
    ]


def _validate_rest(part: FormPart, use: FormUse, checked: Checked | None, *, texts: bool) -> ValidatedPart:
    """Return the same of one part, of which some values may be checked already."""
    if not isinstance(part, ScannedPart):
        return read_values(part, use, texts=texts)
    if checked is None:
        return read_values(part.opened(), use, texts=texts)
    flags, undecided = checked
    written = write_values(part.column, use, flags) if texts else None
    if texts and (written is None or (use.lenient and flags is not None)):
        return read_values(part.opened(), use, texts=True)
    text, unwritten = written if written is not None else (None, np.zeros(0, np.int64))
    rest = np.union1d(undecided, unwritten) if len(unwritten) else undecided
    if len(rest):
        of_rest, texts_of_rest = read_values(part.opened(rest), use, texts=texts)
        if flags is not None:
            flags[undecided] = Flag.OK if of_rest is None else of_rest[np.searchsorted(rest, undecided)]
        if text is not None:
            mask = np.zeros(len(part), np.bool_)
            mask[rest] = True
            text = pc.replace_with_mask(text, pa.array(mask), texts_of_rest)
    return flags, text


def join_flags(found: Sequence[ValidatedPart], parts: Sequence[FormPart]) -> NDArray[np.uint8] | None:
    """Return the flags of all parts one after the other; None if there are none."""
    if all(flags is None for flags, _ in found):
        return None
    return np.concatenate([
        np.zeros(len(part), np.uint8) if flags is None else flags for (flags, _), part in zip(found, parts, strict=True)
    ])  # fmt: skip
