"""`cdc-contracts registry serve`: the server."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from cdc_contracts.cli.options.shared_options import check_folders, spread
from cdc_contracts.cli.output import console
from cdc_contracts.registry.authoring.compat.levels import Level, Policy
from cdc_contracts.registry.core.common.errors import UsageError
from cdc_contracts.registry.core.common.extras import require_packages


class Log(StrEnum):
    """How requests are logged."""

    TEXT = "text"
    JSON = "json"
    NONE = "none"


class Conflict(StrEnum):
    """The answer to an incompatible schema."""

    OLD = "409"
    NEW = "40901"


@dataclass(frozen=True)
class Serving:
    """What is served: the store, and contracts."""

    store: Annotated[
        str,
        typer.Option("--store", metavar="URL", help="A file, sqlite:///FILE or postgresql://USER@HOST/NAME.",
                     envvar="CDC_CONTRACTS_STORE"),
    ] = "registry.sqlite"  # fmt: skip
    contracts: Annotated[
        list[Path] | None,
        typer.Option("--contracts", metavar="DIR", help="Your own contracts, with ids, read-only. Repeatable."),
    ] = None
    catalogue: Annotated[
        bool, typer.Option("--catalogue/--no-catalogue", help="Serve the contracts of the catalogue as subjects.")
    ] = True
    level: Annotated[Level, typer.Option("--level", help="The default level.", case_sensitive=False)] = Level.BACKWARD
    policy: Annotated[Policy, typer.Option("--policy", help="The default policy.")] = Policy.CONFLUENT_STRICT
    conflict_code: Annotated[
        Conflict, typer.Option("--conflict-code", help="Error code of an incompatible schema; newer ones return 40901.")
    ] = Conflict.OLD
    log: Annotated[Log, typer.Option("--log", help="How requests are logged, on stderr.")] = Log.TEXT


@dataclass(frozen=True)
class Listening:
    """Where the server listens, and who may connect."""

    host: Annotated[str, typer.Option("--host", help="The address to listen on; 0.0.0.0 for all.")] = "127.0.0.1"
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="The port; 0 takes a free one.")] = 8081
    users: Annotated[
        Path | None, typer.Option("--users", metavar="FILE", help="Users and rights; see `registry user`.")
    ] = None
    tls_cert: Annotated[Path | None, typer.Option("--tls-cert", metavar="FILE", help="PEM, with its chain.")] = None
    tls_key: Annotated[Path | None, typer.Option("--tls-key", metavar="FILE", help="PEM, without a password.")] = None
    tls_client_ca: Annotated[
        Path | None, typer.Option("--tls-client-ca", metavar="FILE", help="The CA of client certificates (PEM).")
    ] = None
    connections: Annotated[
        int, typer.Option("--connections", min=1, help="The maximum; beyond it, the one idle longest is closed.")
    ] = 1_000
    open_metrics: Annotated[bool, typer.Option("--open-metrics", help="Allow /metrics without authentication.")] = False
    insecure: Annotated[bool, typer.Option("--insecure", help="Allow access from other machines without --users.")] = (
        False
    )


@spread
def serve(serving: Serving, listening: Listening) -> None:
    """Serve schemas and contracts to schema registry clients, until Ctrl-C or SIGTERM.

    /ui shows them in a browser, /openapi.json describes the API, /metrics and /healthz monitor it.
    """
    require_packages("fastapi", "sqlalchemy", "uvicorn")
    from cdc_contracts.registry.server.running.connection_limits import Limits
    from cdc_contracts.registry.server.running.listening import listen, open_socket, url_of
    from cdc_contracts.registry.server.running.request_log import open_log

    site, tls = _open(serving, listening)
    to = "to its users" if listening.users else "to anyone who can reach it"
    with closing(open_socket(listening.host, listening.port)) as bound:
        app, store = site.open()
        url = url_of(bound, tls=tls is not None)
        with closing(store), open_log(serving.log):
            result = f"serving {url} from {store.name} {to}; Ctrl-C stops"
            listen(app, bound, tls, lambda: console.say(result), Limits(listening.connections))


def _open(serving: Serving, listening: Listening) -> tuple[Any, Any]:
    """Return the served registry and the TLS settings. Raises UsageError if they would be unsafe."""
    from cdc_contracts.registry.server.access.users import Users
    from cdc_contracts.registry.server.running.listening import Tls, is_loopback
    from cdc_contracts.registry.server.running.serving import Site
    from cdc_contracts.registry.server.service.builtin_subjects import catalogue_of, fill_builtin_subjects
    from cdc_contracts.registry.server.service.request_service import Options
    from cdc_contracts.registry.server.store.policies import Defaults

    local_only = is_loopback(listening.host)
    if not local_only and listening.users is None and not listening.insecure:
        hint = "Give --users FILE, or --insecure to let everyone who reaches the port change everything."
        raise UsageError(f"refused to listen on {listening.host} without users", hint=hint)
    if listening.tls_cert is None and (listening.tls_key or listening.tls_client_ca):
        raise UsageError("--tls-key and --tls-client-ca need --tls-cert")
    tls = None
    if listening.tls_cert is not None:
        tls = Tls(listening.tls_cert, listening.tls_key, listening.tls_client_ca).context()
    if tls is None and listening.users is not None and not local_only:
        hint = "Give --tls-cert, or put a TLS proxy in front of the server."
        console.say(f"warning: passwords and tokens are sent in the clear\n  {hint}")
    folders = check_folders(serving.contracts)
    options = Options(Defaults(serving.level, serving.policy), int(serving.conflict_code))
    builtin = fill_builtin_subjects(folders, catalogue=serving.catalogue)
    site = Site(
        serving.store, catalogue_of(folders), builtin, Users(listening.users), options,
        open_metrics=listening.open_metrics,
        local_only=local_only and listening.users is None and not listening.insecure,
    )  # fmt: skip
    return site, tls
