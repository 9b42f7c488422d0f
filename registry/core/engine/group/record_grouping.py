"""Record grouping: by everything a verdict may depend on, discrete values and the flags of unusual values.

Two records of one shape with the same grouping key and the same flags get the same verdict, as rules read nothing else.
So the reference validator validates the first of a group, and its verdict applies to the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from cdc_contracts.registry.core.engine.columns.value_flags import Mask, ValueFlag
from cdc_contracts.registry.core.engine.group.grouping_keys import find_grouping_keys
from cdc_contracts.registry.core.engine.layouts.decoded_batches import DecodedBatch
from cdc_contracts.registry.core.engine.layouts.parsed_columns import Coded
from cdc_contracts.registry.core.records.code_orders import number_codes, order_by_code

_SMALL: Final = 2**14 - 1


@dataclass(eq=False, slots=True)
class VerdictGroup:
    """Records of a decoded batch with one grouping key and the same flags; `positions` are ascending indices in it."""

    grouping_key: tuple[Any, ...]
    value_flags: tuple[ValueFlag, ...]
    positions: NDArray[np.int64]


def group_records(
    decoded_batch: DecodedBatch,
    value_flags: Sequence[tuple[ValueFlag, Mask]],
    envelope_keys: Coded,
    kafka_keys: Coded,
) -> list[VerdictGroup]:
    """Return the records of a batch by key and flags, leaving out those only the reference may validate.

    Records that differ in plain names alone are of one group. `envelope_keys` is what the members of the records are,
    `kafka_keys` what their keys state.
    """
    codes, grouping_keys = find_grouping_keys(decoded_batch, envelope_keys, kafka_keys)
    used = [(value_flag, mask) for value_flag, mask in value_flags if mask.any()]
    groups = []
    for positions in _alike(codes, [mask for _, mask in used]):
        first = int(positions[0])
        held = tuple(value_flag for value_flag, mask in used if mask[first])
        chosen = positions
        if decoded_batch.unfit:
            chosen = positions[~np.isin(positions, list(decoded_batch.unfit))]
        if len(chosen):
            groups.append(VerdictGroup(grouping_keys[codes[first]], held, chosen))
    return groups


def _alike(codes: NDArray[np.int64], masks: Sequence[Mask]) -> list[NDArray[np.int64]]:
    """Return groups of positions with the same code and the same masks, each in ascending order."""
    keys = codes
    for mask in masks:
        keys = keys * 2 + mask
        if keys.max() > _SMALL:
            _, keys = number_codes(keys)
    if not len(keys) or (keys == keys[0]).all():
        return [np.arange(len(keys))] if len(keys) else []
    order = order_by_code(keys)
    return np.split(order, np.flatnonzero(np.diff(keys[order])) + 1)
