"""Source kinds: the kinds of source database that the rows of a topic say they come from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from cdc_contracts.registry.core.stats.position_sequences import Stretch


class SourceKind(NamedTuple):
    """Messages with rows of a partition, by the kind of source that they name."""

    topic: str
    partition: int
    kind: str


@dataclass
class SourceKinds:
    """The messages of each kind as a stretch; these add up in any order."""

    seen: dict[SourceKind, Stretch] = field(default_factory=dict)

    def add(self, kind: SourceKind, stretch: Stretch) -> None:
        """Count some messages."""
        known = self.seen.get(kind)
        if known is None:
            self.seen[kind] = stretch.copy()
        else:
            known.add(stretch)

    def merge(self, other: SourceKinds) -> None:
        """Count the messages of another part of a run."""
        for kind, stretch in other.seen.items():
            self.add(kind, stretch)

    def mixed(self) -> Iterator[tuple[SourceKind, Stretch]]:
        """Yield the kinds in each topic that has several, in order of topic, kind and partition."""
        kinds: dict[str, set[str]] = {}
        for one in self.seen:
            kinds.setdefault(one.topic, set()).add(one.kind)
        for one in sorted(self.seen, key=lambda one: (one.topic, one.kind, one.partition)):
            if len(kinds[one.topic]) > 1:
                yield one, self.seen[one]
