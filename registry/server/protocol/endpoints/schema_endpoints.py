"""`/schemas`: schemas by id or guid, and where they are used."""

from __future__ import annotations

import json
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import Response

from cdc_contracts.registry.server.protocol.endpoints.subject_endpoints import prefixed
from cdc_contracts.registry.server.protocol.entities import (
    ContextId,
    Id,
    SchemaEntity,
    SchemaString,
    SubjectVersion,
    entity_of,
    string_of,
)
from cdc_contracts.registry.server.service.request_service import Extended, Filtered, Paged, Registry, Served
from cdc_contracts.registry.server.store.error_codes import no_schema
from cdc_contracts.registry.server.store.registry_records import Records, StoredSchema, StoredVersion
from cdc_contracts.registry.server.store.resolution import TYPES
from cdc_contracts.registry.server.store.subjects import DEFAULT_CONTEXT, EVERY_CONTEXT, Subject, parse_subject

ROUTER = APIRouter(tags=["schemas"])
Flag = Annotated[bool, Query()]
Used = Annotated[str, Query(description="A subject that uses it, or `:.context:`")]


@ROUTER.get("/schemas/types", response_model=list[str])
async def list_types() -> Any:
    """List the supported schema types."""
    return TYPES


@ROUTER.get("/schemas", response_model=list[SchemaEntity], response_model_exclude_none=True)
def list_schemas(
    registry: Served,
    paged: Paged,
    extended: Extended,
    filtered: Filtered,
    prefix: Annotated[str, Query(alias="subjectPrefix")] = EVERY_CONTEXT,
    latest_only: Annotated[bool, Query(alias="latestOnly")] = False,
) -> Any:
    """List versions of subjects."""
    with registry.store.reading() as records:
        wanted = [version for version in prefixed(records, prefix) if filtered.wants(version.deleted)]
        if latest_only:
            wanted = list({version.subject: version for version in wanted}.values())
        found = [(records.schema(version.subject.context, version.id), version) for version in paged.of(wanted)]
    return [entity_of(schema, version, extended=extended) for schema, version in found if schema is not None]


@ROUTER.get("/schemas/ids/{id}", response_model=SchemaString, response_model_exclude_none=True)
async def get_schema(
    registry: Served,
    id: Id,
    request: Request,
    extended: Extended,
    subject: Used = "",
    fetch_max_id: Annotated[bool, Query(alias="fetchMaxId")] = False,
) -> Response:
    """Return the schema with an id."""
    meant = registry.store.cached_alias(parse_subject(subject))
    schema = None if meant is None else registry.store.cached_schema(meant.context, id)
    if schema is None:
        schema = await run_in_threadpool(schema_of, registry, id, subject)
    result = string_of(schema.content)
    if extended:
        result["guid"] = schema.content.guid
    if fetch_max_id:
        result["maxId"] = await run_in_threadpool(_highest_id, registry, schema.context)
    return Response(json.dumps(result, ensure_ascii=False), media_type="application/json")


@ROUTER.get("/schemas/ids/{id}/schema")
def get_schema_text(registry: Served, id: Id, subject: Used = "") -> Response:
    """Return the text of the schema with an id, unchanged."""
    return Response(schema_of(registry, id, subject).content.text, media_type="application/json")


@ROUTER.get("/schemas/ids/{id}/subjects", response_model=list[str])
def list_subjects_of_schema(
    registry: Served, id: Id, paged: Paged, subject: Used = "", deleted: Flag = False
) -> Any:  # fmt: skip
    """List the subjects that use a schema."""
    return paged.of(sorted({str(version.subject) for version in _uses(registry, id, subject, deleted=deleted)}))


@ROUTER.get("/schemas/ids/{id}/versions", response_model=list[SubjectVersion])
def list_versions_of_schema(
    registry: Served, id: Id, paged: Paged, subject: Used = "", deleted: Flag = False
) -> Any:  # fmt: skip
    """List the subjects and versions that use a schema."""
    uses = _uses(registry, id, subject, deleted=deleted)
    return paged.of([{"subject": str(version.subject), "version": version.version} for version in uses])


@ROUTER.get("/schemas/guids/{guid}", response_model=SchemaString, response_model_exclude_none=True)
def get_schema_by_guid(registry: Served, guid: str, extended: Extended) -> Any:
    """Return the schema with a guid."""
    with registry.store.reading() as records:
        found = records.schemas_by_guid(guid.lower())
    if not found:
        raise no_schema(guid)
    content = found[0].content
    return string_of(content) | ({"guid": content.guid} if extended else {})


@ROUTER.get("/schemas/guids/{guid}/ids", response_model=list[ContextId])
def list_ids_of_guid(registry: Served, guid: str) -> Any:
    """List the ids of a schema, by context."""
    with registry.store.reading() as records:
        found = records.schemas_by_guid(guid.lower())
    if not found:
        raise no_schema(guid)
    return [{"context": schema.context, "id": schema.id} for schema in found]


def schema_of(registry: Registry, number: int, subject: str) -> StoredSchema:
    """Return the schema with an id in the context of a subject, else in one that has that subject with that id.

    Raises Refusal if there is none.
    """
    named = registry.store.resolve_alias(parse_subject(subject))
    found = registry.store.schema(named.context, number)
    if found is None and named.context == DEFAULT_CONTEXT and named.name:
        with registry.store.reading() as records:
            found = _elsewhere(records, number, named.name)
    if found is None:
        raise no_schema(number)
    return found


def _elsewhere(records: Records, number: int, name: str) -> StoredSchema | None:
    for context in records.contexts():
        if any(version.id == number for version in records.versions(Subject(context, name))):
            return records.schema(context, number)
    return None


def _uses(registry: Registry, number: int, subject: str, *, deleted: bool) -> list[StoredVersion]:
    schema = schema_of(registry, number, subject)
    with registry.store.reading() as records:
        versions = records.versions_of_schema(schema.context, number)
    name = registry.store.resolve_alias(parse_subject(subject)).name
    wanted = [version for version in versions if deleted or not version.deleted]
    return [version for version in wanted if not name or version.subject.name == name]


def _highest_id(registry: Registry, context: str) -> int:
    with registry.store.reading() as records:
        return records.highest_id(context)
