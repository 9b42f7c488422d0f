"""Registry contents as values: schemas by subject and version, and the settings of each scope."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from cdc_contracts.registry.authoring.sync.id_locks import Key, subject_key
from cdc_contracts.registry.authoring.sync.schema_digests import same_text, schema_digest

GLOBAL: Final = ""
"""The scope of settings for the whole registry; other scopes are subjects, and contexts written `:.name:`."""

LEVELS: Final = {"compatibilityLevel": "compatibility"}
"""The level is named differently in responses and in requests; we use the name of requests."""
Position = tuple[str, int]
"""A qualified subject and one of its versions."""


@dataclass(frozen=True, slots=True, eq=False)
class HeldSchema:
    """One version of a subject. `id` is None if not known yet; `contract` is the contract it publishes, if any."""

    subject: str
    version: int
    type: str
    text: str
    id: int | None = None
    references: tuple[Mapping[str, Any], ...] = ()
    metadata: Mapping[str, Any] | None = None
    rule_set: Mapping[str, Any] | None = None
    deleted: bool = False
    contract: Key | None = None

    @property
    def position(self) -> Position:
        return (self.subject, self.version)

    @property
    def key(self) -> Key:
        """Its name in `ids.lock`."""
        return self.contract or subject_key(self.subject, self.version, self.type)

    @property
    def digest(self) -> str:
        return schema_digest(self.type, self.text, self.references)

    def says_the_same(self, other: HeldSchema) -> bool:
        """Return whether another version is equal: contracts may differ in prose, other schemas in nothing."""
        if self.contract is not None or other.contract is not None:
            return self.type == other.type and self.digest == other.digest
        return (
            self.type == other.type
            and same_text(self.type, self.text, other.text)
            and sorted(map(_reference, self.references)) == sorted(map(_reference, other.references))
            and (self.metadata or None) == (other.metadata or None)
            and (self.rule_set or None) == (other.rule_set or None)
        )


@dataclass(frozen=True, slots=True)
class ScopeSettings:
    """The scope's own configuration and mode; `why` is the reason for settings that no file asks for."""

    config: Mapping[str, Any] | None = None
    mode: str | None = None
    why: str | None = field(default=None, compare=False)


@dataclass(slots=True)
class Holdings:
    """Everything a registry holds, or a folder says it should hold."""

    schemas: dict[Position, HeldSchema] = field(default_factory=dict)
    settings: dict[str, ScopeSettings] = field(default_factory=dict)

    def add(self, schema: HeldSchema) -> None:
        self.schemas[schema.position] = schema

    def versions(self, subject: str, *, deleted: bool = True) -> list[HeldSchema]:
        """Return the versions of a subject, lowest first."""
        found = sorted(version for name, version in self.schemas if name == subject)
        held = [self.schemas[subject, version] for version in found]
        return [one for one in held if deleted or not one.deleted]

    def subjects(self) -> list[str]:
        return sorted({subject for subject, _ in self.schemas})


def _reference(reference: Mapping[str, Any]) -> tuple[str, str, int]:
    return (str(reference.get("name")), str(reference.get("subject")), int(reference.get("version", 0)))
