"""Errors: what can go wrong for a user, as one tree.

CdcContractsError            what happened, where, how to fix it
├── UsageError               the call is wrong: exit 2
│   └── ContractError        a contract document is wrong
│       └── InvalidSchema    a schema handed in is none, or is not safe to work with
│           └── SchemaTooLarge
├── UnavailableError         it could not run, or data is gone: exit 3
├── WithheldError            rows are not published, because records contradict the contract: exit 1, or 4
├── UndetectedError          the contract of the messages cannot be detected: exit 4
├── UndecidedError           versions read a row differently, and nobody says which one holds: exit 4
└── LedgerError              the counts do not add up, a bug here: exit 5

A message that drifted is a finding, never an exception.
"""

from __future__ import annotations

import errno
from types import MappingProxyType
from typing import Final

from cdc_contracts.registry.core.common.exit_codes import (
    COULD_NOT_RUN,
    COUNTS_DIFFER,
    DRIFT,
    EXIT_CODES,
    INCONCLUSIVE,
    USAGE,
)


class CdcContractsError(Exception):
    """A failure that a user has to see: what, where, how to fix it."""

    exit_code = COULD_NOT_RUN

    def __init__(self, what: str, *, where: str = "", hint: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.where = where
        self.hint = hint

    def __str__(self) -> str:
        at = f" ({self.where})" if self.where else ""
        hint = f"\n  {self.hint}" if self.hint else ""
        return f"{self.what}{at}{hint}"


class UsageError(CdcContractsError):
    """The call itself cannot be carried out: a bad option, an unknown name."""

    exit_code = USAGE


class ContractError(UsageError):
    """A contract, mapping or table contract cannot be read or is inconsistent."""


class InvalidSchema(ContractError):
    """A submitted schema is invalid, or processing it might not terminate."""


class SchemaTooLarge(InvalidSchema):
    """A schema is longer than the limit."""


class UnavailableError(CdcContractsError):
    """Something outside did not answer, or the data asked for is not there."""

    exit_code = COULD_NOT_RUN


class WithheldError(CdcContractsError):
    """Records prove another version than the one that they were to be read by, so that no row is published."""

    exit_code = EXIT_CODES[DRIFT]


class UndetectedError(CdcContractsError):
    """The contract of the messages cannot be detected, so that nothing was done."""

    exit_code = EXIT_CODES[INCONCLUSIVE]


class UndecidedError(CdcContractsError):
    """Versions of a contract read a row differently, and nothing says which of them it was written by."""

    exit_code = EXIT_CODES[INCONCLUSIVE]


class LedgerError(CdcContractsError):
    """The counts do not add up. This is a bug in cdc-contracts."""

    exit_code = COUNTS_DIFFER


_HINTS: Final = MappingProxyType({
    errno.ENOSPC: "Free some space there, or choose another location.",
    errno.EDQUOT: "Your disk quota is used up: free some space there, or choose another location.",
    errno.EFBIG: "The file is too large: check the limits (ulimit -f) and the file system.",
    errno.EROFS: "That file system is read-only: choose another location.",
    errno.EACCES: "Check your permissions there, or choose another location.",
    errno.EPERM: "Check your permissions there, or choose another location.",
    errno.EMFILE: "Too many open files: raise the limit (ulimit -n).",
})  # fmt: skip


def refused(error: OSError, where: str = "", *, what: str = "it cannot be written or read") -> UnavailableError:
    """Return the error for a file that the system refuses: `where` is its name, else the error has it."""
    name = where or (error.filename if isinstance(error.filename, str) else "")
    hint = _HINTS.get(error.errno or 0, "Check the disk, its free space and your permissions.")
    return UnavailableError(f"{what}: {error.strerror or error}", where=name, hint=hint)
