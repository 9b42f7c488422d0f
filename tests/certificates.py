"""Certificates for brokers in tests: from an authority of their own, valid and expired ones."""

from __future__ import annotations

import ipaddress
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec


class Authority:
    """Who signs: its own certificate is `folder/NAME.pem`, those for 127.0.0.1 are beside it, with their keys."""

    def __init__(self, folder: Path, name: str) -> None:
        self.folder, self.name = folder, x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.file = folder / f"{name}.pem"
        self.file.write_bytes(self._sign(self.name, self.key, days=30, authority=True, host=name))

    def certify(self, name: str, *, days: int, host: str = "127.0.0.1") -> Path:
        """Return the file of a certificate that is valid for so many days, or no more for so many."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
        written = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        file = self.folder / f"{name}.pem"
        file.write_bytes(written + self._sign(subject, key, days=days, authority=False, host=host))
        return file

    def _sign(
        self, subject: x509.Name, key: ec.EllipticCurvePrivateKey, *, days: int, authority: bool, host: str
    ) -> bytes:
        now = datetime.now(UTC)
        numeric = host.replace(".", "").isdecimal()
        name = x509.IPAddress(ipaddress.ip_address(host)) if numeric else x509.DNSName(host)
        addresses = x509.SubjectAlternativeName([name])
        certificate = (
            x509.CertificateBuilder(self.name, subject, key.public_key(), x509.random_serial_number())
            .not_valid_before(now - timedelta(days=60))
            .not_valid_after(now + timedelta(days=days))
            .add_extension(x509.BasicConstraints(ca=authority, path_length=None), critical=True)
            .add_extension(addresses, critical=False)
            .sign(self.key, hashes.SHA256())
        )
        return certificate.public_bytes(serialization.Encoding.PEM)
