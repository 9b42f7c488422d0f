"""Registry servers: the contents of a registry, read through endpoints that every compatible registry has."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, Final, TypeVar

from cdc_contracts.registry.authoring.sync.registry_client import (
    NO_CONFIG,
    NO_MODE,
    NO_SCHEMA,
    NO_SUBJECT,
    NO_VERSION,
    RegistryClient,
)
from cdc_contracts.registry.authoring.sync.registry_contents import (
    GLOBAL,
    LEVELS,
    HeldSchema,
    Holdings,
    ScopeSettings,
)
from cdc_contracts.registry.authoring.sync.subject_names import DEFAULT_CONTEXT, context_of, is_catalogue
from cdc_contracts.registry.authoring.sync.sync_plans import OVERRIDE
from cdc_contracts.registry.core.common.errors import UnavailableError
from cdc_contracts.registry.core.schema.schema_documents import AVRO

_AT_ONCE: Final = 8
_NOT_THERE: Final = (404, 405, NO_SUBJECT, NO_CONFIG, NO_MODE, 40499)
_One = TypeVar("_One")
_Other = TypeVar("_Other")


def list_subjects(client: RegistryClient) -> list[str]:
    """Return every subject of every context, including deleted ones. Raises UnavailableError.

    The built-in subjects of our own server, the shipped contracts, are left out.
    """
    found = set(_names(client.get("subjects", deleted=True), client))
    for context in list_contexts(client):
        if context != DEFAULT_CONTEXT:
            found |= set(_names(client.get("subjects", deleted=True, subjectPrefix=f":{context}:"), client))
    return sorted(one for one in found if not is_catalogue(context_of(one)))


def list_subjects_here(client: RegistryClient) -> list[str]:
    """Return the subjects of the context named at the end of the URL (`/contexts/NAME`), else of the default one."""
    context = client.url.rpartition("/contexts/")[2] if "/contexts/" in client.url else DEFAULT_CONTEXT
    named = _names(client.get("subjects"), client)
    return sorted(one for one in named if context_of(one) == context)


def list_contexts(client: RegistryClient) -> list[str]:
    """Return the contexts; a registry without contexts has only the default one. Raises UnavailableError."""
    try:
        found = client.get("contexts", missing=_NOT_THERE)
    except UnavailableError:
        return [DEFAULT_CONTEXT]
    return [str(one) for one in found or [DEFAULT_CONTEXT] if not is_catalogue(str(one))]


def read_server(client: RegistryClient, subjects: Iterable[str] | None = None) -> Holdings:
    """Return the contents of a registry, whole or for some subjects, with the settings of everything read.

    Raises UnavailableError if it does not answer.
    """
    named = list_subjects(client) if subjects is None else sorted(set(subjects))
    holdings = Holdings()
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        for held in _map(pool, lambda subject: read_subject(client, subject), named):
            for schema in held:
                holdings.add(schema)
        contexts = list_contexts(client) if subjects is None else sorted({context_of(one) for one in named})
        scopes = [GLOBAL, *(f":{one}:" for one in contexts if one != DEFAULT_CONTEXT), *named]
        for scope, settings in zip(scopes, _map(pool, lambda scope: read_scope(client, scope), scopes), strict=True):
            overrides = scope != GLOBAL and settings.mode == OVERRIDE  # returned for every scope, set once
            own = replace(settings, mode=None) if overrides else settings
            if own != ScopeSettings():
                holdings.settings[scope] = own
    return holdings


def read_subject(client: RegistryClient, subject: str) -> list[HeldSchema]:
    """Return every version of a subject, deleted ones marked as such; none if there is no such subject."""
    path = ("subjects", subject, "versions")
    every = client.get(*path, missing=_NOT_THERE, deleted=True)
    live = client.get(*path, missing=_NOT_THERE) if every else []
    found = []
    for version in every or ():
        entity = client.get(*path, str(version), missing=(NO_SUBJECT, NO_VERSION, NO_SCHEMA), deleted=True)
        if entity is not None:  # deleted since the versions were listed
            found.append(_held(subject, int(version), entity, deleted=version not in (live or ())))
    return found


def read_scope(client: RegistryClient, scope: str) -> ScopeSettings:
    """Return the scope's own settings."""
    below = (scope,) if scope != GLOBAL else ()
    config = client.get("config", *below, missing=_NOT_THERE, defaultToGlobal=False)
    mode = client.get("mode", *below, missing=_NOT_THERE, defaultToGlobal=False)
    written = {LEVELS.get(key, key): value for key, value in (config or {}).items() if value is not None}
    return ScopeSettings(written or None, None if mode is None else str(mode.get("mode")))


def find_by_id(client: RegistryClient, context: str, number: int) -> HeldSchema | None:
    """Return the schema with an id in a context, None if the id is free."""
    query = {} if context == DEFAULT_CONTEXT else {"subject": f":{context}:"}
    entity = client.get("schemas", "ids", str(number), missing=(404, NO_SCHEMA), **query)
    return None if entity is None else _held("", 0, {**entity, "id": number}, deleted=False)


def find_by_ids(client: RegistryClient, places: Sequence[tuple[str, int | None]]) -> list[HeldSchema | None]:
    """Return the schema of each id in its context, None if the id is free."""
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        return _map(pool, lambda place: None if place[1] is None else find_by_id(client, place[0], place[1]), places)


def _held(subject: str, version: int, entity: dict[str, Any], *, deleted: bool) -> HeldSchema:
    return HeldSchema(
        subject, version, str(entity.get("schemaType") or AVRO), str(entity["schema"]), int(entity["id"]),
        references=tuple(entity.get("references") or ()), metadata=entity.get("metadata"),
        rule_set=entity.get("ruleSet"), deleted=deleted,
    )  # fmt: skip


def _names(answer: Any, client: RegistryClient) -> list[str]:
    if not isinstance(answer, list) or not all(isinstance(one, str) for one in answer):
        raise UnavailableError("this is not a schema registry: its subjects are not a list", where=client.url)
    return answer


def _map(pool: ThreadPoolExecutor, function: Callable[[_One], _Other], over: Sequence[_One]) -> list[_Other]:
    return list(pool.map(function, over))
