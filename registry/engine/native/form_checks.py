"""Form checks: value forms as `forms.c` checks them, straight from the bytes of a message.

A check accepts values that are surely of the form, rejects those that are surely not, and leaves the rest open. If a
context or a declared type needs more than the check can decide, there is no check, and the form tests every value.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cdc_contracts.registry.engine.layout_parts import FormUse
from cdc_contracts.registry.engine.native.native_layouts import CheckLayout
from cdc_contracts.registry.engine.native.scanned_columns import BOOLEANS, NAMELESS, NUMBERS, TEXTS, ScannedColumn
from cdc_contracts.registry.values import Context, ValueForm
from cdc_contracts.registry.values.civil_time import FIRST_DAY, LAST_DAY, first_steady_year
from cdc_contracts.registry.values.day_times import MOST_MICROS
from cdc_contracts.registry.values.timestamps import FIRST_MILLI, LAST_MILLI, LAST_SECOND
from cdc_contracts.registry.values.type_bounds import TypeBound

_MOST: Final = 2**31 - 1
_LEAST_INT, _MOST_INT = -(2**63), 2**63 - 1
(
    _ANY_TEXT, _INTEGERS, _DECIMALS, _FLOATS, _BOOLEANS, _BASE64, _HEX, _BIT_BASE64, _BIT_HEX, _DATE, _TIME,
    _SQL_DATETIME, _ISO_MINUTES, _ISO_INSTANT, _SECONDS, _SECONDS_FRACTION, _TIME_MINUTES,
) = range(17)  # fmt: skip


@dataclass(frozen=True)
class _Plain:
    """The check of a form: its number in `forms.c`, and the range of whole numbers that its values lie in."""

    number: int
    least: int = _LEAST_INT
    most: int = _MOST_INT
    writes: bool = True
    """Whether `canonical.c` writes its canonical text."""


_FORMS: Final = {
    "integer-number": _Plain(_INTEGERS),
    "integer-text": _Plain(_INTEGERS),
    "integer-or-text": _Plain(_INTEGERS),
    "decimal-number": _Plain(_DECIMALS),
    "decimal-text": _Plain(_DECIMALS),
    "json-number": _Plain(_DECIMALS),
    "json-number-or-text": _Plain(_DECIMALS),
    "float32-number": _Plain(_FLOATS),
    "float64-number": _Plain(_FLOATS),
    "float32-text": _Plain(_FLOATS),
    "float64-text": _Plain(_FLOATS),
    "bool-0-1": _Plain(_INTEGERS, 0, 1, writes=False),
    "bool-json": _Plain(_BOOLEANS, writes=False),
    "text": _Plain(_ANY_TEXT),
    "json-text": _Plain(_ANY_TEXT),
    "opaque-text": _Plain(_ANY_TEXT),
    "base64": _Plain(_BASE64),
    "hex-upper": _Plain(_HEX, writes=False),
    "bit-number": _Plain(_INTEGERS, 0),
    "bit-base64": _Plain(_BIT_BASE64),
    "bit-hex": _Plain(_BIT_HEX),
    "sql-date": _Plain(_DATE),
    "days-since-epoch": _Plain(_INTEGERS, FIRST_DAY, LAST_DAY, writes=False),
    "sql-time": _Plain(_TIME),
    "iso-time-minutes": _Plain(_TIME_MINUTES),
    "micros-of-day": _Plain(_INTEGERS, -MOST_MICROS, MOST_MICROS, writes=False),
    "sql-datetime": _Plain(_SQL_DATETIME),
    "sql-datetime-zone": _Plain(_SQL_DATETIME),
    "sql-datetime-instant": _Plain(_SQL_DATETIME),
    "iso-datetime-minutes": _Plain(_ISO_MINUTES),
    "millis-wallclock": _Plain(_INTEGERS, FIRST_MILLI, LAST_MILLI, writes=False),
    "epoch-millis-instant": _Plain(_INTEGERS, FIRST_MILLI, LAST_MILLI, writes=False),
    "epoch-seconds-integer": _Plain(_SECONDS, most=LAST_SECOND),
    "epoch-seconds.fraction": _Plain(_SECONDS_FRACTION, most=LAST_SECOND),
    "iso-instant": _Plain(_ISO_INSTANT),
}
_YEARS: Final = (1901, 2155)
_NAMED_FORMS: Final[dict[str, tuple[tuple[str, _Plain], ...]]] = {
    "avro-integer": (("Integer", _Plain(_INTEGERS)),),
    "avro-decimal": (("Decimal", _Plain(_DECIMALS)),),
    "avro-float32": (("Float", _Plain(_FLOATS, writes=False)),),
    "avro-float64": (("Float", _Plain(_FLOATS)),),
    "avro-character": (("Character", _Plain(_ANY_TEXT)),),
    "avro-bytes": (("BinaryObject", _Plain(_BASE64)),),
    "avro-text-object": (("TextObject", _Plain(_ANY_TEXT)),),
    "avro-text-or-bytes": (
        ("Character", _Plain(_ANY_TEXT)), ("TextObject", _Plain(_ANY_TEXT)), ("BinaryObject", _Plain(_BASE64)),
    ),
    "avro-geometry": (("TextGeometry", _Plain(_ANY_TEXT)), ("BinaryGeometry", _Plain(_BASE64))),
    "avro-timestamp": (("Timestamp", _Plain(_SECONDS_FRACTION, most=LAST_SECOND)),),
    "avro-date": (("DateTime", _Plain(_DATE)),),
    "avro-time": (("DateTime", _Plain(_TIME)),),
    "avro-datetime": (("DateTime", _Plain(_SQL_DATETIME)),),
    "avro-year": (("DateTime", _Plain(_INTEGERS, *_YEARS)),),
}  # fmt: skip
"""What the forms of named records ask of the text behind each name."""
_OPEN: Final = 255
_MOST_ADDED: Final = 32
"""Bytes that a canonical text may be longer than what was sent."""
_TIMES: Final = (_DATE, _TIME, _TIME_MINUTES, _SQL_DATETIME, _ISO_MINUTES, _ISO_INSTANT, _SECONDS, _SECONDS_FRACTION)
_AS_SENT: Final = (_ANY_TEXT, _BASE64)
_NEAR: Final = (2, 9998)
"""Years in which a moment is one in every zone."""


def kinds_of_wire(wire: frozenset[str]) -> int:
    """Return the kinds of values that a form accepts besides null, a bit each."""
    return sum(bits for kind, bits in (("text", TEXTS), ("number", NUMBERS), ("boolean", BOOLEANS)) if kind in wire)


def check_values(column: ScannedColumn, use: FormUse) -> tuple[NDArray[np.uint8] | None, NDArray[np.int64]] | None:
    """Return the flags of values (None if there are none) and the indices of the values left open.

    Only values of the kinds that the form accepts are flagged. None if there is no check for this use of the form.
    """
    checks = _checks_of(use.form, use.context, use.bound)
    if checks is None:
        return None
    if use.form.records:
        return _check_named(column, use, checks)
    kinds = kinds_of_wire(use.form.wire)
    if checks[0].form == _ANY_TEXT and checks[0].literal is None and not kinds & ~TEXTS:
        return None, np.zeros(0, np.int64)  # any text is of the form
    return _run(column, kinds, checks[0])


def write_values(
    column: ScannedColumn, use: FormUse, flags: NDArray[np.uint8] | None
) -> tuple[pa.Array, NDArray[np.int64]] | None:
    """Return the canonical texts of checked values, and the indices of the values that the form has to write.

    None if it has to write all of them.
    """
    checks = _checks_of(use.form, use.context, use.bound)
    zoned = use.form.needs_zone and use.context.zone is not None
    if checks is None or zoned or not all(plain.writes for _, plain in _parts_of(use.form)):
        return None
    kinds = kinds_of_wire(use.form.wire)
    if use.form.records:
        column, _ = column.strip_names(_heads_of(use.form))
    if all(plain.number in _AS_SENT for _, plain in _parts_of(use.form)):
        return column.texts(kinds), np.zeros(0, np.int64)
    return _write(column, kinds, checks[0], flags)


def _check_named(
    column: ScannedColumn, use: FormUse, checks: Sequence[CheckLayout]
) -> tuple[NDArray[np.uint8] | None, NDArray[np.int64]]:
    """Check values that have the name of a record before them, each by the check of that record."""
    behind, places = column.strip_names(_heads_of(use.form))
    flags: NDArray[np.uint8] | None = None
    for place, check in enumerate(checks):
        own = behind if len(checks) == 1 else behind.where(places == place)
        if (check.form == _ANY_TEXT and check.literal is None) or not own.holds(TEXTS):
            continue
        found, _ = _run(own, TEXTS, check)
        flags = found if flags is None or found is None else np.maximum(flags, found)
    nameless = places == NAMELESS
    if nameless.any():
        flags = np.zeros(len(column), np.uint8) if flags is None else flags
        flags[nameless] = _OPEN
    return flags, np.zeros(0, np.int64) if flags is None else np.flatnonzero(flags == _OPEN)


def _run(column: ScannedColumn, kinds: int, check: CheckLayout) -> tuple[NDArray[np.uint8] | None, NDArray[np.int64]]:
    flags, totals = np.empty(len(column), np.uint8), np.zeros(2, np.int64)
    column.source.library.cdc_check(column.source.memory, column.cells, kinds, ctypes.byref(check), flags, totals)
    undecided, marked = totals.tolist()
    places = np.flatnonzero(flags == _OPEN) if undecided else np.zeros(0, np.int64)
    return flags if marked else None, places


def _write(
    column: ScannedColumn, kinds: int, check: CheckLayout, flags: NDArray[np.uint8] | None
) -> tuple[pa.Array, NDArray[np.int64]]:
    source, total = column.source, len(column)
    flags = np.zeros(total, np.uint8) if flags is None else flags.copy()
    size = source.library.cdc_text_size(column.cells, kinds)
    offsets, valid = pa.allocate_buffer(4 * (total + 1)), np.zeros((total + 7) // 8, np.uint8)
    text = pa.allocate_buffer(size + _MOST_ADDED * total)
    opened = source.library.cdc_canonical(
        source.memory, column.cells, kinds, ctypes.byref(check), flags, offsets, text, valid
    )
    places = np.flatnonzero(flags == _OPEN) if opened else np.zeros(0, np.int64)
    return pa.StringArray.from_buffers(total, offsets, text, pa.py_buffer(valid)), places


def _parts_of(form: ValueForm) -> tuple[tuple[str, _Plain], ...]:
    """Return what a form asks of its values, by the name of the record that holds them if it is a form of records."""
    if form.records:
        return _NAMED_FORMS.get(form.name, ())
    plain = _FORMS.get(form.name)
    return () if plain is None else (("", plain),)


@lru_cache(maxsize=256)
def _heads_of(form: ValueForm) -> tuple[str, ...]:
    return tuple(f"{name} " for name, _ in _parts_of(form))


@lru_cache(maxsize=4096)
def _checks_of(form: ValueForm, context: Context, bound: TypeBound | None) -> tuple[CheckLayout, ...] | None:
    checks = [_check_of(plain, form, context, bound) for _, plain in _parts_of(form)]
    sure = [check for check in checks if check is not None]
    return tuple(sure) if sure and len(sure) == len(checks) else None


def _check_of(plain: _Plain, form: ValueForm, context: Context, bound: TypeBound | None) -> CheckLayout | None:
    if context.zeros_left_out and plain.number not in _TIMES:
        return None
    literal = context.invalid_literal.encode() if context.invalid_literal is not None else None
    earliest, latest = 0, 9999
    if form.needs_zone and context.zone is not None:
        steady = first_steady_year(context.zone)
        if steady is None:
            return None  # twice a year there are local times that are no single instant
        earliest, latest = max(_NEAR[0], steady), _NEAR[1]
    check = CheckLayout(
        plain.number, _MOST, _MOST, int(context.zeros_left_out), plain.least, plain.most, earliest, latest, literal,
        len(literal or b""),
    )  # fmt: skip
    return check if bound is None or _bind(check, form, bound) else None


def _bind(check: CheckLayout, form: ValueForm, bound: TypeBound) -> bool:
    """Narrow a check to the range of a declared type; False if it cannot be."""
    if bound.limits is None:
        return False
    numeric = check.form in (_INTEGERS, _DECIMALS, _BIT_BASE64, _BIT_HEX)
    if form.kind in ("timestamp", "datetime"):
        whole, fraction = _MOST, bound.limits.fraction
    elif numeric:
        whole, fraction = bound.limits.whole, bound.limits.fraction
        if whole < _MOST and check.form in (_BIT_BASE64, _BIT_HEX):
            return False  # the digits of a bit field are not on the wire
    else:
        return False
    check.most_whole, check.most_fraction = min(whole, _MOST), min(fraction, _MOST)
    if bound.least is not None and bound.most is not None:
        check.least, check.most = max(check.least, bound.least), min(check.most, bound.most)
    return True
