"""Levels: which versions are compared, and in which direction. Policies: by whose rules."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final

BACKWARD: Final = "backward"
"""A reader of the new version reads messages of the old one."""
FORWARD: Final = "forward"
"""A reader of the old version reads messages of the new one."""
MEANING: Final = "meaning"
"""Both read the message, and understand it differently."""


class Level(StrEnum):
    """What a registry demands of a new version; the names are Confluent's."""

    NONE = "NONE"
    BACKWARD = "BACKWARD"
    BACKWARD_TRANSITIVE = "BACKWARD_TRANSITIVE"
    FORWARD = "FORWARD"
    FORWARD_TRANSITIVE = "FORWARD_TRANSITIVE"
    FULL = "FULL"
    FULL_TRANSITIVE = "FULL_TRANSITIVE"

    @property
    def directions(self) -> tuple[str, ...]:
        """The directions to look in."""
        if self is Level.NONE:
            return ()
        backward = (BACKWARD,) if "FORWARD" not in self.value else ()
        forward = (FORWARD,) if "BACKWARD" not in self.value else ()
        return (*backward, *forward)

    @property
    def is_transitive(self) -> bool:
        """Whether every earlier version is compared, not only the latest."""
        return self.value.endswith("_TRANSITIVE")


class Policy(StrEnum):
    """By whose rules a difference is decided.

    `confluent-strict` and `confluent-lenient` decide as Confluent's registry does with that setting. `cdc` ignores the
    level: it asks whether a consumer built on the old version reads the new one's messages right, and the reverse.
    """

    CONFLUENT_STRICT = "confluent-strict"
    CONFLUENT_LENIENT = "confluent-lenient"
    CDC = "cdc"

    def directions(self, level: Level) -> tuple[str, ...]:
        """Return the directions that the policy looks in at a level."""
        return (BACKWARD, FORWARD) if self is Policy.CDC else level.directions


POLICY_NAMES: Final[Mapping[str, Policy]] = MappingProxyType({
    "STRICT": Policy.CONFLUENT_STRICT, "LENIENT": Policy.CONFLUENT_LENIENT, "CDC": Policy.CDC,
})  # fmt: skip
"""The policies by the values of `compatibilityPolicy` in the configuration of a registry."""
