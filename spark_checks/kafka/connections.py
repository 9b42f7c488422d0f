"""Connections that fail: probing the address shows the cause that Kafka clients do not report."""

from __future__ import annotations

import re
import socket
import ssl
from collections.abc import Mapping
from typing import Final

from cdc_contracts.registry.common.errors import UnavailableError

_SECONDS: Final = 2.0
_ADDRESS: Final = re.compile(r"(?:.*://)?\[?([^\s/\[\]]+)\]?:(\d+)")
_FAULTS: Final = (
    (
        re.compile("CertificateExpired|has expired"),
        "the certificate of the broker has expired",
        "The broker needs a new one; or the clock of this machine is wrong.",
    ),
    (
        re.compile("CertificateNotYetValid|not yet valid"),
        "the certificate of the broker is not valid yet",
        "The clock of the broker or of this machine is wrong.",
    ),
    (
        re.compile("No subject alternative|No name matching|mismatch|not valid for"),
        "the certificate of the broker is for another name",
        "Give the broker by a name that its certificate has.",
    ),
    (
        re.compile("CertPathBuilder|issuer|self.signed|could not be verified|verify failed"),
        "the certificate of the broker is signed by an authority that is not trusted",
        "Give the certificate of that authority as ssl.truststore.location or ssl.ca.location in the Kafka properties.",
    ),
    (
        re.compile("alert"),
        "the broker refuses the certificate of this client, or that there is none",
        "Give one that it trusts as ssl.keystore.location, with its password, in the Kafka properties.",
    ),
)


def check_listening(bootstrap: str) -> None:
    """Raise UnavailableError if every broker's machine is reachable but nothing listens on the port.

    Kafka clients retry such an address until their timeout.
    """
    addresses = [_ADDRESS.fullmatch(one.strip()) for one in bootstrap.split(",")]
    if all(found is not None and _refuses(found[1], int(found[2])) for found in addresses):
        hint = "Check host and port, and that the broker runs."
        raise UnavailableError("no broker is listening at this address", where=bootstrap, hint=hint)


def find_certificate_fault(message: str) -> tuple[str, str]:
    """Return the problem with the certificates of broker and client in a client's message, and its solution."""
    for pattern, what, hint in _FAULTS:
        if pattern.search(message):
            return what, hint
    return "no TLS connection comes about", "Check security.protocol and what begins with ssl. in the Kafka properties."


def verify_broker(message: str, client: Mapping[str, str]) -> str:
    """Return why the certificate of the broker named in a message is rejected; empty if that is unknown.

    The client without a JVM says only that it is rejected. `client` are its properties.
    """
    address = _ADDRESS.match(message)
    if address is None:
        return ""
    try:
        context = ssl.create_default_context(cafile=client.get("ssl.ca.location"), cadata=client.get("ssl.ca.pem"))
        context.check_hostname = client.get("ssl.endpoint.identification.algorithm") != "none"
        with (
            socket.create_connection((address[1], int(address[2])), _SECONDS) as plain,
            context.wrap_socket(plain, server_hostname=address[1]),
        ):
            return ""
    except ssl.SSLCertVerificationError as error:
        return error.verify_message
    except (OSError, ValueError):
        return ""


def _refuses(host: str, port: int) -> bool:
    try:
        socket.create_connection((host, port), _SECONDS, all_errors=True).close()
    except ExceptionGroup as group:
        return all(isinstance(one, ConnectionRefusedError) for one in group.exceptions)
    except (OSError, ValueError, OverflowError):
        return False
    return False
