"""Registry settings (`registry.yaml`), for editors; a registry itself ignores config keys that it does not know."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from cdc_contracts.registry.core.contract.document_model import Document

_LEVELS = Literal[
    "NONE", "BACKWARD", "BACKWARD_TRANSITIVE", "FORWARD", "FORWARD_TRANSITIVE", "FULL", "FULL_TRANSITIVE",
    "none", "backward", "backward_transitive", "forward", "forward_transitive", "full", "full_transitive",
]  # fmt: skip
_MODES = Literal[
    "READWRITE", "READONLY", "READONLY_OVERRIDE", "IMPORT", "readwrite", "readonly", "readonly_override", "import",
]  # fmt: skip
_POLICIES = Literal["STRICT", "LENIENT", "CDC", "strict", "lenient", "cdc"]


class MetadataSettings(Document):
    """Metadata of schemas; a registry passes it on."""

    tags: dict[str, tuple[str, ...]] | None = None
    """Tags by the path of a field."""
    properties: dict[str, str] | None = None
    """Any texts by name."""
    sensitive: tuple[str, ...] | None = None
    """The names of properties that are not shown to everybody."""


class RegistryConfig(Document):
    """The constraints on schemas of a subject, a context or the whole registry."""

    compatibility: _LEVELS | None = None
    """Which earlier versions a new one is compared with, and who has to be able to read whose messages."""
    compatibility_level: _LEVELS | None = Field(default=None, alias="compatibilityLevel")
    """The same as `compatibility`, by the name that a registry answers with."""
    compatibility_policy: _POLICIES | None = Field(default=None, alias="compatibilityPolicy")
    """Whose rules of compatibility apply: Confluent's strict or lenient ones, or those of CDC readers."""
    compatibility_group: str | None = Field(default=None, alias="compatibilityGroup")
    """The property of metadata by which versions are grouped; only those of one group are compared."""
    alias: str | None = None
    """The subject that requests for this one are answered with."""
    normalize: bool | None = None
    """Whether schemas are brought into a standard form before they are registered and looked up."""
    validate_fields: bool | None = Field(default=None, alias="validateFields")
    """Whether names of fields that some client reserves are refused."""
    default_metadata: MetadataSettings | None = Field(default=None, alias="defaultMetadata")
    """Metadata of every new version that has none of its own."""
    override_metadata: MetadataSettings | None = Field(default=None, alias="overrideMetadata")
    """Metadata that every new version gets, overriding its own."""
    default_rule_set: dict[str, Any] | None = Field(default=None, alias="defaultRuleSet")
    """Rules of every new version that has none of its own."""
    override_rule_set: dict[str, Any] | None = Field(default=None, alias="overrideRuleSet")
    """Rules that every new version gets, overriding its own."""


class RegistryScope(Document):
    """The settings of the whole registry, of a context or of a subject."""

    config: RegistryConfig | None = None
    """The constraints on new versions."""
    mode: _MODES | None = None
    """Who may write; IMPORT lets a client choose versions and ids."""


class RegistrySettings(Document):
    """The settings of a registry; a scope inherits what it does not set from the scope above."""

    whole: RegistryScope | None = Field(default=None, alias="global")
    """The settings of the whole registry."""
    contexts: dict[str, RegistryScope] = Field(default_factory=dict)
    """The settings of contexts, by name, such as `.staging`."""
    subjects: dict[str, RegistryScope] = Field(default_factory=dict)
    """The settings of subjects, by name."""
