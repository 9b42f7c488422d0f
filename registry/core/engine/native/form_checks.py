"""Form checks: value forms as `forms.c` checks them, straight from the bytes of a message.

A check accepts values that are surely of the form, rejects those that are surely not, and leaves the rest open. If a
context or a declared type needs more than the check can decide, there is no check, and the form tests every value.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import accumulate, pairwise
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from cdc_contracts.registry.core.engine.layouts.layout_parts import FormUse
from cdc_contracts.registry.core.engine.native.native_interface import buffers_of, parts_of
from cdc_contracts.registry.core.engine.native.scanned_columns import BOOLEANS, NAMELESS, NUMBERS, TEXTS, ScannedColumn
from cdc_contracts.registry.core.engine.native.scanned_values import kinds_of_wire
from cdc_contracts.registry.core.values import Context, Flag, ValueForm
from cdc_contracts.registry.core.values.civil_time import find_offset_at, first_steady_year
from cdc_contracts.registry.core.values.type_bounds import TypeBound
from cdc_contracts.registry.core.values.value_form import NativeCheck

_MOST: Final = 2**31 - 1
_LEAST, _LARGEST = -(2**63), 2**63 - 1
"""The numbers of 64 bits."""
_STEADY_MOMENT: Final = 253_370_764_800
"""9999-01-01T00:00:00Z: by then a zone whose clocks are no longer changed has its last offset."""
_MOST_MEMBERS: Final = 59
"""A mask of more has more digits than C reads."""
_MOST_ADDED: Final = 32
"""Bytes that a canonical text may surely be longer than the digits that were sent."""
_ANY: Final = {"ANY_TEXT": TEXTS, "ANY_VALUE": TEXTS | NUMBERS | BOOLEANS}
"""The checks that take every value of some kinds, a bit each."""
_NEAR: Final = (2, 9998)
"""Years in which a moment is one in every zone."""
Checked = tuple[NDArray[np.uint8] | None, NDArray[np.int64]]
"""The flags of values, None if there are none, and the indices of the values left open."""


def check_values(parts: Sequence[tuple[ScannedColumn, FormUse]]) -> list[Checked | None]:
    """Check the values of some columns, each in a use of a form, all in one pass; None for a use without a check.

    Only values of the kinds that a form accepts are flagged.
    """
    found: list[Checked | None] = [None] * len(parts)
    passed: list[tuple[int, ScannedColumn, Any]] = []
    for place, (column, asked) in enumerate(parts):
        use = _use_of_kinds(column, asked)
        checks = None if use is None else _checks_of(column.source.library, use.form, use.context, use.bound)
        if use is None or checks is None:
            continue
        if use.form.records:
            found[place] = _check_named(column, use, checks)
        elif _takes_all(use.form.native[0], checks[0]) and not column.holds(
            checks[0].kinds & ~_ANY[use.form.native[0].form]
        ):
            found[place] = None, np.zeros(0, np.int64)
        else:
            passed.append((place, column, checks[0]))
    for (place, *_), checked in zip(passed, _run([(column, check) for _, column, check in passed]), strict=True):
        found[place] = checked
    return found


def write_values(
    column: ScannedColumn, use: FormUse, flags: NDArray[np.uint8] | None
) -> tuple[pa.Array, NDArray[np.int64]] | None:
    """Return the canonical texts of checked values, and the indices of the values that the form has to write.

    None if it has to write all of them.
    """
    of_kind = _use_of_kinds(column, use)
    if of_kind is None:
        return None
    use = of_kind
    checks = _checks_of(column.source.library, use.form, use.context, use.bound)
    if checks is None or not all(native.writes for native in use.form.native):
        return None
    kinds = kinds_of_wire(use.form.wire)
    if use.form.records:
        column, _ = column.strip_names(_heads_of(use.form))
    library = column.source.library
    if all(library.forms[native.form].known == "AS_SENT" for native in use.form.native):
        texts = column.texts(kinds)
        if flags is not None:
            texts = pc.if_else(pa.array(flags == Flag.BROKEN), None, texts)
        return texts, np.zeros(0, np.int64)
    longer = any(library.forms[native.form].known == "LONGER" for native in use.form.native)
    return _write(column, checks[0], flags, longer=longer)


def _use_of_kinds(column: ScannedColumn, use: FormUse) -> FormUse | None:
    """Return the use of the form that reads all values of a column, which may depend on their kind; None if it does."""
    of_any = use.form.numbers is None or all(native.numbers for native in use.form.native)
    if of_any or not column.holds(NUMBERS):
        return use
    return None if column.holds(kinds_of_wire(use.form.wire) & ~NUMBERS) else _use_of_numbers(use)


@lru_cache(maxsize=256)
def _use_of_numbers(use: FormUse) -> FormUse:
    """Return the use of the form of numbers, which have their point."""
    form = use.form.numbers or use.form
    return replace(use, form=form, context=replace(use.context, scale=None))


def _check_named(
    column: ScannedColumn, use: FormUse, checks: Sequence[Any]
) -> tuple[NDArray[np.uint8] | None, NDArray[np.int64]]:
    """Check values that have the name of a record before them, each by the check of that record."""
    behind, places = column.strip_names(_heads_of(use.form))
    flags: NDArray[np.uint8] | None = None
    for place, (native, check) in enumerate(zip(use.form.native, checks, strict=True)):
        own = behind if len(checks) == 1 else behind.where(places == place)
        if _takes_all(native, check) or not own.holds(TEXTS):
            continue
        ((found, _),) = _run([(own, check)])
        if found is not None:
            flags = found if flags is None else np.maximum(flags, found)
    nameless, is_open = places == NAMELESS, column.source.library.constants["OPEN"]
    if nameless.any():
        flags = np.zeros(len(column), np.uint8) if flags is None else flags
        flags[nameless] = is_open
    return flags, np.zeros(0, np.int64) if flags is None else np.flatnonzero(flags == is_open)


def _run(checked: Sequence[tuple[ScannedColumn, Any]]) -> list[Checked]:
    """Run the check of each column; values of one message are checked one after the other, while its bytes are near."""
    if not checked:
        return []
    columns, checks = zip(*checked, strict=True)
    library, totals = columns[0].source.library, np.empty((len(checks), 2), np.int64)
    ends = [*accumulate(map(len, columns), initial=0)]
    flags = np.empty(ends[-1], np.uint8)
    library.cdc_check(
        buffers_of([column.source.memory for column in columns]), buffers_of([column.cells for column in columns]),
        (type(checks[0]) * len(checks))(*checks), parts_of(flags, ends), totals,
    )  # fmt: skip
    is_open, none = library.constants["OPEN"], np.zeros(0, np.int64)
    return [
        (flags[begin:end] if marked else None, np.flatnonzero(flags[begin:end] == is_open) if undecided else none)
        for (begin, end), (undecided, marked) in zip(pairwise(ends), totals.tolist(), strict=True)
    ]


def _write(
    column: ScannedColumn, check: Any, flags: NDArray[np.uint8] | None, *, longer: bool
) -> tuple[pa.Array, NDArray[np.int64]]:
    source, total, constants = column.source, len(column), column.source.library.constants
    given, flags = flags, np.zeros(total, np.uint8) if flags is None else flags.copy()
    size = source.library.cdc_text_size(column.cells, check.kinds)
    size += size // 3 if longer else 0
    offsets, valid = pa.allocate_buffer(4 * (total + 1)), np.zeros((total + 7) // 8, np.uint8)
    text = pa.allocate_buffer(size + constants["MOST_ADDED"] * total)
    opened = source.library.cdc_canonical(source.memory, column.cells, ctypes.byref(check), flags, offsets, text, valid)
    texts = pa.StringArray.from_buffers(total, offsets, text, pa.py_buffer(valid))
    if not opened:
        return texts, np.zeros(0, np.int64)
    unwritten: NDArray[np.bool_] = flags == constants["OPEN"]
    if check.form == source.library.forms["FLOATS"].number:
        plain = unwritten if given is None else unwritten & (given == Flag.OK)
        texts, unwritten = _keep_shortest(column, texts, unwritten, plain)
    return texts, np.flatnonzero(unwritten)


def _keep_shortest(
    column: ScannedColumn, texts: pa.Array, unwritten: NDArray[np.bool_], plain: NDArray[np.bool_]
) -> tuple[pa.Array, NDArray[np.bool_]]:
    """Return texts with those of plain numbers that have no more digits than their binary64 needs, as Arrow writes it.

    Beyond 10^10 Arrow writes an exponent; a zero may have lost its sign or its digits.
    """
    places = np.flatnonzero(plain)
    sent = column.select(places).texts(TEXTS | NUMBERS)
    numbers = sent.cast(pa.float64())
    kept = pc.and_(pc.equal(numbers.cast(pa.string()), sent), pc.not_equal(numbers, 0.0))
    found = np.zeros(len(texts), np.bool_)
    found[places[kept.to_numpy(zero_copy_only=False)]] = True
    return pc.replace_with_mask(texts, pa.array(found), sent.filter(kept)), unwritten & ~found


@lru_cache(maxsize=256)
def _heads_of(form: ValueForm) -> tuple[str, ...]:
    return tuple(f"{native.record} " for native in form.native)


def _takes_all(native: NativeCheck, check: Any) -> bool:
    return native.form in _ANY and check.literals is None and check.substitutes is None


@lru_cache(maxsize=4096)
def _checks_of(library: Any, form: ValueForm, context: Context, bound: TypeBound | None) -> tuple[Any, ...] | None:
    checks = [_check_of(library, native, form, context, bound) for native in form.native]
    sure = [check for check in checks if check is not None]
    return tuple(sure) if sure and len(sure) == len(checks) else None


def _check_of(library: Any, native: NativeCheck, form: ValueForm, context: Context, bound: TypeBound | None) -> Any:
    """Return what C is asked to check; None if it cannot decide values of this use."""
    number, known = library.forms[native.form]
    if context.zeros_left_out and known != "TIMES":
        return None
    literals = _terminated(context.invalid_literals)
    substitutes = _terminated(tuple(substitute for substitute, _ in context.substitutes))
    earliest, latest, offset = 0, 9999, 0
    if form.needs_zone and context.zone is not None:
        steady = first_steady_year(context.zone)
        if steady is None:
            return None  # twice a year there are local times that are no single instant
        earliest, latest = max(_NEAR[0], steady), _NEAR[1]
        offset = find_offset_at(context.zone, _STEADY_MOMENT)
    most = native.most if context.length is None else min(native.most, (1 << context.length) - 1)
    scale = library.constants["NOT_KNOWN"] if context.scale is None else context.scale
    members = _short_members(context.members, joined=native.form == "SET_MASK")
    check = library.structures["Check"](
        form=number, kinds=kinds_of_wire(form.wire), most_whole=_MOST, most_fraction=_MOST,
        zeros_open=int(context.zeros_left_out),
        bounded=native.least > _LEAST or most < _LARGEST, least=native.least, most=most,
        scale=scale, least_fraction=max(scale, 0), earliest=earliest, latest=latest,
        is_instant=form.kind_in(context.zone) == "timestamp", offset=offset,
        texts_open=form.texts is not None, members=len(members),
        member_texts=_terminated(members),
        literals=literals or None, literals_size=len(literals),
        substitutes=substitutes or None, substitutes_size=len(substitutes),
    )  # fmt: skip
    return check if bound is None or _bind(check, known, form, bound) else None


def _terminated(texts: tuple[str, ...]) -> bytes:
    """Return texts one after the other, each with a zero byte behind it; one that holds such a byte is in no cell."""
    return "".join(text + "\0" for text in texts if "\0" not in text).encode()


def _short_members(members: tuple[str, ...], *, joined: bool) -> tuple[str, ...]:
    """Return the members of a type if each, or with `joined` all together, is as short as C has room for; else none."""
    sizes = [len(member.encode()) for member in members]
    size = sum(sizes) + len(sizes) - 1 if joined else max(sizes, default=0)
    if len(members) > _MOST_MEMBERS or size > _MOST_ADDED or any("\0" in member for member in members):
        return ()
    return members


def _bind(check: Any, known: str, form: ValueForm, bound: TypeBound) -> bool:
    """Narrow a check to the range of a declared type; False if it cannot be."""
    if bound.limits is None:
        return False
    if form.kind in ("timestamp", "datetime"):
        whole, fraction = _MOST, bound.limits.fraction
    elif known in ("NUMBERS", "BITS"):
        whole, fraction = bound.limits.whole, bound.limits.fraction
        if whole < _MOST and known == "BITS":
            return False  # the digits of a bit field are not on the wire
    elif known == "UNSCALED":
        if check.scale < 0 or check.scale > bound.limits.fraction:
            return False
        whole, fraction = bound.limits.whole + check.scale, _MOST  # of all digits, for there is no point among them
    else:
        return False
    check.most_whole, check.most_fraction = min(whole, _MOST), min(fraction, _MOST)
    if bound.least is not None and bound.most is not None:
        narrow = bound.least > _LEAST or bound.most < _LARGEST
        check.bounded |= narrow or (bound.least, bound.most) == (_LEAST, _LARGEST)
        check.least, check.most = max(check.least, bound.least), min(check.most, bound.most)
    return True
