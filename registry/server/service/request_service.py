"""Request service: what an endpoint needs: the store, the server's options, and parameters of the request."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Final, TypeVar
from urllib.parse import unquote

from fastapi import Depends, Header, Path, Query, Request

from cdc_contracts.registry.server.store.error_codes import invalid_version
from cdc_contracts.registry.server.store.policies import Defaults
from cdc_contracts.registry.server.store.registry_store import Store
from cdc_contracts.registry.server.store.subjects import Subject, parse_scope, parse_subject

Item = TypeVar("Item")
LARGEST: Final = 2**31 - 1


@dataclass(frozen=True)
class Options:
    """Options of a server. `conflict_code` is the error code for incompatible schemas; newer clients know 40901 too."""

    defaults: Defaults = field(default_factory=Defaults)
    conflict_code: int = 409
    max_body_bytes: int = 4 * 1024 * 1024
    cluster: str = "cdc-contracts"


@dataclass(frozen=True)
class Registry:
    """The registry that a server serves."""

    store: Store
    options: Options


def _registry_of(request: Request) -> Registry:
    registry: Registry = request.app.state.registry
    return registry


def _is_extended(accept_unknown: Annotated[str, Header(alias="Confluent-Accept-Unknown-Properties")] = "false") -> bool:
    return accept_unknown.strip().lower() == "true"


def _read_subject(
    request: Request, subject: Annotated[str, Path(description="The name of a subject, or its alias")]
) -> Subject:  # fmt: skip
    return _registry_of(request).store.resolve_alias(parse_subject(unquote(subject)))


def _read_scope(subject: Annotated[str, Path(description="A subject, or `:.context:`")]) -> Subject:
    found = parse_subject(unquote(subject))
    return parse_scope(str(found)) if found.name == "" else found


def _read_version(version: Annotated[str, Path(description="A number, `latest` or -1")]) -> int | None:
    text = unquote(version)
    if text.lower() == "latest" or text == "-1":
        return None
    if not (text.isascii() and text.isdigit() and 1 <= int(text[:11]) <= LARGEST):
        raise invalid_version(text)
    return int(text)


@dataclass(frozen=True)
class Page:
    """The requested page of a list."""

    offset: Annotated[int, Query(description="How many to skip")] = 0
    limit: Annotated[int, Query(description="How many to return; all if 0 or negative")] = -1

    def of(self, items: Sequence[Item]) -> Sequence[Item]:
        """Return the page of a list."""
        start = max(self.offset, 0)
        return items[start : start + self.limit] if self.limit > 0 else items[start:]


@dataclass(frozen=True)
class Deleted:
    """Whether to include deleted versions, or to return only those."""

    deleted: Annotated[bool, Query(description="Include deleted versions")] = False
    deleted_only: Annotated[bool, Query(alias="deletedOnly", description="Return deleted versions only")] = False
    python_deleted_only: Annotated[bool, Query(alias="deleted_only", include_in_schema=False)] = False

    @property
    def only_deleted(self) -> bool:
        return self.deleted_only or self.python_deleted_only

    def wants(self, deleted: bool) -> bool:  # noqa: FBT001  a fact, no switch
        """Return whether a request includes a version, given whether the version is deleted."""
        if self.only_deleted:
            return deleted
        return self.deleted or not deleted


Served = Annotated[Registry, Depends(_registry_of)]
Extended = Annotated[bool, Depends(_is_extended)]
SubjectName = Annotated[Subject, Depends(_read_subject)]
Scope = Annotated[Subject, Depends(_read_scope)]
VersionNumber = Annotated[int | None, Depends(_read_version)]
Paged = Annotated[Page, Depends()]
Filtered = Annotated[Deleted, Depends()]
