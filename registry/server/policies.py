"""What holds for a subject: its compatibility level and policy, and its mode, own or of its context or of all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from cdc_contracts.registry.compatibility.levels import Level, Policy
from cdc_contracts.registry.server.records import Records
from cdc_contracts.registry.server.subjects import WHOLE_REGISTRY, Subject

CONFIG: Final = "config"
MODE: Final = "mode"


class Mode(StrEnum):
    """Who may write. READONLY_OVERRIDE of the whole registry holds for every subject, whatever its own mode is."""

    READWRITE = "READWRITE"
    READONLY = "READONLY"
    READONLY_OVERRIDE = "READONLY_OVERRIDE"
    IMPORT = "IMPORT"

    @property
    def is_read_only(self) -> bool:
        return self in (Mode.READONLY, Mode.READONLY_OVERRIDE)


POLICY_NAMES: Final[Mapping[str, Policy]] = {
    "STRICT": Policy.CONFLUENT_STRICT,
    "LENIENT": Policy.CONFLUENT_LENIENT,
    "CDC": Policy.CDC,
}
"""What a client writes as `compatibilityPolicy`."""


@dataclass(frozen=True)
class Defaults:
    """What holds where nothing is configured."""

    level: Level = Level.BACKWARD
    policy: Policy = Policy.CONFLUENT_STRICT
    mode: Mode = Mode.READWRITE


def scopes_of(subject: Subject) -> list[Subject]:
    """Return whose settings a subject looks at: its own, its context's, the registry's."""
    return list(dict.fromkeys((subject, Subject(subject.context, ""), WHOLE_REGISTRY)))


def own_mode(records: Records, scope: Subject) -> Mode | None:
    """Return the mode that is set right there, unless the registry's overrides it."""
    whole = records.setting(WHOLE_REGISTRY, MODE)
    if whole == Mode.READONLY_OVERRIDE:
        return Mode.READONLY_OVERRIDE
    own = records.setting(scope, MODE)
    return None if own is None else Mode(own)


def mode_of(records: Records, scope: Subject, defaults: Defaults) -> Mode:
    """Return the mode that holds for a subject or context."""
    *nearer, whole = [records.setting(each, MODE) for each in (scope, Subject(scope.context, ""), WHOLE_REGISTRY)]
    if whole == Mode.READONLY_OVERRIDE:
        return Mode.READONLY_OVERRIDE
    return Mode(next((value for value in (*nearer, whole) if value is not None), defaults.mode))


def config_of(records: Records, scope: Subject) -> dict[str, Any]:
    """Return the config that holds for a subject or context: each key from the nearest place that sets it."""
    config: dict[str, Any] = {}
    for found in reversed(records.settings(CONFIG, scopes_of(scope))):
        config |= found
    return config


def level_of(config: Mapping[str, Any], defaults: Defaults) -> Level:
    """Return the level that a config sets."""
    return Level(config.get("compatibilityLevel", defaults.level))


def policy_of(config: Mapping[str, Any], defaults: Defaults) -> Policy:
    """Return the policy that a config sets."""
    given = config.get("compatibilityPolicy")
    return defaults.policy if given is None else POLICY_NAMES[given]
