"""Connections that fail: probing the address shows the cause that Kafka clients do not report."""

from __future__ import annotations

import re
import socket
import ssl
from collections.abc import Mapping
from typing import Final

from cdc_contracts.registry.core.common.errors import UnavailableError

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
        "Give one that it trusts and that has not expired: ssl.keystore.location, or ssl.certificate.location.",
    ),
)
_TLS_PROTOCOLS: Final = ("SSL", "SASL_SSL")


def check_listening(bootstrap: str) -> None:
    """Raise UnavailableError if every broker's machine is reachable but nothing listens on the port.

    Kafka clients retry such an address until their timeout.
    """
    addresses = [_ADDRESS.fullmatch(one.strip()) for one in bootstrap.split(",")]
    if all(found is not None and _refuses(found[1], int(found[2])) for found in addresses):
        hint = "Check host and port, and that the broker runs."
        raise UnavailableError("no broker is listening at this address", where=bootstrap, hint=hint)


def find_certificate_fault(message: str) -> tuple[str, str] | None:
    """Return the problem with the certificates of broker and client in a client's message, and its solution, if any."""
    for pattern, what, hint in _FAULTS:
        if pattern.search(message):
            return what, hint
    return None


def find_protocol_fault(bootstrap: str, protocol: str) -> tuple[str, str] | None:
    """Return the problem if only one of broker and client uses TLS, and its solution; None if that is not known.

    `protocol` is the client's `security.protocol`. The broker may log the handshake that this attempts as a failure.
    """
    wanted = protocol in _TLS_PROTOCOLS
    for one in bootstrap.split(","):
        found = _ADDRESS.fullmatch(one.strip())
        spoken = _speaks_tls(found[1], int(found[2])) if found is not None else None
        if spoken is None:
            continue
        if spoken and not wanted:
            fitting = "SASL_SSL" if protocol.startswith("SASL") else "SSL, or to SASL_SSL if it requires a login"
            return "the broker speaks TLS at this address", f"Set security.protocol to {fitting}; it is {protocol}."
        if wanted and not spoken:
            fitting = "SASL_PLAINTEXT" if protocol.startswith("SASL") else "PLAINTEXT"
            hint = f"Give its port for TLS, or set security.protocol to {fitting}; it is {protocol}."
            return "the broker does not speak TLS at this address", hint
        return None
    return None


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


def _speaks_tls(host: str, port: int) -> bool | None:
    """Return whether a TLS handshake gets an answer in TLS; None if there is no answer."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    try:
        with socket.create_connection((host, port), _SECONDS) as plain:
            try:
                context.wrap_socket(plain, server_hostname=host).close()
            except ssl.SSLError as error:
                return "ALERT" in (error.reason or "")
            except ConnectionError:
                return False
            return True
    except (OSError, ValueError):
        return None


def _refuses(host: str, port: int) -> bool:
    try:
        socket.create_connection((host, port), _SECONDS, all_errors=True).close()
    except ExceptionGroup as group:
        return all(isinstance(one, ConnectionRefusedError) for one in group.exceptions)
    except (OSError, ValueError, OverflowError):
        return False
    return False
