"""Permissions that an endpoint requires of its caller before it does anything.

Reading is not checked here: what a caller may not read is hidden from them (`served_store.ReadableRecords`).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated
from urllib.parse import unquote

from fastapi import Depends

from cdc_contracts.registry.server.access.rights import CALLER, Right
from cdc_contracts.registry.server.service.request_service import Scope, SubjectName
from cdc_contracts.registry.server.store.error_codes import ProtocolError
from cdc_contracts.registry.server.store.subjects import WHOLE_REGISTRY, Subject, parse_context

_Check = Callable[[Subject], Awaitable[Subject]]


def require(right: Right, scope: Subject) -> Subject:
    """Return the subject, context or whole registry. Raises Refusal if the caller lacks the right over it."""
    caller = CALLER.get()
    if not caller.may(right, scope):
        who = "An anonymous user" if caller.name is None else f"User '{caller.name}'"
        raise ProtocolError(403, f"{who} may not {right} {_describe(scope)}")
    return scope


def _requires(right: Right) -> _Check:
    async def check(subject: SubjectName) -> Subject:
        return require(right, subject)

    return check


async def _administer_scope(scope: Scope) -> Subject:
    return require(Right.ADMIN, scope)


async def _administer_all() -> Subject:
    return require(Right.ADMIN, WHOLE_REGISTRY)


async def _administer_context(context: str) -> str:
    try:
        name = parse_context(unquote(context))
    except ValueError as error:
        raise ProtocolError(400, f"HTTP 400 Bad Request: {error}") from error
    require(Right.ADMIN, Subject(name, ""))
    return name


def _describe(scope: Subject) -> str:
    if scope == WHOLE_REGISTRY:
        return "the whole registry"
    return f"subject '{scope}'" if scope.name else f"context '{scope.context}'"


WrittenSubject = Annotated[Subject, Depends(_requires(Right.WRITE))]
DeletedSubject = Annotated[Subject, Depends(_requires(Right.DELETE))]
AdministeredScope = Annotated[Subject, Depends(_administer_scope)]
AdministeredContext = Annotated[str, Depends(_administer_context)]
WholeRegistry = Annotated[Subject, Depends(_administer_all)]
