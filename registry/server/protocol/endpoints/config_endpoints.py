"""`/config`: compatibility level and policy, default metadata and rules; by subject, context and globally."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query

from cdc_contracts.registry.authoring.compat.levels import POLICY_NAMES, Level
from cdc_contracts.registry.server.protocol.entities import Config, ConfigUpdate, plain
from cdc_contracts.registry.server.protocol.permissions import AdministeredScope, WholeRegistry
from cdc_contracts.registry.server.service.request_service import Registry, Scope, Served
from cdc_contracts.registry.server.store.attachments import check_rules
from cdc_contracts.registry.server.store.error_codes import (
    alias_of_many,
    invalid_level,
    invalid_policy,
    invalid_subject,
    no_level,
    no_subject,
    not_permitted,
)
from cdc_contracts.registry.server.store.policies import CONFIG, config_of, level_of, mode_of
from cdc_contracts.registry.server.store.registry_records import Records
from cdc_contracts.registry.server.store.subjects import WHOLE_REGISTRY, Subject, parse_subject

ROUTER = APIRouter(tags=["config"])
LEVEL = "compatibilityLevel"


@ROUTER.get("/config", response_model=Config, response_model_exclude_none=True)
def get_global_config(registry: Served) -> Any:
    """Return the global config."""
    with registry.store.reading() as records:
        return _global(registry, records)


@ROUTER.put("/config", response_model=ConfigUpdate, response_model_exclude_none=True)
def set_global_config(registry: Served, scope: WholeRegistry, request: ConfigUpdate) -> Any:
    """Set the global config."""
    return _set(registry, scope, request)


@ROUTER.delete("/config", response_model=Config, response_model_exclude_none=True)
def remove_global_config(registry: Served, scope: WholeRegistry) -> Any:
    """Reset the global config to that of the server's start; returns what was set."""
    with registry.store.writing() as records:
        before = _global(registry, records)
        records.remove_setting(scope, CONFIG)
        return before


@ROUTER.get("/config/{subject}", response_model=Config, response_model_exclude_none=True)
def get_config(
    registry: Served,
    subject: Scope,
    default: Annotated[
        bool, Query(alias="defaultToGlobal", description="Fall back to the effective config if it has none of its own")
    ] = False,
) -> Any:
    """Return the config of a subject or context."""
    with registry.store.reading() as records:
        if subject == WHOLE_REGISTRY:
            return _global(registry, records)
        own = records.setting(subject, CONFIG)
        if not default:
            if own is None:
                raise no_level(subject)
            return own
        return {LEVEL: registry.options.defaults.level, **config_of(records, subject)}


@ROUTER.put("/config/{subject}", response_model=ConfigUpdate, response_model_exclude_none=True)
def set_config(registry: Served, subject: AdministeredScope, request: ConfigUpdate) -> Any:
    """Set the config of a subject or context. Keys that are missing stay unchanged; null removes a key."""
    return _set(registry, subject, request)


@ROUTER.delete("/config/{subject}", response_model=Config, response_model_exclude_none=True)
def remove_config(registry: Served, subject: AdministeredScope) -> Any:
    """Remove the config of a subject or context; returns what was set."""
    with registry.store.writing() as records:
        _check_writable(registry, records, subject)
        own = records.setting(subject, CONFIG)
        if own is None:
            raise no_subject(subject)
        records.remove_setting(subject, CONFIG)
        return own


def _global(registry: Registry, records: Records) -> dict[str, Any]:
    own = records.setting(WHOLE_REGISTRY, CONFIG) or {}
    return {**own, LEVEL: level_of(own, registry.options.defaults)}


def _set(registry: Registry, scope: Subject, request: ConfigUpdate) -> dict[str, Any]:
    given = _read(request)
    if scope.name and not scope.is_valid:
        raise invalid_subject(scope)
    if request.alias and not scope.name:
        raise alias_of_many(scope)
    if request.alias and not parse_subject(request.alias).is_valid:
        raise invalid_subject(request.alias)
    with registry.store.writing() as records:
        _check_writable(registry, records, scope)
        config = (records.setting(scope, CONFIG) or {}) | given
        config = {name: value for name, value in config.items() if value is not None}
        if config:
            records.set_setting(scope, CONFIG, config)
        else:
            records.remove_setting(scope, CONFIG)
    result = dict(given)
    if LEVEL in result:
        result["compatibility"] = result.pop(LEVEL)
    return result


def _read(request: ConfigUpdate) -> dict[str, Any]:
    """Return a config as it is stored; keys to remove are None."""
    unset = {ConfigUpdate.model_fields[name].alias or name: None for name in request.model_fields_set}
    given = unset | (plain(request) or {})
    if not given:
        raise invalid_level()
    level = request.compatibility_level if request.compatibility is None else request.compatibility
    if given.pop("compatibility", None) or LEVEL in given or "compatibility" in unset:
        given[LEVEL] = None if level is None else level.upper()
    if level is not None and level.upper() not in Level.__members__:
        raise invalid_level()
    policy = request.compatibility_policy
    if policy is not None:
        if policy.upper() not in POLICY_NAMES:
            raise invalid_policy()
        given["compatibilityPolicy"] = policy.upper()
    if request.alias == "":
        given["alias"] = None
    for rule_set in ("defaultRuleSet", "overrideRuleSet"):
        check_rules(given.get(rule_set))
    return given


def _check_writable(registry: Registry, records: Records, scope: Subject) -> None:
    if mode_of(records, scope, registry.options.defaults).is_read_only:
        raise not_permitted(f"Subject {scope} is in read-only mode")
