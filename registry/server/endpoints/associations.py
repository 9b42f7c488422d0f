"""`/associations`: which subjects belong to a topic. There are none here: topics are bound in a project's own file.

The serializers of newer clients ask for them before each first message, and go by the topic's name if there are none.
"""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query
from fastapi.responses import JSONResponse

from cdc_contracts.registry.server.service import Paged

ROUTER = APIRouter(tags=["associations"])
CACHEABLE = {"Cache-Control": "max-age=300"}


@ROUTER.get("/associations/resources/{namespace}/{name}", response_model=list[dict[str, Any]])
async def list_associations(
    namespace: str,
    name: str,
    paged: Paged,
    resource_type: Annotated[str, Query(alias="resourceType")] = "",
    association_type: Annotated[list[str] | None, Query(alias="associationType")] = None,
    lifecycle: Annotated[str, Query()] = "",
) -> JSONResponse:
    """List the subjects of a topic: none."""
    return JSONResponse([], headers=CACHEABLE)
