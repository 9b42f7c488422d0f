"""Envelope parts: what the envelope of each record contributes to its group, read for all layouts of a batch together.

Layouts differ in their columns, while most of them have the same envelope. A batch of many tables has few records of
each layout, so members are not looked at layout by layout.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from cdc_contracts.registry.core.contract.catalogue import Catalogue
from cdc_contracts.registry.core.engine.columns.envelope_flags import (
    member_flags,
    object_flags,
    relation_flags,
    text_flags,
)
from cdc_contracts.registry.core.engine.columns.time_units import unit_flags
from cdc_contracts.registry.core.engine.columns.value_flags import Mask, ValueFlag
from cdc_contracts.registry.core.engine.group.grouping_keys import find_envelope_keys
from cdc_contracts.registry.core.engine.group.subject_claims import Claims
from cdc_contracts.registry.core.engine.group.unlisted_values import MemberKinds
from cdc_contracts.registry.core.engine.layouts.decoded_batches import DecodedBatch
from cdc_contracts.registry.core.engine.layouts.parsed_columns import Coded
from cdc_contracts.registry.core.engine.layouts.struct_layouts import LayoutPlan

MarkedFlag = tuple[ValueFlag, Mask]


@dataclass(frozen=True, eq=False)
class EnvelopePart:
    """The flags and the grouping keys of the envelopes of a decoded batch.

    `flags` mark what breaks a constraint or is in another unit, `asked_flags` what other subjects look for.
    """

    flags: list[MarkedFlag]
    asked_flags: list[MarkedFlag]
    keys: Coded


class EnvelopeReader:
    """Reads the envelopes of decoded batches; `claims` tell what other subjects look for in them."""

    def __init__(self, plan: LayoutPlan, claims: Claims, catalogue: Catalogue) -> None:
        self._plan, self._claims, self._catalogue = plan, claims, catalogue

    def read(self, decoded_batches: Sequence[DecodedBatch]) -> list[EnvelopePart]:
        """Return the part of each decoded batch; records that only the reference may validate are noted in it."""
        alike: dict[Any, list[int]] = {}
        for place, one in enumerate(decoded_batches):
            alike.setdefault(self._kind_of(one), []).append(place)
        found: dict[int, EnvelopePart] = {}
        for places in alike.values():
            joined = [decoded_batches[place] for place in places]
            parts = [self._read(*joined)] if len(joined) == 1 else self._read_joined(joined)
            found |= zip(places, parts, strict=True)
        return [found[place] for place in range(len(decoded_batches))]

    @cached_property
    def _member_kinds(self) -> MemberKinds:
        return MemberKinds(self._plan.listed, self._claims.asked_texts, self._catalogue)

    def _kind_of(self, decoded_batch: DecodedBatch) -> Any:
        """Return what decoded batches share whose envelopes are read together."""
        members = decoded_batch.members
        kinds = tuple([values.joins_with for values in members.values()])
        return tuple(members), kinds, self._plan.plain_names_of(decoded_batch.shape)

    def _read(self, decoded_batch: DecodedBatch) -> EnvelopePart:
        plan = self._plan
        plain_names = plan.plain_names_of(decoded_batch.shape)
        flags = [
            *member_flags(decoded_batch, plan),
            *relation_flags(decoded_batch, plan),
            *unit_flags(decoded_batch, plan.times),
        ]
        asked = object_flags(decoded_batch, self._claims.asked)
        asked += text_flags(decoded_batch, plan.discrete - plain_names, self._claims.asked_texts)
        return EnvelopePart(flags, asked, find_envelope_keys(decoded_batch, plan, plain_names, self._member_kinds))

    def _read_joined(self, decoded_batches: Sequence[DecodedBatch]) -> Iterator[EnvelopePart]:
        """Yield the parts of decoded batches whose members are those of one layout."""
        joined = _join(decoded_batches)
        whole = self._read(joined)
        unfit = np.array(sorted(joined.unfit), np.int64)
        for decoded_batch, (begin, end) in zip(decoded_batches, pairwise(_bounds(decoded_batches)), strict=True):
            decoded_batch.unfit.update((unfit[(unfit >= begin) & (unfit < end)] - begin).tolist())
            codes, keys = whole.keys
            flags, asked = (
                [(flag, mask[begin:end]) for flag, mask in each] for each in (whole.flags, whole.asked_flags)
            )
            yield EnvelopePart(flags, asked, (codes[begin:end], keys))


def _join(decoded_batches: Sequence[DecodedBatch]) -> DecodedBatch:
    """Return the envelopes of decoded batches one after the other, as one without rows."""
    first, *others = decoded_batches
    members = {
        pointer: values.join([one.members[pointer] for one in others]) for pointer, values in first.members.items()
    }
    return DecodedBatch(first.shape, first.layout, np.concatenate([one.numbers for one in decoded_batches]), members)


def _bounds(decoded_batches: Sequence[DecodedBatch]) -> Iterator[int]:
    return accumulate(map(len, decoded_batches), initial=0)
