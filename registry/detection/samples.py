"""A sample of many messages: from the beginning, the middle and the end of every partition."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Final

import pyarrow as pa

from cdc_contracts.registry.detection.deliberation import detect
from cdc_contracts.registry.detection.detection import Detection
from cdc_contracts.registry.detection.hearing import Hearing
from cdc_contracts.registry.detection.testimony import Place
from cdc_contracts.registry.files import FilePlan, LineSlice, Slice, read_slice
from cdc_contracts.registry.messages import Unreadable
from cdc_contracts.registry.scope import Scope, Undetected
from cdc_contracts.registry.tally import Source
from cdc_contracts.registry.unwrapping import unwrap
from cdc_contracts.registry.windows import Window, share_windows

ENOUGH: Final = 2_000
"""So many messages are looked at where nobody says otherwise: a second or two."""


def sample_files(plan: FilePlan, most: int) -> Iterator[pa.RecordBatch]:
    """Yield a sample of the messages in files. Raises UnavailableError where a file cannot be read."""
    following = dict(pairwise(plan.slices))
    for windows in share_windows(plan.limits, most):
        for one in plan.slices:
            if _touches(one, following.get(one), windows):
                yield from read_slice(one, windows)


def _touches(one: Slice, following: Slice | None, windows: Mapping[Source, Window]) -> bool:
    """Say whether a slice may hold lines of a window, so that a long file is not read whole for a few lines."""
    if not isinstance(one, LineSlice):
        return True
    window = windows.get(Source(one.topic, one.partition))
    if window is None:
        return False
    if isinstance(following, LineSlice) and following.partition == one.partition and following.first <= window[0]:
        return False
    return window[1] > one.first


def find_scope(
    scope: Scope | Undetected, sample: Callable[[], Iterable[pa.RecordBatch]]
) -> tuple[Scope | None, Detection | None]:
    """Return the scope to judge messages within, and how it was found out where nobody declared it.

    There is no scope where the messages are of no contract that can be named. Raises what `sample` raises.
    """
    if isinstance(scope, Scope):
        return scope, None
    hearing = Hearing(scope.catalogue, scope.terms)
    hear_batches(hearing, sample(), ENOUGH)
    detection = detect(hearing)
    return detection.open_scope(scope), detection


def hear_batches(hearing: Hearing, batches: Iterable[pa.RecordBatch], most: int) -> None:
    """Let a hearing hear the messages of some batches, up to a number; records without a value say nothing.

    What another tool wrapped is unwrapped, as the terms have it; a value that is not wrapped so is of no contract.
    """
    wrapping = hearing.terms.wrapping
    for batch in batches:
        columns = (batch.column(name).to_pylist() for name in ("topic", "partition", "offset", "value"))
        for topic, partition, offset, value in zip(*columns, strict=True):
            if hearing.messages == most:
                return
            place = Place(topic, partition, offset)
            try:
                message = value if wrapping is None else unwrap(value, wrapping)
            except Unreadable:
                hearing.hear_unreadable(place, value)
                continue
            if message is None:
                hearing.pass_over(place)
            else:
                hearing.hear(place, message)
