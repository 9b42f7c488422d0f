"""Flag readers: the versions that a flag concerns; flags that concern only versions not validated are folded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from cdc_contracts.registry.core.engine.columns.value_flags import Mask, ValueFlag
from cdc_contracts.registry.core.engine.layouts.decoded_batches import Rows
from cdc_contracts.registry.core.engine.layouts.layout_parts import FormUse
from cdc_contracts.registry.core.values import Flag


@dataclass(frozen=True)
class FlagReaders:
    """The versions that read a value by the form of a flag, and those of them for which the flag is an error."""

    all: frozenset[int]
    refusing: frozenset[int]


def fold_flags(
    value_flags: Sequence[tuple[ValueFlag, Mask]], readers: Mapping[ValueFlag, FlagReaders], validated: frozenset[int]
) -> list[tuple[ValueFlag, Mask]]:
    """Fold the flags that only other versions raise, on records on which the validated versions raise none.

    `readers` has the flags of values; a flag that is not in it concerns all versions. If no validated version flags a
    record, its grouping key alone decides whether it fits; of the other versions it then matters only whether they
    accept it too. This holds for versions that differ in value forms only, and for default severities.
    """
    others = {version for found in readers.values() for version in found.all} - validated
    if not others:
        return list(value_flags)
    touched = np.zeros(len(value_flags[0][1]), np.bool_)
    for value_flag, mask in value_flags:
        if value_flag not in readers or readers[value_flag].all & validated:
            touched |= mask
    folded = [(value_flag, mask & touched) for value_flag, mask in value_flags]
    for version in sorted(others):
        refused = np.zeros(len(touched), np.bool_)
        for value_flag, mask in value_flags:
            if value_flag in readers and version in readers[value_flag].refusing:
                refused |= mask
        folded.append((("refused", version), refused & ~touched))
    return folded


def readers_of_flags(
    rows: Rows, index: int, value_flags: Sequence[tuple[ValueFlag, Mask]]
) -> dict[ValueFlag, FlagReaders]:
    """Return for each flag of the values of a column the versions that raise it."""
    readers: dict[ValueFlag, FlagReaders] = {}
    for value_flag, _ in value_flags:
        if value_flag[0] == "value":
            uses = enumerate(rows.image.columns[index].uses)
            users = {version: use for version, use in uses if use is not None and use.form.name == value_flag[3]}
            accepting = {version for version, use in users.items() if _accepts(use, value_flag[-1])}
            readers[value_flag] = FlagReaders(frozenset(users), frozenset(users.keys() - accepting))
    return readers


def _accepts(use: FormUse, flag: int) -> bool:
    return flag in (Flag.NOTED, Flag.NO_INSTANT, Flag.NO_SCALE, Flag.NOT_WHOLE) or (flag == Flag.BROKEN and use.lenient)
