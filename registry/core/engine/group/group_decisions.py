"""Group decisions: the verdict of each group of records, and the groups that are counted together.

Records that break forms fall into a group for each set of broken forms, some hundred in a batch. Few verdicts follow
from these, and all that happens after a verdict depends on it and on what is discrete in the messages.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import fields, replace
from operator import attrgetter
from typing import Any, Final
from weakref import WeakKeyDictionary

import numpy as np

from cdc_contracts.registry.core.engine.group.batch_results import CachedVerdict, GroupResult, RecordGroup, RecordKind
from cdc_contracts.registry.core.engine.group.group_splits import Differences
from cdc_contracts.registry.core.stats.record_facts import Facts
from cdc_contracts.registry.core.validate.validation_context import ValidationContext
from cdc_contracts.registry.core.validate.verdicts import Verdict, decide

_read_facts: Final = attrgetter(*(one.name for one in fields(Facts) if one.name != "table"))
"""All but the table, which stands beside a group, or is that of all messages of its kind."""


class GroupDecisions:
    """Decides groups of records within a validation context; keeps its decisions as long as the verdicts are kept."""

    def __init__(self, validation: ValidationContext) -> None:
        self._validation = validation
        self._decided: WeakKeyDictionary[CachedVerdict, dict[Any, tuple[Verdict, int]]] = WeakKeyDictionary()
        self._known: WeakKeyDictionary[RecordKind, dict[Any, list[tuple[Facts | None, int]]]] = WeakKeyDictionary()
        self._numbers = 0

    def decide(self, groups: Iterable[tuple[RecordGroup, Differences, str | None]]) -> list[GroupResult]:
        """Return the results of groups, each with the versions that read it differently and who claims it.

        Groups of one decoded batch with equal verdicts and equal facts, whose messages are of one kind, are joined.
        """
        alike: dict[tuple[int, int], tuple[Verdict, list[RecordGroup]]] = {}
        for group, differs, claimed_by in groups:
            verdict, number = self._decision(group, differs, claimed_by)
            alike.setdefault((id(group.decoded_batch), number), (verdict, []))[1].append(group)
        found: list[GroupResult] = []
        for verdict, joined in alike.values():
            one = _join(joined)
            found += [GroupResult(verdict, part) for part in (one.by_table() if verdict.findings else [one])]
        return found

    def _decision(self, group: RecordGroup, differs: Differences, claimed_by: str | None) -> tuple[Verdict, int]:
        """Return the verdict of a group, and the number of all groups that are counted as it is."""
        cached = group.cached_verdict
        decided, key = self._decided.setdefault(cached, {}), (differs, claimed_by)
        if key not in decided:
            case = self._validation.case(
                cached.readings[0].message,
                cached.opinions,
                same=lambda versions: not any({left, right} <= set(versions) for left, right in differs),
                claimed_by=claimed_by,
            )
            verdict = decide(case)
            result = verdict, cached.sources_by(verdict)
            decided[key] = verdict, self._number_of(cached.kind, result, cached.facts_by(verdict))
        return decided[key]

    def _number_of(self, kind: RecordKind, result: Hashable, facts: Facts | None) -> int:
        # Columns tell most facts apart, and there may be as many of these as records: only the others are compared.
        columns = None if facts is None else facts.rows
        known = self._known.setdefault(kind, {}).setdefault((result, columns), [])
        for other, number in known:
            if _are_equal(facts, other):
                return number
        self._numbers += 1  # never used again
        known.append((facts, self._numbers))
        return self._numbers


def _are_equal(one: Facts | None, other: Facts | None) -> bool:
    if one is None or other is None:
        return one is other
    return bool(_read_facts(one) == _read_facts(other))


def _join(groups: list[RecordGroup]) -> RecordGroup:
    if len(groups) == 1:
        return groups[0]
    return replace(groups[0], positions=np.sort(np.concatenate([one.positions for one in groups])))
