"""A broker as companies run theirs: listeners for passwords and certificates, rights by ACL, and files of clients."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from certificates import Authority

from cdc_contracts.spark_checks.kafka.broker import Listener

if TYPE_CHECKING:
    from cdc_contracts.spark_checks.kafka.broker import Broker

USER: Final = ("reader", "correcthorse")
"""Let in by the listener `login`."""
SCRAM_USER: Final = ("scribe", "Tr0ub4dor \"&3\"; a=b\\c, $d 'e'")
"""Let in by the listeners `scram` and `scramtls`, once they are created: the password has whatever has to be quoted."""
CLIENT: Final = "CN=courier"
"""Whom the listener `mutual` knows by the certificate of the client."""
STORE_PASSWORD: Final = "hunter2hunter2"
SETTINGS: Final = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "allow.everyone.if.no.acl.found": "true",
    "super.users": "User:ANONYMOUS",
}
_MODULE: Final = "org.apache.kafka.common.security"
_SCRAM: Final = {
    "sasl.enabled.mechanisms": "SCRAM-SHA-256,SCRAM-SHA-512",
    "scram-sha-256.sasl.jaas.config": f"{_MODULE}.scram.ScramLoginModule required;",
    "scram-sha-512.sasl.jaas.config": f"{_MODULE}.scram.ScramLoginModule required;",
}


def secured_listeners(authority: Authority) -> dict[str, Listener]:
    """The listeners of the broker of the tests, by name."""
    name, password = USER
    plain = f'{_MODULE}.plain.PlainLoginModule required user_{name}="{password}";'
    good = _shown(authority.certify("good", days=30))
    trusted = {"ssl.truststore.type": "PEM", "ssl.truststore.location": authority.file.as_posix()}
    return {
        "login": Listener("SASL_PLAINTEXT", {"sasl.enabled.mechanisms": "PLAIN", "plain.sasl.jaas.config": plain}),
        "scram": Listener("SASL_PLAINTEXT", _SCRAM),
        "scramtls": Listener("SASL_SSL", _SCRAM | good),
        "tls": Listener("SSL", good),
        "mutual": Listener("SSL", good | trusted | {"ssl.client.auth": "required"}),
        "expired": Listener("SSL", _shown(authority.certify("expired", days=-30))),
        "elsewhere": Listener("SSL", _shown(authority.certify("elsewhere", days=30, host="kafka.example"))),
    }


def _shown(certificate: Path) -> dict[str, str]:
    return {"ssl.keystore.type": "PEM", "ssl.keystore.location": certificate.as_posix()}


def create_scram_user(broker: Broker) -> None:
    """SCRAM_USER is let in from now on."""
    from confluent_kafka import admin

    name, password = SCRAM_USER
    client = admin.AdminClient({"bootstrap.servers": broker.bootstrap})
    for mechanism in (admin.ScramMechanism.SCRAM_SHA_256, admin.ScramMechanism.SCRAM_SHA_512):
        info = admin.ScramCredentialInfo(mechanism, 4096)
        change = admin.UserScramCredentialUpsertion(name, info, password.encode())
        for future in client.alter_user_scram_credentials([change]).values():
            future.result(60)


def grant(broker: Broker, kind: str, name: str, principal: str, operations: Sequence[str]) -> None:
    """The principal has these rights on the resource, and nobody else has any who is not granted them too."""
    from confluent_kafka import admin

    client = admin.AdminClient({"bootstrap.servers": broker.bootstrap})
    lists = [
        admin.AclBinding(
            admin.ResourceType[kind], name, admin.ResourcePatternType.LITERAL, principal, "*",
            admin.AclOperation[operation], admin.AclPermissionType.ALLOW,
        )
        for operation in operations
    ]  # fmt: skip
    for future in client.create_acls(lists).values():
        future.result(60)


def write_client_files(folder: Path, authority: Authority) -> None:
    """The folder has what clients of the listener `mutual` have: certificates and keys, in all forms but JKS."""
    from cryptography import x509
    from cryptography.hazmat.primitives.serialization import (
        BestAvailableEncryption,
        Encoding,
        PrivateFormat,
        load_pem_private_key,
        pkcs12,
    )  # fmt: skip

    secret = STORE_PASSWORD.encode()
    stranger = Authority(folder, "stranger")
    (folder / "authority.pem").write_bytes(authority.file.read_bytes())
    (folder / "foreign.pem").write_bytes(stranger.certify("foreign", days=30).read_bytes())
    (folder / "lapsed.pem").write_bytes(authority.certify("lapsed", days=-30).read_bytes())
    pem = authority.certify("courier", days=30).read_bytes()
    (folder / "courier.pem").write_bytes(pem)
    key, certificate = load_pem_private_key(pem, None), x509.load_pem_x509_certificate(pem)
    sealed = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(secret))
    shown = certificate.public_bytes(Encoding.PEM)
    (folder / "courier.crt").write_bytes(shown)
    (folder / "courier.key").write_bytes(pem.removesuffix(shown))
    (folder / "courier-encrypted.key").write_bytes(sealed)
    (folder / "courier-encrypted.pem").write_bytes(sealed + shown)
    root = x509.load_pem_x509_certificate(authority.file.read_bytes())
    other = x509.load_pem_x509_certificate(stranger.file.read_bytes())
    trusted = [pkcs12.PKCS12Certificate(other, b"stranger"), pkcs12.PKCS12Certificate(root, b"authority")]
    encryption = BestAvailableEncryption(secret)
    (folder / "truststore.p12").write_bytes(pkcs12.serialize_java_truststore(trusted, encryption))
    (folder / "keystore.p12").write_bytes(
        pkcs12.serialize_key_and_certificates(b"courier", key, certificate, [root], encryption)
    )


def write_jks_files(folder: Path) -> None:
    """The folder has the same stores in JKS, as keytool makes them."""
    for name, more in (("truststore", ()), ("keystore", ("-destkeypass", STORE_PASSWORD))):
        subprocess.run(
            [
                *("keytool", "-importkeystore", "-noprompt"),
                *("-srckeystore", str(folder / f"{name}.p12"), "-srcstoretype", "PKCS12"),
                *("-srcstorepass", STORE_PASSWORD, "-deststorepass", STORE_PASSWORD),
                *("-destkeystore", str(folder / f"{name}.jks"), "-deststoretype", "JKS", *more),
            ],
            check=True, capture_output=True,
        )  # fmt: skip
