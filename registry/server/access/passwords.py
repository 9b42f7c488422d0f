"""Passwords and tokens as stored in the users file: hashes that are slow to guess, with cached checks.

A password is hashed with scrypt, which deliberately takes a good part of a second and some memory. So results are
cached while the process lives, under a key that only this process can compute. How many checks run at once, and how
many may wait, is bounded: guessing slows down the guesser, not users whose passwords are already cached.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import secrets
import threading
from collections import OrderedDict
from dataclasses import dataclass
from typing import Final

SCRYPT: Final = "scrypt"
SHA256: Final = "sha256"

_COST, _BLOCK, _PARALLEL = 2**15, 8, 3
_SALT_BYTES: Final = 16
_HASH_BYTES: Final = 32
_TOKEN_BYTES: Final = 32
_MOST_MEMORY: Final = 256 * 1024 * 1024
_MOST_KEPT: Final = 4_096
_AT_ONCE: Final = 2
_MOST_WAITING: Final = 16
LONGEST: Final = 1_024
"""A longer password or token, in bytes, is refused without being checked."""


class Busy(Exception):
    """Too many passwords are being checked; the client has to try again."""


@dataclass(frozen=True, slots=True)
class _Scrypt:
    cost: int
    block: int
    parallel: int
    salt: bytes
    hash: bytes


def hash_password(password: str, *, cost: int = _COST) -> str:
    """Return the hash of a password for the users file; salted, so it differs each time."""
    salt = secrets.token_bytes(_SALT_BYTES)
    derived = _derive(password.encode(), _Scrypt(cost, _BLOCK, _PARALLEL, salt, b""))
    return f"{SCRYPT}${cost}${_BLOCK}${_PARALLEL}${_encode(salt)}${_encode(derived)}"


def make_token() -> str:
    """Return a new bearer token."""
    return secrets.token_urlsafe(_TOKEN_BYTES)


def hash_token(token: str) -> str:
    """Return the hash of a token for the users file. A token is random, so a fast hash is safe."""
    return f"{SHA256}${hashlib.sha256(token.encode()).hexdigest()}"


def check_hash(text: str) -> str:
    """Return a password hash unchanged. Raises ValueError if it is not a valid one."""
    parsed = _parse(text)
    memory = 128 * parsed.block * (parsed.cost + parsed.parallel + 2)
    if parsed.cost & (parsed.cost - 1) or memory > _MOST_MEMORY or len(parsed.hash) != _HASH_BYTES:
        raise ValueError("the parameters of the hash are out of bounds")
    return text


DECOY: Final = f"{SCRYPT}${_COST}${_BLOCK}${_PARALLEL}${'A' * 22}==${'A' * 43}="
"""A hash that no password has: checking an unknown user takes as long as checking a known one."""


class PasswordCheck:
    """Checks whether a password matches a hash, and caches the result."""

    def __init__(self) -> None:
        self._key = secrets.token_bytes(_HASH_BYTES)
        self._known: OrderedDict[bytes, bool] = OrderedDict()
        self._lock = threading.Lock()
        self._slots = threading.BoundedSemaphore(_AT_ONCE)
        self._places = threading.BoundedSemaphore(_AT_ONCE + _MOST_WAITING)

    def recall(self, password: str, stored: str) -> bool | None:
        """Return the cached result for the password and the hash, None if it has to be computed."""
        with self._lock:
            name = self._name(password, stored)
            if name in self._known:
                self._known.move_to_end(name)
            return self._known.get(name)

    def verify(self, password: str, stored: str) -> bool:
        """Return whether the password matches the hash. Raises Busy if too many checks are waiting."""
        known = self.recall(password, stored)
        if known is not None:
            return known
        if not self._places.acquire(blocking=False):
            raise Busy
        try:
            with self._slots:
                parsed = _parse(stored)
                fits = hmac.compare_digest(_derive(password.encode(), parsed), parsed.hash)
        finally:
            self._places.release()
        with self._lock:
            self._known[self._name(password, stored)] = fits
            while len(self._known) > _MOST_KEPT:
                self._known.popitem(last=False)
        return fits

    def _name(self, password: str, stored: str) -> bytes:
        return hmac.digest(self._key, f"{stored}\0{password}".encode(), "sha256")


def _derive(password: bytes, how: _Scrypt) -> bytes:
    return hashlib.scrypt(
        password, salt=how.salt, n=how.cost, r=how.block, p=how.parallel, maxmem=_MOST_MEMORY + 2**20, dklen=_HASH_BYTES
    )


def _parse(text: str) -> _Scrypt:
    try:
        name, cost, block, parallel, salt, derived = text.split("$")
        parsed = _Scrypt(int(cost), int(block), int(parallel), _decode(salt), _decode(derived))
    except (ValueError, binascii.Error) as error:
        raise ValueError("not of the form scrypt$COST$BLOCK$LANES$SALT$HASH") from error
    if name != SCRYPT or min(parsed.cost - 1, parsed.block, parsed.parallel) < 1:
        raise ValueError("not of the form scrypt$COST$BLOCK$LANES$SALT$HASH")
    return parsed


def _encode(raw: bytes) -> str:
    return base64.b64encode(raw).decode()


def _decode(text: str) -> bytes:
    return base64.b64decode(text, validate=True)
