"""`/healthz` and `/metrics`: health check and metrics for operators."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter, Header, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse, Response
from sqlalchemy.exc import SQLAlchemyError

from cdc_contracts.registry.core.common.errors import UnavailableError
from cdc_contracts.registry.server.protocol.entities import Entity
from cdc_contracts.registry.server.service.request_service import Served
from cdc_contracts.registry.server.service.server_metrics import ServerMetrics

ROUTER = APIRouter(tags=["operation"])
TIMEOUT_SECONDS = 5.0
HEALTH, METRICS = "/healthz", "/metrics"


class Health(Entity):
    """Whether the server can do its work."""

    status: str


@ROUTER.get(HEALTH, response_model=Health, responses={503: {"model": Health}})
async def get_health(registry: Served) -> Any:
    """Return whether the store answers and can be written to."""
    try:
        await asyncio.wait_for(run_in_threadpool(registry.store.check), TIMEOUT_SECONDS)
    except UnavailableError as error:
        return JSONResponse({"status": error.what}, 503)
    except (SQLAlchemyError, TimeoutError):
        return JSONResponse({"status": "the store does not answer"}, 503)
    return {"status": "ok"}


@ROUTER.get(
    METRICS, response_class=Response, responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}}
)
def get_metrics(request: Request, accept: Annotated[str, Header()] = "") -> Response:
    """Return the metrics of the server in Prometheus format."""
    metrics: ServerMetrics = request.app.state.metrics
    content, media_type = metrics.expose(accept)
    return Response(content, media_type=media_type)
