"""Requests about the server itself."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

from fastapi import APIRouter
from fastapi.responses import JSONResponse
from sqlalchemy.exc import SQLAlchemyError

from cdc_contracts.registry.server.service.request_service import Served

ROUTER = APIRouter(tags=["server"])


@ROUTER.get("/", response_model=dict[str, str])
async def get_root() -> Any:
    """Return an empty object: the server is up."""
    return {}


@ROUTER.get("/_health", response_model=dict[str, bool])
def get_health(registry: Served) -> JSONResponse:
    """Return whether the store answers."""
    ready = _is_ready(registry)
    return JSONResponse({"healthy": ready, "schema_registry_ready": ready}, status_code=200 if ready else 503)


@ROUTER.get("/master_available", response_model=dict[str, bool])
def get_master(registry: Served) -> JSONResponse:
    """Return whether this server accepts writes: every one does, as long as the store answers."""
    ready = _is_ready(registry)
    headers = {"Cache-Control": "no-store, no-cache, must-revalidate"}
    return JSONResponse({"master_available": ready}, status_code=200 if ready else 503, headers=headers)


@ROUTER.get("/v1/metadata/id", response_model=dict[str, Any])
async def get_cluster(registry: Served) -> Any:
    """Return the id of the cluster."""
    cluster = registry.options.cluster
    return {"scope": {"path": [], "clusters": {"kafka-cluster": cluster, "schema-registry-cluster": cluster}}}


@ROUTER.get("/v1/metadata/version", response_model=dict[str, str])
async def get_release() -> Any:
    """Return the release of the server."""
    return {"version": version("cdc-contracts"), "commitId": "unknown"}


@ROUTER.get("/v1/metadata/deployment", response_model=dict[str, list[str]])
async def get_deployment() -> Any:
    """Return the kind of deployment, which is always empty here."""
    return {"attributes": []}


def _is_ready(registry: Served) -> bool:
    try:
        with registry.store.reading() as records:
            records.erasures()
    except SQLAlchemyError:
        return False
    return True
