"""`/contexts`: separate namespaces of subjects and ids within the registry."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query
from fastapi.responses import Response

from cdc_contracts.registry.server.protocol.permissions import AdministeredContext
from cdc_contracts.registry.server.service.request_service import Paged, Served
from cdc_contracts.registry.server.store.deletion import delete_context
from cdc_contracts.registry.server.store.subjects import DEFAULT_CONTEXT

ROUTER = APIRouter(tags=["contexts"])


@ROUTER.get("/contexts", response_model=list[str])
def list_contexts(
    registry: Served,
    paged: Paged,
    prefix: Annotated[str, Query(alias="contextPrefix", description="Prefix of the names")] = "",
) -> Any:
    """List the contexts."""
    with registry.store.reading() as records:
        names = [DEFAULT_CONTEXT, *(name for name in records.contexts() if name != DEFAULT_CONTEXT)]
    return paged.of([name for name in names if name.startswith(prefix)])


@ROUTER.delete("/contexts/{context}", status_code=204)
def remove_context(registry: Served, context: AdministeredContext) -> Response:
    """Remove an empty context from the list."""
    with registry.store.writing() as records:
        delete_context(records, context)
    return Response(status_code=204)
