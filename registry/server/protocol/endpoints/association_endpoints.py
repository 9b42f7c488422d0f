"""`/associations`: which subjects describe a topic's keys and values.

The serializers of newer clients look them up before the first message, and use the topic's name if there are none.
"""

from __future__ import annotations

import uuid
from typing import Annotated, Any
from urllib.parse import unquote

from fastapi import APIRouter, Query
from fastapi.responses import Response

from cdc_contracts.registry.server.access.rights import Right
from cdc_contracts.registry.server.protocol.entities import (
    Association,
    AssociationCreateInfo,
    AssociationRequest,
    AssociationResponse,
)
from cdc_contracts.registry.server.protocol.permissions import require
from cdc_contracts.registry.server.service.request_service import Paged, Registry, Served
from cdc_contracts.registry.server.store.associations import (
    STRONG,
    WEAK,
    TopicSubject,
    associate,
    dissociate,
    find_associations,
)
from cdc_contracts.registry.server.store.error_codes import invalid_association
from cdc_contracts.registry.server.store.registration import register
from cdc_contracts.registry.server.store.subjects import parse_subject

ROUTER = APIRouter(tags=["associations"])
TOPIC = "topic"
Kind = Annotated[str, Query(alias="resourceType", description="Type of the resource")]
Kinds = Annotated[list[str] | None, Query(alias="associationType", description="key, value")]
Lifecycle = Annotated[str, Query()]


@ROUTER.get("/associations/resources/{namespace}/{name}", response_model=list[Association])
def list_associations_of_name(
    registry: Served,
    namespace: str,
    name: str,
    paged: Paged,
    resource_type: Kind = TOPIC,
    association_type: Kinds = None,
    lifecycle: Lifecycle = "",
) -> Any:
    """List the subjects of a topic; the namespace `-` is any."""
    named = {"resource_name": unquote(name), "resource_namespace": unquote(namespace), "resource_type": resource_type}
    return _list(registry, paged, association_type, lifecycle, named)


@ROUTER.get("/associations/resources/{resource_id}", response_model=list[Association])
def list_associations_of_id(
    registry: Served,
    resource_id: str,
    paged: Paged,
    resource_type: Kind = TOPIC,
    association_type: Kinds = None,
    lifecycle: Lifecycle = "",
) -> Any:
    """List the subjects of a topic by its id."""
    named = {"resource_id": unquote(resource_id), "resource_type": resource_type}
    return _list(registry, paged, association_type, lifecycle, named)


@ROUTER.post("/associations", response_model=AssociationResponse)
def create_associations(registry: Served, request: AssociationRequest) -> Any:
    """Set the subjects of a topic; schemas in the request are registered."""
    name, number = request.resource_name, request.resource_id
    if not name or not number:
        raise invalid_association("resourceId" if name else "resourceName", "it cannot be null or empty")
    if not request.associations:
        raise invalid_association("associations", "it cannot be null or empty")
    topic = {
        "resource_name": name,
        "resource_namespace": request.resource_namespace or "-",
        "resource_id": number,
        "resource_type": request.resource_type or TOPIC,
    }
    made = [_read(wanted, topic) for wanted in request.associations]
    for one in made:
        require(Right.WRITE, parse_subject(one.subject))
    for wanted, one in zip(request.associations, made, strict=True):
        _register(registry, wanted, one.subject)
    with registry.store.writing() as records:
        for one in made:
            associate(records, one)
    return {**topic, "associations": [vars(one) for one in made]}


@ROUTER.delete("/associations/resources/{resource_id}", status_code=204)
def remove_associations(
    registry: Served, resource_id: str, resource_type: Kind = TOPIC, association_type: Kinds = None
) -> Response:  # fmt: skip
    """Remove the associations of a topic; the subjects stay."""
    with registry.store.writing() as records:
        gone = dissociate(records, unquote(resource_id), resource_type=resource_type, kinds=association_type or [])
        for one in gone:
            require(Right.WRITE, parse_subject(one.subject))
    return Response(status_code=204)


def _list(registry: Registry, paged: Paged, kinds: Kinds, lifecycle: str, named: dict[str, str]) -> Any:
    with registry.store.reading() as records:
        found = find_associations(records, kinds=kinds or (), lifecycle=lifecycle, **named)
        readable = [one for one in found if records.versions(parse_subject(one.subject))]
    return [vars(one) | {"guid": str(uuid.uuid5(uuid.NAMESPACE_OID, repr(one)))} for one in paged.of(readable)]


def _read(wanted: AssociationCreateInfo, topic: dict[str, str]) -> TopicSubject:
    if not wanted.subject:
        raise invalid_association("subject", "it cannot be null or empty")
    lifecycle = (wanted.lifecycle or WEAK).upper()
    if lifecycle not in (STRONG, WEAK):
        raise invalid_association("lifecycle", f"it must be {STRONG} or {WEAK}")
    frozen = bool(wanted.frozen)
    if frozen and lifecycle == WEAK:
        raise invalid_association("frozen", f"only a {STRONG} association can be frozen")
    return TopicSubject(
        **topic, association_type=wanted.association_type or "value", subject=wanted.subject, lifecycle=lifecycle,
        frozen=frozen,
    )  # fmt: skip


def _register(registry: Registry, wanted: AssociationCreateInfo, subject: str) -> None:
    if wanted.schema_request is not None:
        options = registry.options
        submission = wanted.schema_request.submission(normalize=bool(wanted.normalize))
        register(
            registry.store, parse_subject(subject), submission, defaults=options.defaults,
            conflict=options.conflict_code,
        )  # fmt: skip
