"""Subject claims: the other subjects that would accept messages without our discriminators, for many at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from cdc_contracts.registry.common.json_messages import Unreadable
from cdc_contracts.registry.contract.discriminators import needed_names
from cdc_contracts.registry.records.message_values import MessageValues
from cdc_contracts.registry.validate.validation_context import ValidationContext, join_claimants

_FEW: Final = 8
"""So few records are asked for one by one whether another subject claims them: most say no by their first member."""


class Rival(Protocol):
    """The validator of another subject."""

    validation: ValidationContext

    def claimed_values(self, values: MessageValues) -> NDArray[np.bool_]:
        """Say for each value whether the subject's discriminators hold and one of its versions finds no error."""
        ...


class Claims:
    """The claims of all other subjects on messages that a validation context does not recognise."""

    def __init__(self, validation: ValidationContext, judge_of: Callable[[ValidationContext], Rival]) -> None:
        self._scope = validation
        self._judge_of = judge_of
        self._known: dict[str, Rival] = {}

    def _rivals(self, validations: Iterable[ValidationContext]) -> list[Rival]:
        """Return the validators of other subjects; each is made on first use."""
        return [self._known.get(validation.subject) or self._make(validation) for validation in validations]

    def _make(self, validation: ValidationContext) -> Rival:
        self._known[validation.subject] = made = self._judge_of(validation)
        return made

    def claimants(self, numbers: NDArray[np.int64], values: MessageValues) -> Mapping[int, str]:
        """Return, for each value that other subjects claim, these subjects in catalogue order."""
        if len(numbers) <= _FEW:
            result = ((number, self._scope.claimants(values[number] or b"")) for number in numbers.tolist())
            return {number: claimed_by for number, found in result if (claimed_by := join_claimants(found))}
        return _welcoming(self._rivals(self._scope.others), numbers, values)

    def foreign(self, numbers: Sequence[int], values: MessageValues) -> Mapping[int, str]:
        """Return, for each value that we cannot read, the subjects of another transport that claim it."""
        others = [
            validation for validation in self._scope.others if validation.wire.transport != self._scope.wire.transport
        ]
        closed = [number for number in numbers if not _opens(self._scope, values[number])] if others else []
        if len(closed) <= _FEW:
            return {}
        return _welcoming(self._rivals(others), np.array(closed), values)


def may_be_of(validation: ValidationContext, values: MessageValues) -> NDArray[np.bool_]:
    """Return a mask, cheaply, of the values with the names of all members that some version of a subject requires.

    A name may be written with escapes; such a value counts as well and has to be parsed.
    """
    if validation.wire.transport != "json":
        return np.ones(len(values), np.bool_)
    may_be = np.zeros(len(values), np.bool_)
    for names in {frozenset(needed_names(judge.meaning.discriminators)) for judge in validation.judges}:
        held = np.ones(len(values), np.bool_)
        for name in names:
            held &= values.hold(f'"{name}"'.encode())
        may_be |= held
    return may_be | values.hold(b"\\u")


def _welcoming(rivals: Sequence[Rival], numbers: NDArray[np.int64], values: MessageValues) -> dict[int, str]:
    if not rivals:
        return {}
    mine = values.take(numbers)
    claimed = np.stack([rival.claimed_values(mine) for rival in rivals], axis=1)
    kinds, kind_of = np.unique(claimed, axis=0, return_inverse=True)
    names = [
        join_claimants(rival.validation.subject for rival, takes in zip(rivals, kind, strict=True) if takes)
        for kind in kinds
    ]
    result = zip(numbers.tolist(), kind_of.reshape(-1).tolist(), strict=True)
    return {number: name for number, kind in result if (name := names[kind]) is not None}


def _opens(validation: ValidationContext, value: bytes | None) -> bool:
    if validation.wire.transport == "json" and (value or b"").startswith(b"{"):
        return True  # mostly true; if not, the reference validator notices, so nothing is parsed twice
    try:
        validation.wire.open(value or b"")
    except Unreadable:
        return False
    return True
