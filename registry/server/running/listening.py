"""Listening: the address of the server, TLS, and shutdown."""

from __future__ import annotations

import asyncio
import errno
import ipaddress
import math
import os
import socket
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, cast

import uvicorn
from starlette.types import ASGIApp

from cdc_contracts.registry.core.common.errors import UnavailableError, UsageError
from cdc_contracts.registry.server.running.connection_limits import BACKLOG, USUAL, Connections, Limits

GRACE_SECONDS: Final = 20
"""How long running requests may take when the server is asked to stop."""
ENDING_SECONDS: Final = 2
"""The last part of that time, in which slow clients are no longer waited for."""


@dataclass(frozen=True)
class Tls:
    """Certificate and key of the server, and the CA of client certificates, if clients need one."""

    certificate: Path
    key: Path | None = None
    client_ca: Path | None = None

    def context(self) -> ssl.SSLContext:
        """Return the TLS context. Raises UsageError if a file cannot be used."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        for path in (self.certificate, self.key, self.client_ca):
            if path is not None and not os.access(path, os.R_OK):
                raise UsageError(
                    "cannot be read", where=str(path), hint="Give PEM files that are readable by this user."
                )
        try:
            # Without a terminal nobody could type the password of the key, and the server would wait forever.
            context.load_cert_chain(self.certificate, self.key, password=_refuse_encrypted_key)
        except (ssl.SSLError, ValueError) as error:
            files = " and ".join(str(path) for path in (self.certificate, self.key) if path)
            hint = "Give a PEM certificate (with its chain) and its key, the key without a password."
            raise UsageError(f"not a certificate with its key: {_reason(error)}", where=files, hint=hint) from error
        if self.client_ca is not None:
            try:
                context.load_verify_locations(self.client_ca)
            except ssl.SSLError as error:
                raise UsageError(f"not a certificate: {_reason(error)}", where=str(self.client_ca)) from error
            context.verify_mode = ssl.CERT_REQUIRED
        return context


def is_loopback(host: str) -> bool:
    """Return whether an address is reachable from this machine only."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def open_socket(host: str, port: int) -> socket.socket:
    """Return a socket bound to an address; port 0 picks a free one.

    Raises UnavailableError if the port cannot be bound, UsageError if there is no such address.
    """
    try:
        found = socket.getaddrinfo(host.strip("[]"), port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (socket.gaierror, UnicodeError) as error:
        raise UsageError(f"there is no address {host}", hint="Give --host an address of this machine.") from error
    family, kind, protocol, _, address = found[0]
    bound = socket.socket(family, kind, protocol)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(address)
        bound.listen(1)
    except OSError as error:
        bound.close()
        hint = {
            errno.EADDRINUSE: "Another process is listening there; stop it or give --port.",
            errno.EACCES: "Ports below 1024 need privileges; give --port.",
            errno.EADDRNOTAVAIL: "Give --host an address of this machine.",
        }.get(error.errno or 0, "")
        raise UnavailableError(
            f"cannot listen: {os.strerror(error.errno or 0)}", where=f"{host}:{port}", hint=hint
        ) from error
    return bound


def url_of(bound: socket.socket, *, tls: bool) -> str:
    """Return the URL of the server for clients on this machine."""
    host, port = bound.getsockname()[:2]
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104  not listened on, only told
    return f"{'https' if tls else 'http'}://{f'[{host}]' if ':' in host else host}:{port}"


def listen(
    app: ASGIApp, bound: socket.socket, tls: ssl.SSLContext | None, started: Callable[[], None], limits: Limits = USUAL
) -> None:
    """Serve until a signal comes; then finish running requests, and let the signal take its default effect."""
    Listener(app, tls, limits.within_descriptors(), started).run(sockets=[bound])


class Listener(uvicorn.Server):
    """Serves requests on sockets until it is asked to stop."""

    def __init__(
        self,
        app: ASGIApp,
        tls: ssl.SSLContext | None = None,
        limits: Limits = USUAL,
        started: Callable[[], None] = lambda: None,
    ) -> None:
        self._connections = Connections(limits, tls)
        self._announce_start = started
        config = uvicorn.Config(
            app,
            http=cast(
                "type[asyncio.Protocol]", self._connections
            ),  # a callable that creates protocols, like a protocol class
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            backlog=BACKLOG,
            timeout_keep_alive=math.ceil(limits.idle_seconds),
            timeout_graceful_shutdown=GRACE_SECONDS,
            ws="none",
        )
        super().__init__(config)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._announce_start()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._connections.end_handshakes()
        end = asyncio.get_running_loop().call_later(GRACE_SECONDS - ENDING_SECONDS, self._connections.end_waiting)
        await super().shutdown(sockets)
        end.cancel()


def _refuse_encrypted_key() -> str:
    raise ValueError("the key has a password")


def _reason(error: Exception) -> str:
    return str(getattr(error, "reason", None) or error).lower().replace("_", " ")
