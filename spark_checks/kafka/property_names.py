"""Property names: Kafka client properties translated between the Java client and librdkafka, the one without a JVM.

A file may be written for either client, or for both: a property that a client knows by its own name wins over one that
is translated.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from cdc_contracts.registry.core.common.errors import UsageError
from cdc_contracts.registry.core.common.yaml_documents import describe_unread
from cdc_contracts.spark_checks.kafka.jaas import MECHANISMS, Login, parse_login, write_login
from cdc_contracts.spark_checks.kafka.key_stores import PEM, PKCS12, read_store, store_kind

_SAME_MEANING: Final = {
    "fetch.max.wait.ms": "fetch.wait.max.ms",
    "receive.buffer.bytes": "socket.receive.buffer.bytes",
    "sasl.mechanism": "sasl.mechanisms",
    "send.buffer.bytes": "socket.send.buffer.bytes",
    "ssl.keystore.certificate.chain": "ssl.certificate.pem",
    "ssl.keystore.key": "ssl.key.pem",
    "ssl.truststore.certificates": "ssl.ca.pem",
}
_JAVA_NAMES: Final = {other: java for java, other in _SAME_MEANING.items()}
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
_NOT_FOR_JAVA: Final = (
    (
        re.compile(r"sasl\.kerberos\.(principal|keytab|kinit\.cmd|min\.time\.before\.relogin)"),
        "sasl.jaas.config with com.sun.security.auth.module.Krb5LoginModule and its keyTab and principal",
    ),
    (
        re.compile(r"sasl\.oauthbearer\.(method|config|client\.(id|secret)|scope|extensions)"),
        "sasl.jaas.config with OAuthBearerLoginModule, and sasl.login.callback.handler.class",
    ),
    (
        re.compile(r"ssl\.ca\.certificate\.stores|ssl\.crl\.location|ssl\.engine\..*|ssl\.providers"),
        "the authorities as ssl.truststore.location",
    ),
)
LIBRDKAFKA_NAMES: Final = frozenset(
    {"sasl.username", "sasl.password", "ssl.ca.location", "ssl.certificate.location", "ssl.key.location"}
)
"""Properties of logins and files that have another form for Java clients."""
_PKCS8: Final = re.compile("-----BEGIN (ENCRYPTED )?PRIVATE KEY-----")
"""The only form of keys that Java reads from PEM."""


def translate_to_librdkafka(properties: Mapping[str, str]) -> dict[str, str]:
    """Return the properties for the client without a JVM; those that only Java clients know are left out.

    Raises UsageError if a property has to be given in another way, or a store cannot be read. No value is shown.
    """
    own: dict[str, str] = {}
    translated: dict[str, str] = {}
    for name, value in properties.items():
        if name == "sasl.jaas.config":
            if "sasl.username" not in properties:
                translated |= _login(value)
        elif name in ("ssl.truststore.location", "ssl.keystore.location"):
            translated |= _store(name, value, properties)
        elif name in ("sasl.login.callback.handler.class", "sasl.client.callback.handler.class", "sasl.login.class"):
            raise UsageError("Java login classes are not supported here", where=name, hint="Use --engine spark.")
        elif name == "ssl.endpoint.identification.algorithm":
            own[name] = value or "none"
        elif name in _SAME_MEANING:
            translated[_SAME_MEANING[name]] = value
        elif name not in ("ssl.truststore.password", "ssl.keystore.password") and not _MEANINGLESS.fullmatch(name):
            own[name] = value
    result = translated | own
    if "sasl.username" in result:
        _mechanism(result.get("sasl.mechanisms"))
    return result


def translate_to_java(properties: Mapping[str, str]) -> dict[str, str]:
    """Return the properties for Java clients; what they do not know and do not need stays, and they ignore it.

    The content of PEM files takes the place of their names, so that machines of a cluster need no copies.
    Raises UsageError if a property has to be given in another way, or a file cannot be read. No value is shown.
    """
    translated: dict[str, str] = {}
    for name, value in properties.items():
        for pattern, instead in _NOT_FOR_JAVA:
            if pattern.fullmatch(name) and "sasl.jaas.config" not in properties:
                raise UsageError(
                    "Spark's Kafka client has no such property",
                    where=name,
                    hint=f"Give {instead}, or use --engine local.",
                )
        if name not in LIBRDKAFKA_NAMES:
            java = _JAVA_NAMES.get(name, name)
            if java == name or java not in properties:
                translated[java] = value
    if properties.get("enable.ssl.certificate.verification", "").lower() == "false":
        raise UsageError(
            "Spark's Kafka client always verifies the certificate of the broker",
            where="enable.ssl.certificate.verification",
            hint="Give its authority as ssl.ca.location or ssl.truststore.location, or use --engine local.",
        )
    if "security.protocol" in translated:
        translated["security.protocol"] = translated["security.protocol"].upper()
    if translated.get("ssl.endpoint.identification.algorithm") == "none":
        translated["ssl.endpoint.identification.algorithm"] = ""
    if "sasl.username" in properties and "sasl.jaas.config" not in properties:
        mechanism = _mechanism(translated.get("sasl.mechanism"))
        login = Login(properties["sasl.username"], properties.get("sasl.password", ""))
        translated["sasl.jaas.config"] = write_login(mechanism, login)
    return translated | _java_authority(properties, translated) | _java_certificate(properties, translated)


def _java_authority(given: Mapping[str, str], translated: Mapping[str, str]) -> dict[str, str]:
    if "ssl.truststore.location" in given:
        return _java_kind("ssl.truststore.location", given)
    certificates = translated.get("ssl.truststore.certificates")
    if certificates is None and (path := given.get("ssl.ca.location")) is not None:
        certificates = _read_pem("ssl.ca.location", path)
    return {} if certificates is None else {"ssl.truststore.type": PEM, "ssl.truststore.certificates": certificates}


def _java_kind(name: str, given: Mapping[str, str]) -> dict[str, str]:
    """Return the type of a PEM store, if none is given: Java recognises only the others by their content."""
    kind, found = name.replace("location", "type"), store_kind(name, given[name])
    return {kind: PEM} if kind not in given and found == PEM else {}


def _java_certificate(given: Mapping[str, str], translated: Mapping[str, str]) -> dict[str, str]:
    if "ssl.keystore.location" in given:
        return _java_kind("ssl.keystore.location", given)
    chain, key = translated.get("ssl.keystore.certificate.chain"), translated.get("ssl.keystore.key")
    if chain is None and (path := given.get("ssl.certificate.location")) is not None:
        chain = _read_pem("ssl.certificate.location", path)
    if key is None and (path := given.get("ssl.key.location")) is not None:
        key = _read_pem("ssl.key.location", path)
        if not _PKCS8.search(key):
            hint = f"Convert it: openssl pkcs8 -topk8 -in {path} -out NEW.pem; or use --engine local."
            raise UsageError("Spark's Kafka client reads private keys in PKCS #8 only", where=path, hint=hint)
    if chain is None and key is None:
        return {}
    if chain is None or key is None:
        missing = "ssl.certificate.location" if chain is None else "ssl.key.location"
        raise UsageError("a certificate needs its key, and a key its certificate", hint=f"Give {missing} as well.")
    return {"ssl.keystore.type": PEM, "ssl.keystore.certificate.chain": chain, "ssl.keystore.key": key}


def _mechanism(given: str | None) -> str:
    """Return the mechanism of a user and a password. Raises UsageError if none is given, or it is another one."""
    if given in MECHANISMS:
        return given
    what = "a user and a password need a mechanism" if given is None else f"{given} takes no user and password"
    raise UsageError(what, where="sasl.mechanism", hint=f"Give one of {', '.join(MECHANISMS)}, as the broker offers.")


def _login(jaas: str) -> dict[str, str]:
    """Return user and password of a JAAS login line."""
    login = parse_login(jaas)
    if login is None:
        raise UsageError(
            "this login mechanism needs a Java client",
            where="sasl.jaas.config",
            hint="Without a JVM give sasl.username and sasl.password, sasl.kerberos.principal and "
            "sasl.kerberos.keytab, or sasl.oauthbearer.method=oidc with its properties; or use --engine spark.",
        )
    return {"sasl.username": login.user, "sasl.password": login.password}


def _store(name: str, path: str, properties: Mapping[str, str]) -> dict[str, str]:
    """Return what a store holds as properties; the type that is given matters as little as it does to Java."""
    trust = "trust" in name
    password = properties.get(name.replace("location", "password"))
    kind = store_kind(name, path)
    if kind == PEM:
        return {"ssl.ca.location": path} if trust else {"ssl.certificate.location": path, "ssl.key.location": path}
    if kind == PKCS12 and not trust:
        return {name: path} | ({} if password is None else {"ssl.keystore.password": password})
    store = read_store(name, path, password, properties.get("ssl.key.password"))
    if trust:
        return {"ssl.ca.pem": store.trusted}
    if not store.key:
        raise UsageError("the store holds no private key", where=path, hint=f"It is named by {name}.")
    return {"ssl.certificate.pem": store.chain, "ssl.key.pem": store.key}


def _read_pem(name: str, path: str) -> str:
    try:
        return Path(path).read_text(encoding="ascii")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(describe_unread(error), where=path, hint=f"It is named by {name}.") from None
