"""`/subjects`: registering, looking up, listing and deleting versions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any
from urllib.parse import unquote

from fastapi import APIRouter, Query
from fastapi.responses import Response

from cdc_contracts.registry.server.protocol.entities import RegisterResponse, SchemaEntity, SchemaRequest, entity_of
from cdc_contracts.registry.server.protocol.permissions import DeletedSubject, WrittenSubject
from cdc_contracts.registry.server.service.request_service import (
    Extended,
    Filtered,
    Paged,
    Served,
    SubjectName,
    VersionNumber,
)
from cdc_contracts.registry.server.store.deletion import delete_subject, delete_version
from cdc_contracts.registry.server.store.error_codes import no_schema, no_subject, no_version
from cdc_contracts.registry.server.store.policies import config_of
from cdc_contracts.registry.server.store.registration import find, read_submission, register
from cdc_contracts.registry.server.store.registry_records import Records, StoredSchema, StoredVersion
from cdc_contracts.registry.server.store.subjects import EVERY_CONTEXT, Subject, parse_subject

ROUTER = APIRouter(tags=["subjects"])
Flag = Annotated[bool, Query()]


@ROUTER.get("/subjects", response_model=list[str])
def list_subjects(
    registry: Served,
    filtered: Filtered,
    paged: Paged,
    prefix: Annotated[
        str, Query(alias="subjectPrefix", description="Prefix of the names; `:*:` searches all contexts")
    ] = "",
    python_prefix: Annotated[str, Query(alias="subject", include_in_schema=False)] = "",
) -> Any:
    """List subjects."""
    with registry.store.reading() as records:
        live: dict[Subject, bool] = {}
        for version in prefixed(records, prefix or python_prefix or EVERY_CONTEXT):
            live[version.subject] = live.get(version.subject, False) or not version.deleted
    return paged.of(sorted(str(subject) for subject, lives in live.items() if filtered.wants(not lives)))


@ROUTER.post("/subjects/{subject}/versions", response_model=RegisterResponse, response_model_exclude_none=True)
def register_schema(
    registry: Served, subject: WrittenSubject, request: SchemaRequest, extended: Extended, normalize: Flag = False
) -> Any:
    """Register a schema; one that is already registered keeps its id and version."""
    options = registry.options
    submission = request.submission(normalize=normalize)
    done = register(
        registry.store, subject, submission, defaults=options.defaults, conflict=options.conflict_code
    )  # fmt: skip
    answer: dict[str, Any] = {"id": done.schema.id}
    if extended:
        answer |= {"version": done.version.version, "guid": done.schema.content.guid}
    return answer


@ROUTER.post("/subjects/{subject}", response_model=SchemaEntity, response_model_exclude_none=True)
def look_up_schema(
    registry: Served,
    subject: SubjectName,
    request: SchemaRequest,
    extended: Extended,
    normalize: Flag = False,
    deleted: Flag = False,
) -> Any:
    """Look up the version under which a subject has a schema."""
    with registry.store.reading() as records:
        check_subject(records, subject, deleted=deleted)
        config = config_of(records, subject)
        _, content = read_submission(records, subject, request.submission(normalize=normalize), config)
        found = find(records, records.versions(subject), content, deleted=deleted)
    if found is None:
        raise no_schema()
    return entity_of(found.schema, found.version, extended=extended)


@ROUTER.delete("/subjects/{subject}", response_model=list[int])
def remove_subject(registry: Served, subject: DeletedSubject, permanent: Flag = False) -> Any:
    """Delete all versions of a subject: soft, or permanently once they are soft-deleted."""
    with registry.store.writing() as records:
        return delete_subject(records, subject, permanent=permanent, defaults=registry.options.defaults)


@ROUTER.get("/subjects/{subject}/versions", response_model=list[int])
def list_versions(
    registry: Served,
    subject: SubjectName,
    filtered: Filtered,
    paged: Paged,
    negative: Annotated[
        bool, Query(alias="deletedAsNegative", description="Return deleted versions as negative numbers")
    ] = False,
) -> Any:
    """List the versions of a subject."""
    with registry.store.reading() as records:
        versions = records.versions(subject)
    wanted = [each for each in versions if filtered.wants(each.deleted) or (negative and each.deleted)]
    if not wanted and not (versions and filtered.only_deleted):
        raise no_subject(subject)
    return paged.of([-each.version if negative and each.deleted else each.version for each in wanted])


@ROUTER.get(
    "/subjects/{subject}/versions/{version}", response_model=SchemaEntity, response_model_exclude_none=True
)  # fmt: skip
def get_version(
    registry: Served,
    subject: SubjectName,
    version: VersionNumber,
    extended: Extended,
    deleted: Flag = False,
    reference_format: Annotated[str, Query(alias="referenceFormat")] = "",
    python_reference_format: Annotated[str, Query(alias="reference_format", include_in_schema=False)] = "",
) -> Any:
    """Return one version."""
    with registry.store.reading() as records:
        schema, found = version_of(records, subject, version, deleted=deleted)
    qualified = (reference_format or python_reference_format).upper() == "QUALIFIED"
    return entity_of(schema, found, extended=extended, qualified=qualified)


@ROUTER.get("/subjects/{subject}/versions/{version}/schema")
def get_version_schema(
    registry: Served, subject: SubjectName, version: VersionNumber, deleted: Flag = False
) -> Response:  # fmt: skip
    """Return the text of one version, unchanged."""
    with registry.store.reading() as records:
        schema, _ = version_of(records, subject, version, deleted=deleted)
    return Response(schema.content.text, media_type="application/json")


@ROUTER.get("/subjects/{subject}/versions/{version}/referencedby", response_model=list[int])
def list_referrers(
    registry: Served, subject: SubjectName, version: VersionNumber, paged: Paged, deleted: Flag = False
) -> Any:  # fmt: skip
    """List the ids of the schemas that refer to a version."""
    with registry.store.reading() as records:
        _, found = version_of(records, subject, version, deleted=True)
        return paged.of(records.referrers(subject, found.version, deleted=deleted))


@ROUTER.delete("/subjects/{subject}/versions/{version}", response_model=int)
def remove_version(
    registry: Served, subject: DeletedSubject, version: VersionNumber, permanent: Flag = False
) -> Any:  # fmt: skip
    """Delete one version: soft, or permanently once it is soft-deleted."""
    with registry.store.writing() as records:
        return delete_version(records, subject, version, permanent=permanent, defaults=registry.options.defaults)


@ROUTER.get("/subjects/{subject}/metadata", response_model=SchemaEntity, response_model_exclude_none=True)
def get_latest_with_metadata(
    registry: Served,
    subject: SubjectName,
    extended: Extended,
    key: Annotated[Sequence[str], Query()] = (),
    value: Annotated[Sequence[str], Query()] = (),
    deleted: Flag = False,
) -> Any:
    """Return the latest version whose metadata has the given properties."""
    wanted = set(zip(key, value, strict=False))
    once_more = {(unquote(name), unquote(text)) for name, text in wanted}  # the Python client encodes them twice
    with registry.store.reading() as records:
        check_subject(records, subject, deleted=deleted)
        for version in reversed(records.versions(subject)):
            schema = records.schema(subject.context, version.id)
            properties = ((schema.content.metadata if schema else None) or {}).get("properties", {})
            if (
                schema
                and (deleted or not version.deleted)
                and (wanted <= set(properties.items()) or once_more <= set(properties.items()))
            ):
                return entity_of(schema, version, extended=extended)
    raise no_schema()


def check_subject(records: Records, subject: Subject, *, deleted: bool) -> None:
    """Raise Refusal if a subject has no version to return."""
    if not any(deleted or not version.deleted for version in records.versions(subject)):
        raise no_subject(subject)


def version_of(
    records: Records, subject: Subject, number: int | None, *, deleted: bool
) -> tuple[StoredSchema, StoredVersion]:
    """Return a version of a subject, the latest if no number is given. Raises Refusal if there is none."""
    versions = [version for version in records.versions(subject) if deleted or not version.deleted]
    if number is None:
        live = [version for version in versions if not version.deleted] or versions
        found = live[-1] if live else None
    else:
        found = next((version for version in versions if version.version == number), None)
    schema = None if found is None else records.schema(subject.context, found.id)
    if found is None or schema is None:
        raise no_subject(subject) if not records.versions(subject) or not versions else no_version(number)
    return schema, found


def prefixed(records: Records, prefix: str) -> list[StoredVersion]:
    """Return the versions of subjects whose name starts with a prefix; `:*:` before it searches all contexts."""
    if prefix.startswith(EVERY_CONTEXT):
        return list(records.all_versions(None, prefix.removeprefix(EVERY_CONTEXT)))
    subject = parse_subject(prefix)
    return list(records.all_versions(subject.context, subject.name))
