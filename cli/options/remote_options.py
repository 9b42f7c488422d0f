"""Remote options: options of every command that connects to a registry, and the client and bindings they describe."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cdc_contracts.cli.options.shared_options import open_catalogue
from cdc_contracts.cli.output import console
from cdc_contracts.registry.core.common.errors import UsageError

if TYPE_CHECKING:
    from cdc_contracts.registry.authoring.sync.registry_client import RegistryClient
    from cdc_contracts.registry.core.contract.catalogue import Version

URL = "CDC_CONTRACTS_REGISTRY_URL"
USER = "CDC_CONTRACTS_REGISTRY_USER"
PASSWORD = "CDC_CONTRACTS_REGISTRY_PASSWORD"  # noqa: S105  the name of a variable
TOKEN = "CDC_CONTRACTS_REGISTRY_TOKEN"  # noqa: S105  the name of a variable


@dataclass(frozen=True)
class Remote:
    """The registry and its user. Password and token come from the environment, never from the command line."""

    url: Annotated[
        str | None, typer.Option("--url", metavar="URL", help=f"The registry; default: ${URL}.", show_default=False)
    ] = None
    user: Annotated[
        str | None, typer.Option("--user", metavar="NAME", help=f"The user; the password is ${PASSWORD} or prompted.")
    ] = None
    ca: Annotated[
        Path | None, typer.Option("--ca", metavar="FILE", help="Certificates (PEM) to trust instead of the system's.")
    ] = None


def open_remote(remote: Remote) -> RegistryClient:
    """Return a client of the registry that the options name.

    Raises UsageError if none is named, or a password is given where the shell history would store it.
    """
    from cdc_contracts.registry.authoring.sync.registry_client import Access, RegistryClient

    url = remote.url or os.environ.get(URL)
    if not url:
        raise UsageError("no registry is named", hint=f"Give --url http://HOST:PORT, or set {URL}.")
    user, token = remote.user or os.environ.get(USER), os.environ.get(TOKEN)
    if user and ":" in user:
        raise UsageError(
            "--user takes a name only: the shell would keep a password in its history", hint=f"Set {PASSWORD}."
        )
    if remote.user or not token:
        token = None
    password = _password(user) if user and token is None else None
    return RegistryClient(Access(url, user if token is None else None, password, token, str(remote.ca or "") or None))


def bindings(folder: Path, *, wanted: bool) -> dict[str, Version]:
    """Return the contract version that each topic of `cdc-contracts.yaml` is bound to; other topics are only reported.

    Raises UsageError if a contract is not known.
    """
    from cdc_contracts.registry.core.contract.settings import read_settings

    settings = read_settings(Path.cwd()) if wanted else None
    found: dict[str, Version] = {}
    if settings is None or not settings.topics:
        return found
    own = [folder] if any(folder.glob("*/*/v*/contract.yaml")) else []
    catalogue = open_catalogue(own)
    for topic, reference in settings.topics.items():
        versions = [] if reference == "auto" else catalogue.resolve(reference)
        if len(versions) == 1:
            found[topic] = versions[0]
        else:
            console.say(
                f"{topic} is bound to {reference}, which is not a single version: no schema is registered for it"
            )
    return found


def _password(user: str) -> str:
    """Return the password of a user: from the environment, otherwise by a prompt on a terminal."""
    given = os.environ.get(PASSWORD)
    if given is not None:
        return given
    if not sys.stdin.isatty():
        raise UsageError(f"no password for {user}", hint=f"Set {PASSWORD}.")
    return str(typer.prompt(f"Password of {user}", hide_input=True, err=True))
