"""Family verdicts: the verdicts on records of each family of shapes, kept from batch to batch while the family is used.

A family that is not met for long takes with it all that is known of its records, as do the layouts of its shapes.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any, Final

from cdc_contracts.registry.core.engine.columns.value_flags import ValueFlag
from cdc_contracts.registry.core.engine.group.batch_results import CachedVerdict, RecordKind
from cdc_contracts.registry.core.engine.group.record_grouping import VerdictGroup
from cdc_contracts.registry.core.engine.group.refusals import sufficient_flags
from cdc_contracts.registry.core.engine.parse.shape_guess import MOST_SHAPES

MOST_VERDICTS: Final = 20_000


@dataclass(eq=False)
class FamilyVerdicts:
    """The verdicts on the records of a family, by grouping key and flags, and what follows from these for others."""

    verdicts: dict[Any, CachedVerdict] = field(default_factory=dict)
    _kinds: dict[Any, RecordKind] = field(default_factory=dict)
    _refused: dict[Any, set[frozenset[ValueFlag]]] = field(default_factory=dict)

    def kind_of(self, group: VerdictGroup) -> RecordKind:
        """Return the kind of the records with a grouping key, whatever the flags of their values."""
        return self._kinds.setdefault(group.grouping_key, RecordKind())

    def refuses(self, group: VerdictGroup) -> bool:
        """Return whether every version is known to refuse the records of a group."""
        known = self._refused.get(group.grouping_key, ())
        return any(flags.issubset(group.value_flags) for flags in known)

    def remember_refusal(self, group: VerdictGroup, cached_verdict: CachedVerdict) -> None:
        """Remember which flags of a group make every version refuse its records, if there are any."""
        flags = sufficient_flags(group, cached_verdict)
        if flags:
            self._refused.setdefault(group.grouping_key, set()).add(flags)


class VerdictsByFamily:
    """The families used last, with no more than MOST_VERDICTS verdicts in all."""

    def __init__(self) -> None:
        self._families: OrderedDict[int, FamilyVerdicts] = OrderedDict()
        self._held = 0

    def of(self, family: int) -> FamilyVerdicts:
        """Return the verdicts of a family."""
        found = self._families.get(family)
        if found is not None:
            self._families.move_to_end(family)
            return found
        found = self._families[family] = FamilyVerdicts()
        if len(self._families) > MOST_SHAPES:
            self._forget_oldest()
        return found

    def add(self, family: int, group: VerdictGroup, cached_verdict: CachedVerdict) -> None:
        """Keep the verdict of a group."""
        self.of(family).verdicts[group.grouping_key, group.value_flags] = cached_verdict
        self._held += 1
        if self._held > MOST_VERDICTS:
            self._forget_oldest()

    def _forget_oldest(self) -> None:
        _, forgotten = self._families.popitem(last=False)
        self._held -= len(forgotten.verdicts)
