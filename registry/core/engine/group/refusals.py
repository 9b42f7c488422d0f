"""Refusals: flags of one column that are enough for all versions of a subject to refuse a message.

Another subject's messages break many forms of ours, and fall into a group for each set of them. Whether they are ours
is decided without a verdict on every set.
"""

from __future__ import annotations

from typing import Final

from cdc_contracts.registry.core.common.findings import ERROR
from cdc_contracts.registry.core.engine.columns.value_flags import ValueFlag
from cdc_contracts.registry.core.engine.group.batch_results import CachedVerdict
from cdc_contracts.registry.core.engine.group.record_grouping import VerdictGroup
from cdc_contracts.registry.core.message.reading import Reading, column_path
from cdc_contracts.registry.core.validate.verdicts import Opinion

_OF_ONE_VALUE: Final = frozenset({"type-change", "value-form", "precision"})
"""Classes of findings that a value gives whatever else the message holds."""


def sufficient_flags(group: VerdictGroup, cached_verdict: CachedVerdict) -> frozenset[ValueFlag]:
    """Return flags of a group that make every version refuse its records, whatever other flags they have, if any."""
    sufficient: set[ValueFlag] = set()
    for opinion, reading in zip(cached_verdict.opinions, cached_verdict.readings, strict=True):
        flags = _refused_for(opinion, reading, group.value_flags)
        if not flags:
            return frozenset()
        sufficient |= flags
    return frozenset(sufficient)


def _refused_for(opinion: Opinion, reading: Reading, value_flags: tuple[ValueFlag, ...]) -> set[ValueFlag]:
    """Return the flags of the first column whose value a version refuses; none if it refuses no value."""
    refused = {
        finding.path for finding in opinion.findings if finding.severity == ERROR and finding.name in _OF_ONE_VALUE
    }
    for kind, *place in value_flags:
        if kind == "value" and column_path(reading, place[0], place[1]) in refused:
            return {flag for flag in value_flags if flag[1:3] == (place[0], place[1])}
    return set()
