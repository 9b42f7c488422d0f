"""`/contexts`: registries of their own inside the registry."""

from __future__ import annotations

from typing import Annotated, Any
from urllib.parse import unquote

from fastapi import APIRouter, Query
from fastapi.responses import Response

from cdc_contracts.registry.server.deletion import delete_context
from cdc_contracts.registry.server.refusals import Refusal
from cdc_contracts.registry.server.service import Paged, Served
from cdc_contracts.registry.server.subjects import DEFAULT_CONTEXT, parse_context

ROUTER = APIRouter(tags=["contexts"])


@ROUTER.get("/contexts", response_model=list[str])
def list_contexts(
    registry: Served,
    paged: Paged,
    prefix: Annotated[str, Query(alias="contextPrefix", description="What names start with")] = "",
) -> Any:
    """List the contexts."""
    with registry.store.reading() as records:
        names = [DEFAULT_CONTEXT, *(name for name in records.contexts() if name != DEFAULT_CONTEXT)]
    return paged.of([name for name in names if name.startswith(prefix)])


@ROUTER.delete("/contexts/{context}", status_code=204)
def remove_context(registry: Served, context: str) -> Response:
    """Take a context off the list; it has to be empty."""
    try:
        name = parse_context(unquote(context))
    except ValueError as error:
        raise Refusal(400, f"HTTP 400 Bad Request: {error}") from error
    with registry.store.writing() as records:
        delete_context(records, name)
    return Response(status_code=204)
