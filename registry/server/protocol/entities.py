"""Entities of the protocol: requests and responses. Empty keys are omitted from responses."""

from __future__ import annotations

import json
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, model_validator

from cdc_contracts.registry.server.store.registration import Submission
from cdc_contracts.registry.server.store.registry_records import (
    SchemaContent,
    StoredReference,
    StoredSchema,
    StoredVersion,
)

Id = Annotated[int, Field(ge=0, le=2**31 - 1)]
Name = Annotated[str, Field(max_length=4096, pattern=r"^[^\x00-\x1f]*$")]


class Entity(BaseModel):
    """A request or response body; unknown keys are ignored, as Confluent's registry does."""

    model_config = ConfigDict(populate_by_name=True, extra="ignore")


class RequestBody(Entity):
    """A body sent by a client. Lone surrogates, which JSON can express but text cannot hold, are refused."""

    @model_validator(mode="before")
    @classmethod
    def _check_text(cls, value: Any) -> Any:
        try:
            json.dumps(value, ensure_ascii=False).encode()
        except RecursionError as error:
            raise ValueError("nested too deeply") from error
        return value


class ErrorMessage(Entity):
    """Why a request was refused: an error code and a message."""

    error_code: int
    message: str


class SchemaReference(Entity):
    """A named reference from a schema to a version of another subject; -1 is the latest."""

    name: Name
    subject: Name
    version: Annotated[int, Field(ge=-1, le=2**31 - 1)] = -1


class Metadata(Entity):
    """Metadata of a schema; the registry stores it and passes it on."""

    tags: dict[str, list[str]] | None = None
    properties: dict[str, str] | None = None
    sensitive: list[str] | None = None


class Rule(Entity):
    """A rule for serializers and deserializers; the registry stores it and passes it on."""

    name: str | None = None
    doc: str | None = None
    kind: str | None = None
    mode: str | None = None
    type: str | None = None
    tags: list[str] | None = None
    params: dict[str, str] | None = None
    expr: str | None = None
    on_success: str | None = Field(None, alias="onSuccess")
    on_failure: str | None = Field(None, alias="onFailure")
    disabled: bool | None = None


class RuleSet(Entity):
    """The rules of a schema, by phase."""

    migration_rules: list[Rule] | None = Field(None, alias="migrationRules")
    domain_rules: list[Rule] | None = Field(None, alias="domainRules")
    encoding_rules: list[Rule] | None = Field(None, alias="encodingRules")
    enable_at: str | None = Field(None, alias="enableAt")


class SchemaRequest(RequestBody):
    """A schema to register, to look up or to compare. `schemaType` defaults to AVRO."""

    schema_text: str | None = Field(None, alias="schema")
    schema_type: str | None = Field(None, alias="schemaType")
    references: list[SchemaReference] | None = None
    metadata: Metadata | None = None
    rule_set: RuleSet | None = Field(None, alias="ruleSet")
    id: Annotated[int, Field(ge=-1, le=2**31 - 1)] | None = None
    version: Annotated[int, Field(ge=-1, le=2**31 - 1)] | None = None

    def submission(self, *, normalize: bool = False) -> Submission:
        """Return the schema in the registry's internal form."""
        return Submission(
            type=self.schema_type or "AVRO",
            text=self.schema_text or "",
            references=tuple(StoredReference(each.name, each.subject, each.version) for each in self.references or ()),
            metadata=plain(self.metadata),
            rule_set=plain(self.rule_set),
            id=None if self.id in (None, -1) else self.id,
            version=None if self.version in (None, -1, 0) else self.version,
            normalize=normalize,
        )


class SchemaString(Entity):
    """The schema with an id."""

    schema_text: str = Field(alias="schema")
    schema_type: str | None = Field(None, alias="schemaType")
    references: list[SchemaReference] | None = None
    metadata: Metadata | None = None
    rule_set: RuleSet | None = Field(None, alias="ruleSet")
    max_id: int | None = Field(None, alias="maxId")
    subject: str | None = None
    version: int | None = None
    guid: str | None = None


class SchemaEntity(SchemaString):
    """A version of a subject."""

    subject: str
    version: int
    id: int
    ts: int | None = None
    deleted: bool | None = None


class RegisterResponse(Entity):
    """The id of the registered schema."""

    id: int
    version: int | None = None
    guid: str | None = None


class SubjectVersion(Entity):
    """A subject and version that use a schema."""

    subject: str
    version: int


class ContextId(Entity):
    """The context and id under which a schema is stored."""

    context: str
    id: int


class CompatibilityResponse(Entity):
    """Whether a schema is compatible, and the reasons if not."""

    is_compatible: bool
    messages: list[str] | None = None


class ConfigBody(Entity):
    """The config of a subject, a context or the whole registry.

    `alias` is the subject that this one is an alias of.
    """

    alias: Annotated[str, Field(max_length=4096)] | None = None
    compatibility_policy: str | None = Field(None, alias="compatibilityPolicy")
    compatibility_group: str | None = Field(None, alias="compatibilityGroup")
    normalize: bool | None = None
    validate_fields: bool | None = Field(None, alias="validateFields")
    default_metadata: Metadata | None = Field(None, alias="defaultMetadata")
    override_metadata: Metadata | None = Field(None, alias="overrideMetadata")
    default_rule_set: RuleSet | None = Field(None, alias="defaultRuleSet")
    override_rule_set: RuleSet | None = Field(None, alias="overrideRuleSet")


class ConfigUpdate(ConfigBody, RequestBody):
    """A config in a request, where the level is called `compatibility`."""

    compatibility: str | None = None
    compatibility_level: str | None = Field(None, alias="compatibilityLevel", exclude=True)


class Config(ConfigBody):
    """A config in a response, where the level is called `compatibilityLevel`."""

    compatibility_level: str | None = Field(None, alias="compatibilityLevel")


class ModeBody(RequestBody):
    """READWRITE, READONLY, READONLY_OVERRIDE or IMPORT."""

    mode: str


def plain(entity: BaseModel | None) -> dict[str, Any] | None:
    """Return an entity as JSON values, without unset keys."""
    return None if entity is None else entity.model_dump(by_alias=True, exclude_none=True)


def string_of(content: SchemaContent, *, qualified_in: str | None = None) -> dict[str, Any]:
    """Return a schema without its subject and version; references are qualified with their context on request."""
    result: dict[str, Any] = {"schemaType": content.type, "schema": content.text}
    references = [
        {
            "name": reference.name,
            "subject": reference.subject if qualified_in is None else str(reference.target(qualified_in)),
            "version": reference.version,
        }
        for reference in content.references
    ]
    attached = {"references": references, "metadata": content.metadata, "ruleSet": content.rule_set}
    return result | {name: value for name, value in attached.items() if value}


def entity_of(
    schema: StoredSchema, version: StoredVersion, *, extended: bool, qualified: bool = False
) -> dict[str, Any]:
    """Return a version of a subject; keys of newer clients are included only if the client accepts them."""
    entity = {"subject": str(version.subject), "version": version.version, "id": schema.id}
    if extended:
        entity |= {"guid": schema.content.guid, "ts": version.registered_at}
    if version.deleted:
        entity["deleted"] = True
    return entity | string_of(schema.content, qualified_in=schema.context if qualified else None)
