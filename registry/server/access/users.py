"""Users: the file that lists the users of the server and their rights."""

from __future__ import annotations

import hmac
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Final

from pydantic import AfterValidator, Field, ValidationError, model_validator

from cdc_contracts.registry.core.common import yaml_documents
from cdc_contracts.registry.core.common.document_errors import describe_misfit
from cdc_contracts.registry.core.common.errors import CdcContractsError, UsageError
from cdc_contracts.registry.core.contract.document_model import Document
from cdc_contracts.registry.server.access.passwords import DECOY, LONGEST, PasswordCheck, check_hash, hash_token
from cdc_contracts.registry.server.access.rights import UNGUARDED, Caller, Grant, Right, is_pattern

_TOKEN: Final = re.compile(r"sha256\$[0-9a-f]{64}\Z")
_HINT: Final = "`cdc-contracts registry user NAME` prints the lines of one user; put them below `users:`."


def _check_token(text: str) -> str:
    if not _TOKEN.match(text):
        raise ValueError("not of the form sha256$HEX")
    return text


def _check_pattern(pattern: str) -> str:
    if not is_pattern(pattern):
        raise ValueError("the pattern of a context is written :.context:name")
    return pattern


class GrantEntry(Document):
    """Rights over the subjects that match any of some patterns."""

    may: Annotated[tuple[Right, ...], Field(min_length=1)]
    """The rights that are granted."""
    subjects: Annotated[tuple[Annotated[str, AfterValidator(_check_pattern)], ...], Field(min_length=1)]
    """Patterns of the subjects they apply to, such as `orders-*` or `:.context:*`."""


class Anonymous(Document):
    """The rights of callers without credentials."""

    rights: tuple[GrantEntry, ...]
    """What may be done, and to which subjects."""

    def caller(self, name: str | None) -> Caller:
        return Caller(name, [Grant(frozenset(one.may), one.subjects) for one in self.rights])


class User(Anonymous):
    """One user: a password or a token, and rights."""

    password: Annotated[str, AfterValidator(check_hash)] | None = None
    """The hash of a password, as `cdc-contracts registry user NAME` prints it."""
    token: Annotated[str, AfterValidator(_check_token)] | None = None
    """The hash of a token, as `cdc-contracts registry user NAME --token` prints it."""

    @model_validator(mode="after")
    def _one_secret(self) -> User:
        if self.password is None and self.token is None:
            raise ValueError("neither password nor token")
        return self


class UsersFile(Document):
    """The users of the registry and their rights."""

    users: dict[Annotated[str, Field(min_length=1, pattern=r"^[^:\s]+$")], User]
    """All users, by name."""
    anonymous: Anonymous | None = None
    """The rights of callers without credentials; without this key they have none."""


class Users:
    """The users of a server; without a users file everybody may do everything."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._check = PasswordCheck()
        self._known: Mapping[str, User] = {}
        self._callers: Mapping[str, Caller] = {}
        self._anonymous: Caller | None = UNGUARDED
        self._signature: tuple[int, ...] = ()
        if path is not None:
            self.reload()

    @property
    def guard(self) -> bool:
        """Whether there is a users file."""
        return self._path is not None

    @property
    def anonymous(self) -> Caller | None:
        """The caller without credentials; None if anonymous access is refused."""
        return self._anonymous

    def reload(self) -> None:
        """Reload the file. Raises UsageError if it is invalid; the users then stay as they were."""
        if self._path is None:
            return
        signature = self._seen()
        document = _read(self._path)
        self._known = document.users
        self._callers = {name: user.caller(name) for name, user in document.users.items()}
        self._anonymous = document.anonymous.caller(None) if document.anonymous else None
        self._signature = signature

    def has_changed(self) -> bool:
        """Return whether the file has changed since it was read."""
        return self._path is not None and self._seen() != self._signature

    def skip_change(self) -> None:
        """Ignore the current state of the file until it changes again."""
        self._signature = self._seen()

    def recall_password(self, name: str, password: str) -> bool | None:
        """Return the cached result for the password, None if it has to be computed, which takes a while."""
        return self._check.recall(password, self._hash_of(name))

    def caller_of_password(self, name: str, password: str) -> Caller | None:
        """Return the caller, None if the password is not that of the user. Raises Busy."""
        if len(password.encode()) > LONGEST:
            return None
        stored = self._hash_of(name)
        return self._callers.get(name) if self._check.verify(password, stored) and stored != DECOY else None

    def caller_of_token(self, token: str) -> Caller | None:
        """Return the caller with the token, or None."""
        asked, found = hash_token(token), None
        for name, user in self._known.items():  # compares all of them, so that timing does not reveal which one matches
            if hmac.compare_digest(asked, user.token or ""):
                found = name
        return self._callers[found] if found is not None else None

    def _hash_of(self, name: str) -> str:
        user = self._known.get(name)
        return DECOY if user is None or user.password is None else user.password

    def _seen(self) -> tuple[int, ...]:
        try:
            stat = self._path.stat() if self._path else None
        except OSError:
            return ()
        return (stat.st_mtime_ns, stat.st_size, stat.st_ino) if stat else ()


def _read(path: Path) -> UsersFile:
    try:
        document = yaml_documents.without_nulls(yaml_documents.read_document(path, may_be_empty=True))
    except CdcContractsError as error:
        raise UsageError(f"the users file: {error.what}", where=error.where, hint=_HINT) from error
    try:
        return UsersFile.model_validate(document)
    except ValidationError as error:
        raise UsageError(f"the users file: {describe_misfit(error, UsersFile)}", where=str(path), hint=_HINT) from error
