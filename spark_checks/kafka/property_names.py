"""Property names: Kafka client properties translated from their Java names to those of the client without a JVM."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from cdc_contracts.registry.common.errors import UsageError

_SAME_MEANING: Final = {
    "fetch.max.wait.ms": "fetch.wait.max.ms",
    "receive.buffer.bytes": "socket.receive.buffer.bytes",
    "send.buffer.bytes": "socket.send.buffer.bytes",
    "ssl.keystore.certificate.chain": "ssl.certificate.pem",
    "ssl.keystore.key": "ssl.key.pem",
    "ssl.truststore.certificates": "ssl.ca.pem",
}
_MEANINGLESS: Final = re.compile(
    # The reader sets these itself.
    r"auto\.offset\.reset|bootstrap\.servers|enable\.auto\.commit|isolation\.level|enable\.partition\.eof"
    # Only Java clients have these.
    r"|(key|value)\.(de)?serializer|interceptor\.classes|metric.*|security\.providers|auto\.include\.jmx\.reporter"
    r"|max\.poll\.records|(default\.api|request)\.timeout\.ms|exclude\.internal\.topics|partition\.assignment\.strategy"
    r"|socket\.connection\.setup\.timeout\.max\.ms|ssl\.(protocol|provider|enabled\.protocols)"
    r"|ssl\.(trust|key)manager\.algorithm|ssl\.secure\.random\.implementation|ssl\.(trust|key)store\.type"
    r"|sasl\.kerberos\.ticket\..*|sasl\.login\.(refresh|retry)\..*"
)
_LOGIN: Final = re.compile(r"(?:Plain|Scram)LoginModule\s")
_MEMBER: Final = re.compile(r"""(\w+)\s*=\s*(?:"((?:\\.|[^"\\])*)"|'((?:\\.|[^'\\])*)'|([^\s;"']+))""")


def translate(properties: Mapping[str, str]) -> dict[str, str]:
    """Return the properties for the client without a JVM; those that only Java clients know are left out.

    Raises UsageError if a property has to be given in another way. No value is shown.
    """
    translated: dict[str, str] = {}
    for name, value in properties.items():
        if name == "sasl.jaas.config":
            translated |= _login(value)
        elif name in ("ssl.truststore.location", "ssl.keystore.location"):
            translated |= _store(name, value, properties.get(name.replace("location", "type"), "JKS").upper())
        elif name == "ssl.truststore.password":
            continue  # a file of PEM certificates has none
        elif name in ("sasl.login.callback.handler.class", "sasl.client.callback.handler.class", "sasl.login.class"):
            raise UsageError("Java login classes are not supported here", where=name, hint="use --engine spark")
        elif name == "ssl.endpoint.identification.algorithm":
            translated[name] = value or "none"
        elif not _MEANINGLESS.fullmatch(name):
            translated[_SAME_MEANING.get(name, name)] = value
    return translated


def _login(jaas: str) -> dict[str, str]:
    """Return user and password of a JAAS login line."""
    members = {name: re.sub(r"\\(.)", r"\1", first or second or bare) for name, first, second, bare in _members(jaas)}
    if not _LOGIN.search(jaas) or not {"username", "password"} <= members.keys():
        raise UsageError(
            "this login mechanism needs a Java client",
            where="sasl.jaas.config",
            hint="Without a JVM give sasl.username and sasl.password, sasl.kerberos.principal and "
            "sasl.kerberos.keytab, or sasl.oauthbearer.method=oidc with its properties; or use --engine spark.",
        )
    return {"sasl.username": members["username"], "sasl.password": members["password"]}


def _members(jaas: str) -> list[tuple[str, str, str, str]]:
    return _MEMBER.findall(jaas)


def _store(name: str, path: str, kind: str) -> dict[str, str]:
    trust = "trust" in name
    if kind == "PEM":
        return {"ssl.ca.location": path} if trust else {"ssl.certificate.location": path, "ssl.key.location": path}
    if kind == "PKCS12" and not trust:
        return {name: path}
    wanted = "ssl.ca.location" if trust else "ssl.certificate.location and ssl.key.location"
    raise UsageError(
        f"a {kind} store can only be read by Java clients",
        where=name,
        hint=f"Write its certificates to a PEM file and give {wanted}, or use --engine spark.",
    )
