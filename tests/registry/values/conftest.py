"""How the tests hand values to a column, as the fast path does: the fixture `read_column`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa
import pytest

from cdc_contracts.registry.values import Context, Flag, Number, ValueForm

INT64 = range(-(2**63), 2**63)
ReadColumn = Callable[[ValueForm, Sequence[Any], Context], list[tuple[str | None, Flag]]]
WHOLE = frozenset("-0123456789")


@pytest.fixture(scope="session")
def read_column() -> ReadColumn:
    return read_values


def is_handed_over(form: ValueForm, value: Any) -> bool:
    """Say whether the lane can hold the value: integer lanes hold no other numbers."""
    if not isinstance(value, Number):
        return True
    return form.decoder not in ("int", "text-or-int") or set(value.token) <= WHOLE


def hand_over(form: ValueForm, values: Sequence[Any]) -> pa.Array:
    """Make the array that the lane of the form stands for."""
    if form.decoder == "bool":
        return pa.array(values, pa.bool_())
    if form.decoder == "int":
        numbers = [None if value is None else _to_int(value) for value in values]
        if all(number is None or (isinstance(number, int) and number in INT64) for number in numbers):
            return pa.array(numbers, pa.int64())
        return pa.array([None if number is None else str(number) for number in numbers], pa.string())
    return pa.array([_to_text(form, value) for value in values], pa.string())


def read_values(form: ValueForm, values: Sequence[Any], context: Context) -> list[tuple[str | None, Flag]]:
    """Read values through `column`, hold `check` against it, and give texts and flags.

    A value that no lane can hold is given the verdict it has earlier, when the message is parsed.
    """
    held = [value for value in values if is_handed_over(form, value)]
    arrays = [hand_over(form, held)]
    arrays += [leave_bytes(array) for array in arrays if 0 < array.null_count < len(array)]
    results = [_read_array(form, array, context) for array in arrays]
    assert all(result == results[0] for result in results)
    read = iter(results[0])
    return [next(read) if is_handed_over(form, value) else (None, Flag.BROKEN) for value in values]


def leave_bytes(array: pa.Array) -> pa.Array:
    """Put the bytes of another value under every null: a producer of Arrow may leave anything there."""
    filled = array.fill_null(array.drop_null()[0])
    return pa.Array.from_buffers(array.type, len(array), [array.buffers()[0], *filled.buffers()[1:]])


def _read_array(form: ValueForm, array: pa.Array, context: Context) -> list[tuple[str | None, Flag]]:
    column = form.column(array, context)
    checked = form.check(array, context)
    assert column.text.type == pa.string()
    column.text.validate(full=True)
    assert (column.flags is None) == (checked is None)
    if column.flags is None:
        flags = [Flag.OK] * len(array)
    else:
        assert column.flags.tolist() == checked.tolist()  # type: ignore[union-attr]
        assert column.flags.dtype == "uint8"
        assert column.flags.any()
        flags = column.flags.tolist()
    return list(zip(column.text.to_pylist(), flags, strict=True))


def _to_int(value: Number) -> int | str:
    token = "0" if value.token == "-0" else value.token
    return int(token) if len(token) < 4000 else token


def _to_text(form: ValueForm, value: Any) -> str | None:
    if not isinstance(value, Number):
        return value
    return "0" if value.token == "-0" and form.decoder == "text-or-int" else value.token
