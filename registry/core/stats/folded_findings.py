"""Folded findings: what a verdict and a baseline need of the findings of which a tally keeps no details.

A finding with its details takes some kilobytes, and a topic of 10^6 tables may have several in each. Beyond a bound
only its fingerprint is kept: 8 bytes in a message between processes and in the totals of a stream, some 70 in memory.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from cdc_contracts.registry.core.common.findings import SEVERITIES
from cdc_contracts.registry.core.stats.finding_tallies import FindingKey

Kind = tuple[str, str]
"""A class and a severity."""
_UNSIGNED: Final = "Q"


@dataclass
class FoldedFindings:
    """Fingerprints as numbers, by class and severity. Each is counted under the highest severity that it was met with.

    Adding them up is commutative and associative.
    """

    held: dict[Kind, set[int]] = field(default_factory=dict)

    def __len__(self) -> int:
        return sum(map(len, self.held.values()))

    def add(self, key: FindingKey, severity: str) -> None:
        """Add a finding."""
        self._take((key.name, severity), {int(key.fingerprint, 16)})

    def take(self, kind: Kind, fingerprints: Iterable[str]) -> None:
        """Add findings of one class and severity by their fingerprints."""
        self._take(kind, {int(one, 16) for one in fingerprints})

    def merge(self, other: FoldedFindings) -> None:
        """Add other findings; the order of merging does not matter."""
        for kind, fingerprints in other.held.items():
            self._take(kind, fingerprints)

    def copy(self) -> FoldedFindings:
        return FoldedFindings({kind: set(fingerprints) for kind, fingerprints in self.held.items()})

    def by_kind(self) -> Iterator[tuple[Kind, list[str]]]:
        """Yield class and severity with their fingerprints, all in order."""
        for kind, fingerprints in sorted(self.held.items()):
            if fingerprints:
                yield kind, [f"{number:016x}" for number in sorted(fingerprints)]

    def _take(self, kind: Kind, fingerprints: set[int]) -> None:
        name, severity = kind
        place = SEVERITIES.index(severity)
        for higher in SEVERITIES[:place]:
            if (name, higher) in self.held:
                fingerprints = fingerprints.difference(self.held[name, higher])
        for lower in SEVERITIES[place + 1 :]:
            if (name, lower) in self.held:
                self.held[name, lower] -= fingerprints
        self.held.setdefault(kind, set()).update(fingerprints)

    def __getstate__(self) -> dict[str, Any]:
        return {"held": {kind: array(_UNSIGNED, sorted(found)).tobytes() for kind, found in self.held.items()}}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.held = {kind: set(array(_UNSIGNED, packed)) for kind, packed in state["held"].items()}
