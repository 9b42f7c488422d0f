"""Policies of a subject: its compatibility level and policy, and its mode; own, of its context, or global."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from cdc_contracts.registry.authoring.compat.levels import POLICY_NAMES, Level, Policy
from cdc_contracts.registry.server.store.registry_records import Records
from cdc_contracts.registry.server.store.subjects import WHOLE_REGISTRY, Subject

CONFIG: Final = "config"
MODE: Final = "mode"


class Mode(StrEnum):
    """What may be written. A global READONLY_OVERRIDE applies to every subject, whatever its own mode is."""

    READWRITE = "READWRITE"
    READONLY = "READONLY"
    READONLY_OVERRIDE = "READONLY_OVERRIDE"
    IMPORT = "IMPORT"

    @property
    def is_read_only(self) -> bool:
        return self in (Mode.READONLY, Mode.READONLY_OVERRIDE)


@dataclass(frozen=True)
class Defaults:
    """The settings that apply if nothing is configured."""

    level: Level = Level.BACKWARD
    policy: Policy = Policy.CONFLUENT_STRICT
    mode: Mode = Mode.READWRITE


@dataclass(frozen=True)
class SubjectSettings:
    """The effective settings of a subject, a context or the whole registry."""

    config: Mapping[str, Any]
    mode: Mode


def settings_of(records: Records, scope: Subject, defaults: Defaults) -> SubjectSettings:
    """Return the effective settings: each key of the config, and the mode, from the nearest scope that sets it."""
    scopes = list(dict.fromkeys((scope, Subject(scope.context, ""), WHOLE_REGISTRY)))
    found = records.settings_in(scopes)
    config: dict[str, Any] = {}
    for each in reversed(scopes):
        config |= found.get((each, CONFIG), {})
    modes = [found[each, MODE] for each in scopes if (each, MODE) in found]
    overrides = found.get((WHOLE_REGISTRY, MODE)) == Mode.READONLY_OVERRIDE
    return SubjectSettings(config, Mode.READONLY_OVERRIDE if overrides else Mode((*modes, defaults.mode)[0]))


def mode_of(records: Records, scope: Subject, defaults: Defaults) -> Mode:
    """Return the effective mode of a subject or context."""
    return settings_of(records, scope, defaults).mode


def config_of(records: Records, scope: Subject) -> Mapping[str, Any]:
    """Return the effective config of a subject or context."""
    return settings_of(records, scope, Defaults()).config


def own_mode(records: Records, scope: Subject) -> Mode | None:
    """Return the scope's own mode, unless the global mode overrides it."""
    found = records.settings_in([scope, WHOLE_REGISTRY])
    if found.get((WHOLE_REGISTRY, MODE)) == Mode.READONLY_OVERRIDE:
        return Mode.READONLY_OVERRIDE
    own = found.get((scope, MODE))
    return None if own is None else Mode(own)


def level_of(config: Mapping[str, Any], defaults: Defaults) -> Level:
    """Return the compatibility level of a config."""
    return Level(config.get("compatibilityLevel", defaults.level))


def policy_of(config: Mapping[str, Any], defaults: Defaults) -> Policy:
    """Return the compatibility policy of a config."""
    given = config.get("compatibilityPolicy")
    return defaults.policy if given is None else POLICY_NAMES[given]
