"""Group splits: groups of records split by the versions that read them differently, or the subjects that claim them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import combinations

import numpy as np
import pyarrow as pa

from cdc_contracts.registry.core.contract.catalogue import Version
from cdc_contracts.registry.core.engine.columns.row_images import differing
from cdc_contracts.registry.core.engine.columns.value_flags import Mask
from cdc_contracts.registry.core.engine.group.batch_results import RecordGroup

Differences = frozenset[tuple[Version, Version]]
"""Pairs of versions that read a record differently."""


def split_by_claim(record_group: RecordGroup, claimants: Mapping[int, str]) -> list[tuple[RecordGroup, str | None]]:
    """Split the records by the other subjects that claim them; none can if our own discriminators hold."""
    if record_group.cached_verdict.ours or not claimants:
        return [(record_group, None)]
    names = [claimants.get(number) for number in record_group.numbers.tolist()]
    return [
        (replace(record_group, positions=record_group.positions[[one == name for one in names]]), name)
        for name in dict.fromkeys(names)
    ]


def split_by_reading(record_group: RecordGroup, texts: pa.Array) -> list[tuple[RecordGroup, Differences]]:
    """Split the records by which of the versions that fit read them differently."""
    cached_verdict, positions = record_group.cached_verdict, record_group.positions
    fitting = [index for index, opinion in enumerate(cached_verdict.opinions) if not opinion.errors]
    if len(fitting) < 2 or not cached_verdict.opinions[-1].holds_rows:  # noqa: PLR2004
        return [(record_group, frozenset())]
    sides = {index: record_group.texts(index).sides(cached_verdict.readings[index], positions) for index in fitting}
    pairs: list[tuple[tuple[Version, Version], Mask]] = []
    for left, right in combinations(fitting, 2):
        mask = np.ones(len(positions), np.bool_)
        if cached_verdict.facts[left] == cached_verdict.facts[right]:
            mask = differing(sides[left], sides[right], texts, len(positions))
        pairs.append(((cached_verdict.opinions[left].version, cached_verdict.opinions[right].version), mask))
    bits = np.packbits(np.stack([mask for _, mask in pairs]), axis=0).T
    _, parts = np.unique(bits, axis=0, return_inverse=True)
    parts = parts.reshape(-1)
    split = []
    for part in range(int(parts.max()) + 1):
        chosen = np.flatnonzero(parts == part)
        differs = frozenset(pair for pair, mask in pairs if mask[chosen[0]])
        split.append((replace(record_group, positions=positions[chosen]), differs))
    return split
