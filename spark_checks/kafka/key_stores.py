"""Key stores of Java clients, read without Java: certificates and keys as PEM, for clients that know only that.

JKS is read here: `count` entries, each a tag, an alias, a time, and a trusted certificate (2) or a private key with its
chain (1), encrypted by a key stream of SHA-1. PKCS12 is read by the library `cryptography`, where that is installed.
"""

from __future__ import annotations

import hashlib
import struct
from base64 import encodebytes
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from cdc_contracts.registry.core.common.errors import UsageError
from cdc_contracts.registry.core.common.yaml_documents import describe_unread

JKS: Final = "JKS"
PKCS12: Final = "PKCS12"
PEM: Final = "PEM"
_MAGIC: Final = b"\xfe\xed\xfe\xed"
_SEQUENCE: Final = b"\x30"
_PRIVATE_KEY, _TRUSTED = 1, 2
_DIGEST: Final = hashlib.sha1().digest_size  # noqa: S324  the format knows no other
_WHITENER: Final = b"Mighty Aphrodite"


class UnreadStore(ValueError):
    """A store cannot be read: damaged, or the password is wrong. The message shows no password."""


@dataclass(frozen=True)
class KeyStore:
    """The content of a store as PEM: trusted certificates, and the first private key with its chain."""

    trusted: str
    key: str = ""
    chain: str = ""


def store_kind(name: str, path: str) -> str:
    """Return JKS, PKCS12 or PEM, as the content of the file is. Raises UsageError if it cannot be read."""
    start = _read(name, path)[: len(_MAGIC)]
    return JKS if start == _MAGIC else PKCS12 if start[:1] == _SEQUENCE else PEM


def read_store(name: str, path: str, password: str | None, key_password: str | None = None) -> KeyStore:
    """Return the content of a JKS or PKCS12 store; `name` is the property that names it.

    Raises UsageError if it cannot be read, or a password is missing or wrong.
    """
    content = _read(name, path)
    try:
        if content.startswith(_MAGIC):
            return _read_jks(content, password, key_password or password, trust="trust" in name)
        return _read_pkcs12(name, path, content, password)
    except (ValueError, struct.error, IndexError) as error:
        reason = str(error) if isinstance(error, UnreadStore) else "it is damaged, or the password is wrong"
        checked = name.replace("location", "password") + ("" if "trust" in name else " and ssl.key.password")
        raise UsageError(f"the store cannot be read: {reason}", where=path, hint=f"Check {checked}.") from None


def _read(name: str, path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise UsageError(describe_unread(error), where=path, hint=f"It is named by {name}.") from None


def _read_jks(content: bytes, password: str | None, key_password: str | None, *, trust: bool) -> KeyStore:
    if password is not None:
        mac = hashlib.sha1(_utf16(password) + _WHITENER + content[:-_DIGEST]).digest()  # noqa: S324
        if mac != content[-_DIGEST:]:
            raise UnreadStore("the password is wrong, or the file is damaged")
    reader = _Reader(content, 4)
    version, count = reader.number(), reader.number()
    trusted, keys = [], []
    for _ in range(count):
        tag = reader.number()
        reader.text()
        reader.skip(8)
        if tag == _TRUSTED:
            trusted.append(reader.certificate(version))
        elif tag == _PRIVATE_KEY:
            sealed = reader.block()
            keys.append((sealed, [reader.certificate(version) for _ in range(reader.number())]))
        else:
            raise UnreadStore("it has an entry of an unknown kind")
    roots = "".join(_pem("CERTIFICATE", one) for one in trusted)
    if trust or not keys:
        return KeyStore(roots)
    if key_password is None:
        raise UnreadStore("its private key needs a password")
    sealed, chain = keys[0]
    key = _pem("PRIVATE KEY", _open_key(sealed, key_password))
    return KeyStore(roots, key, "".join(_pem("CERTIFICATE", one) for one in chain))


def _open_key(sealed: bytes, password: str) -> bytes:
    """Return a private key as PKCS8. `sealed` is SEQUENCE { algorithm, OCTET STRING { salt, key, digest } }."""
    _, body = _der(sealed, 0)
    algorithm_end, _ = _der(body, 0)
    _, content = _der(body, algorithm_end)
    secret, stream = _utf16(password), b""
    salt, hidden, digest = content[:_DIGEST], content[_DIGEST:-_DIGEST], content[-_DIGEST:]
    block = salt
    while len(stream) < len(hidden):
        block = hashlib.sha1(secret + block).digest()  # noqa: S324
        stream += block
    key = bytes(one ^ other for one, other in zip(hidden, stream, strict=False))
    if hashlib.sha1(secret + key).digest() != digest:  # noqa: S324
        raise UnreadStore("the password of its key is wrong")
    return key


def _der(data: bytes, at: int) -> tuple[int, bytes]:
    """Return where the value that begins at `at` ends, and its content."""
    length, at = data[at + 1], at + 2
    if length & 0x80:
        size = length & 0x7F
        length, at = int.from_bytes(data[at : at + size]), at + size
    return at + length, data[at : at + length]


def _read_pkcs12(name: str, path: str, content: bytes, password: str | None) -> KeyStore:
    try:
        from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, pkcs12
    except ImportError:
        trust = "trust" in name
        wanted = "ssl.ca.location=ca.pem" if trust else "ssl.certificate.location and ssl.key.location"
        options = "-nokeys -out ca.pem" if trust else "-out client.pem -nodes"
        raise UsageError(
            "a PKCS12 store can only be read here with the library `cryptography`",
            where=name,
            hint=f"Run `pip install cryptography`; or `openssl pkcs12 -in {path} {options}` and give {wanted}; "
            "or use --engine spark.",
        ) from None
    found = pkcs12.load_pkcs12(content, None if password is None else password.encode())
    others = "".join(one.certificate.public_bytes(Encoding.PEM).decode() for one in found.additional_certs)
    if found.key is None or found.cert is None:
        return KeyStore(others)
    key = found.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
    return KeyStore("", key, found.cert.certificate.public_bytes(Encoding.PEM).decode() + others)


def _utf16(password: str) -> bytes:
    return password.encode("utf-16-be")


def _pem(kind: str, content: bytes) -> str:
    return f"-----BEGIN {kind}-----\n{encodebytes(content).decode()}-----END {kind}-----\n"


class _Reader:
    """Reads the parts of a JKS file in their order; numbers are big-endian."""

    def __init__(self, content: bytes, at: int) -> None:
        self._content, self._at = content, at

    def number(self) -> int:
        return int(struct.unpack(">I", self.skip(4))[0])

    def text(self) -> bytes:
        return self.skip(int(struct.unpack(">H", self.skip(2))[0]))

    def block(self) -> bytes:
        return self.skip(self.number())

    def certificate(self, version: int) -> bytes:
        if version > 1:
            self.text()  # X.509
        return self.block()

    def skip(self, size: int) -> bytes:
        start, self._at = self._at, self._at + size
        if self._at > len(self._content):
            raise UnreadStore("it ends early")
        return self._content[start : self._at]
