"""Value readings: a value of a column as every version of a subject reads it, remembered for the values that recur.

A value is usual where each version takes it without a finding. Of any other, its signs say all that a verdict may
depend on, so that messages whose values have the same signs have the same verdict.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, Final, NamedTuple

from cdc_contracts.registry.core.common.json_messages import kind_of
from cdc_contracts.registry.core.engine.layouts.layout_parts import FormUse
from cdc_contracts.registry.core.engine.layouts.single_values import read_value
from cdc_contracts.registry.core.validate.decoded_changes import text_as_sent
from cdc_contracts.registry.core.validate.form_selection import TypedColumns
from cdc_contracts.registry.core.validate.reference_validator import ReferenceValidator, table_of_column
from cdc_contracts.registry.core.validate.table_constraints import ZERO_DATE
from cdc_contracts.registry.core.values import FIRST_MISFIT, NOTED_MISFIT, WIRES, Flag, Number, describe_shape

_MOST_VALUES: Final = 256
"""Values of one kind of column that are remembered; beyond that, they are forgotten together."""
_LONGEST: Final = 64
"""Characters of a value that is remembered."""
_BROKEN: Final = "broken"
"""The sign of a value in which a version finds an error; which one it is matters to no verdict that is repeated."""


class ValueReading(NamedTuple):
    """A value as read: its text and flag by the place of each version.

    `broken` has the bit of each version that surely finds an error in it, `signs` all that the verdict of each other
    version may depend on, None where all is usual.
    """

    texts: tuple[tuple[str | None, int], ...]
    broken: int
    signs: tuple[Hashable, ...] | None


class ColumnReading:
    """Reads the values of columns that each version reads by the same form; several threads may share it."""

    def __init__(self, uses: Sequence[FormUse | None], *, never_null: bool, tells_kind: bool) -> None:
        """Take the forms by version, None where a version does not know the type of the column.

        With `tells_kind` the JSON kind is one of the signs of every value: the message has types, but none for these.
        """
        self._uses = tuple(dict.fromkeys(uses))
        self._places = tuple(map(self._uses.index, uses))
        self._tells_kind = tells_kind
        self._known: dict[Any, ValueReading] = {}
        total = len(self._places)
        self._null = ValueReading(((None, Flag.OK),) * total, 0, ("null",) * total if never_null else None)

    def read(self, value: Any) -> ValueReading:
        """Return a value as read."""
        if type(value) is str:
            return self._known.get(value) or self._read(value, value)
        if value is None:
            return self._null
        key = (value.token,) if type(value) is Number else None
        return self._known.get(key) or self._read(key, value)

    def _read(self, key: Any, value: Any) -> ValueReading:
        kind = kind_of(value)
        if len(self._uses) == 1:
            text, sign = _read_by(self._uses[0], kind, value)
            texts, signs = (text,) * len(self._places), (sign,) * len(self._places)
            if sign is None and not self._tells_kind:
                return self._remember(key, ValueReading(texts, 0, None))
        else:
            read = [_read_by(use, kind, value) for use in self._uses]
            texts = tuple([read[place][0] for place in self._places])
            signs = tuple([read[place][1] for place in self._places])
        broken = 0
        if _BROKEN in signs:
            broken = sum(1 << place for place, sign in enumerate(signs) if sign is _BROKEN)
            signs = tuple([None if sign is _BROKEN else sign for sign in signs])
        if self._tells_kind:
            return self._remember(key, ValueReading(texts, broken, (kind, *signs)))
        usual = all(sign is None for sign in signs)
        return self._remember(key, ValueReading(texts, broken, None if usual else signs))

    def _remember(self, key: Any, found: ValueReading) -> ValueReading:
        if key is not None and len(key if type(key) is str else key[0]) <= _LONGEST:
            if len(self._known) >= _MOST_VALUES:
                self._known.clear()
            self._known[key] = found
        return found


def _read_by(use: FormUse | None, kind: str, value: Any) -> tuple[tuple[str | None, int], Hashable]:
    """Return text and flag of a value by one form, and its signs."""
    if use is None:
        return (None, Flag.OK), ("untyped", kind)
    if WIRES[kind] not in use.form.wire:
        return (None, Flag.OK), _BROKEN
    text, flag = read_value(use, value)
    if flag == Flag.OK:
        return (text, flag), None
    if text is None or flag == Flag.BROKEN:
        return (text_as_sent(value), Flag.INVALID), _BROKEN if text is None else ("as sent", describe_shape(value))
    kept = flag if flag < FIRST_MISFIT else Flag.NOTED if flag - FIRST_MISFIT & NOTED_MISFIT else Flag.OK
    return (text, kept), (flag, describe_shape(value), text.startswith(ZERO_DATE))


def use_form(validator: ReferenceValidator, columns: TypedColumns, name: str, value: Any) -> FormUse | None:
    """Return how a version reads a value of a column; None if it does not know the type."""
    form = validator.forms.form_of(columns, name, value)
    if form is None:
        return None
    table = table_of_column(columns, name)
    declared = table.types.get(name) if table is not None else None
    bound = validator.forms.bound_of(form, declared, columns.sent_type(name))
    context = validator.forms.context_of_column(form, columns, name)
    return FormUse(form, context, validator.forms.lenient(form), bound, declared=declared is not None)
