"""`/mode`: what may be written, by subject, context and globally."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query

from cdc_contracts.registry.server.protocol.entities import ModeBody
from cdc_contracts.registry.server.protocol.permissions import AdministeredScope, WholeRegistry
from cdc_contracts.registry.server.service.request_service import Registry, Scope, Served
from cdc_contracts.registry.server.store.error_codes import (
    invalid_mode,
    invalid_subject,
    no_mode,
    no_subject,
    not_permitted,
)
from cdc_contracts.registry.server.store.policies import MODE, Mode, mode_of, own_mode
from cdc_contracts.registry.server.store.registry_records import Records
from cdc_contracts.registry.server.store.subjects import WHOLE_REGISTRY, Subject

ROUTER = APIRouter(tags=["mode"])
Force = Annotated[bool, Query(description="Set IMPORT even if there are schemas")]
Recursive = Annotated[bool, Query(description="Also remove the modes of its subjects")]


@ROUTER.get("/mode", response_model=ModeBody)
def get_global_mode(registry: Served) -> Any:
    """Return the global mode."""
    with registry.store.reading() as records:
        return {"mode": mode_of(records, WHOLE_REGISTRY, registry.options.defaults)}


@ROUTER.put("/mode", response_model=ModeBody)
def set_global_mode(registry: Served, scope: WholeRegistry, request: ModeBody, force: Force = False) -> Any:
    """Set the global mode."""
    return _set(registry, scope, request, force=force)


@ROUTER.delete("/mode", response_model=ModeBody)
def remove_global_mode(registry: Served, scope: WholeRegistry, recursive: Recursive = False) -> Any:
    """Reset the global mode to that of the server's start; returns the mode that was set."""
    with registry.store.writing() as records:
        before = mode_of(records, scope, registry.options.defaults)
        _remove(records, scope, recursive=recursive)
        return {"mode": before}


@ROUTER.get("/mode/{subject}", response_model=ModeBody)
def get_mode(
    registry: Served,
    subject: Scope,
    default: Annotated[
        bool, Query(alias="defaultToGlobal", description="Fall back to the effective mode if it has none of its own")
    ] = False,
) -> Any:
    """Return the mode of a subject or context."""
    with registry.store.reading() as records:
        if default or subject == WHOLE_REGISTRY:
            return {"mode": mode_of(records, subject, registry.options.defaults)}
        own = own_mode(records, subject)
    if own is None:
        raise no_mode(subject)
    return {"mode": own}


@ROUTER.put("/mode/{subject}", response_model=ModeBody)
def set_mode(registry: Served, subject: AdministeredScope, request: ModeBody, force: Force = False) -> Any:
    """Set the mode of a subject or context."""
    return _set(registry, subject, request, force=force)


@ROUTER.delete("/mode/{subject}", response_model=ModeBody)
def remove_mode(registry: Served, subject: AdministeredScope, recursive: Recursive = False) -> Any:
    """Remove the mode of a subject or context; returns the mode that was set."""
    with registry.store.writing() as records:
        own = records.setting(subject, MODE)
        if own is None and not recursive:
            raise no_subject(subject)
        before = own or mode_of(records, subject, registry.options.defaults)
        _remove(records, subject, recursive=recursive)
        return {"mode": before}


def _set(registry: Registry, scope: Subject, request: ModeBody, *, force: bool) -> dict[str, Any]:
    name = request.mode.upper()
    if name not in Mode.__members__:
        raise invalid_mode()
    if scope.name and not scope.is_valid:
        raise invalid_subject(scope)
    with registry.store.writing() as records:
        starts_import = name == Mode.IMPORT and mode_of(records, scope, registry.options.defaults) is not Mode.IMPORT
        if starts_import and not force and _has_schemas(records, scope):
            raise not_permitted("Cannot import since found existing subjects")
        records.set_setting(scope, MODE, name)
    return {"mode": name}


def _remove(records: Records, scope: Subject, *, recursive: bool) -> None:
    records.remove_setting(scope, MODE)
    if recursive and not scope.name:
        records.remove_settings(scope.context or None, MODE)


def _has_schemas(records: Records, scope: Subject) -> bool:
    versions = records.versions(scope) if scope.name else records.all_versions(scope.context or None, "")
    return any(not version.deleted for version in versions)
