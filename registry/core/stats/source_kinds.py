"""Source kinds: the kinds of source database that the rows of a topic say they come from."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from cdc_contracts.registry.core.stats.position_sequences import Stretch


class SourceKind(NamedTuple):
    """Messages with rows of a partition, by the kind of source that they name."""

    topic: str
    partition: int
    kind: str


class SourceKinds(dict[SourceKind, Stretch]):
    """The messages of each kind as a stretch; these add up in any order."""

    def add(self, kind: SourceKind, stretch: Stretch) -> None:
        """Count some messages."""
        known = self.get(kind)
        self[kind] = stretch.copy() if known is None else known.joined(stretch)

    def merge(self, other: SourceKinds) -> None:
        """Count the messages of another part of a run."""
        for kind, stretch in other.items():
            self.add(kind, stretch)

    def mixed(self) -> Iterator[tuple[SourceKind, Stretch]]:
        """Yield the kinds in each topic that has several, in order of topic, kind and partition."""
        for one in sorted(self, key=lambda one: (one.topic, one.kind, one.partition)):
            if any(other.topic == one.topic and other.kind != one.kind for other in self):
                yield one, self[one]
