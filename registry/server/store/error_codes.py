"""Error codes and messages of refusals, as clients of the protocol know them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from cdc_contracts.registry.server.store.subjects import Subject


class ProtocolError(Exception):
    """A refused request: the HTTP status, the protocol's error code, and a message."""

    def __init__(self, code: int, message: str, *, status: int | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.status = status or int(str(code)[:3])
        self.message = message


@dataclass(frozen=True, slots=True)
class ErrorCode:
    """A code and its message; called with what the message names, in order, it is the error to raise."""

    code: int
    message: str

    def __call__(self, *named: object) -> ProtocolError:
        """Return the error."""
        return ProtocolError(self.code, self.message.format(*named))


_DELETED: Final = "was soft deleted.Set permanent=true to delete permanently"
_NOT_DELETED: Final = "was not deleted first before being permanently deleted"

no_subject: Final = ErrorCode(40401, "Subject '{}' not found.")
no_version: Final = ErrorCode(40402, "Version {} not found.")
subject_already_deleted: Final = ErrorCode(40404, f"Subject '{{}}' {_DELETED}")
subject_not_deleted: Final = ErrorCode(40405, f"Subject '{{}}' {_NOT_DELETED}")
version_already_deleted: Final = ErrorCode(40406, f"Subject '{{}}' Version {{}} {_DELETED}")
version_not_deleted: Final = ErrorCode(40407, f"Subject '{{}}' Version {{}} {_NOT_DELETED}")
no_level: Final = ErrorCode(40408, "Subject '{}' does not have subject-level compatibility configured")
no_mode: Final = ErrorCode(40409, "Subject '{}' does not have subject-level mode configured")
invalid_schema: Final = ErrorCode(42201, "{}")
invalid_version: Final = ErrorCode(
    42202,
    "The specified version '{}' is not a valid version id. "
    'Allowed values are between [1, 2^31-1] and the string "latest"',
)
invalid_level: Final = ErrorCode(
    42203,
    "Invalid compatibility level. Valid values are none, backward, forward, full, backward_transitive, "
    "forward_transitive, and full_transitive",
)
invalid_policy: Final = ErrorCode(42203, "Invalid compatibility policy. Valid values are STRICT, LENIENT, and CDC")
invalid_mode: Final = ErrorCode(
    42204, "Invalid mode. Valid values are READWRITE, READONLY, READONLY_OVERRIDE, and IMPORT"
)
not_permitted: Final = ErrorCode(42205, "{}")
referenced: Final = ErrorCode(42206, "One or more references exist to the schema {{subject={},version={}}}.")
other_id: Final = ErrorCode(42207, "Schema already registered with id {} instead of input id {}")
invalid_subject: Final = ErrorCode(42208, "The specified subject '{}' is not a valid.")
too_large: Final = ErrorCode(42209, "{}")
invalid_rules: Final = ErrorCode(42210, "{}")
context_not_empty: Final = ErrorCode(42211, "The specified context '{}' is not empty.")


def no_schema(which: object = None) -> ProtocolError:
    return ProtocolError(40403, "Schema not found" if which is None else f"Schema {which} not found")


def incompatible(subject: Subject, reasons: Sequence[str], code: int) -> ProtocolError:
    message = (
        f'Schema being registered is incompatible with an earlier schema for subject "{subject}", '
        f"details: [{', '.join(reasons)}]"
    )
    return ProtocolError(code, message, status=409)


def alias_of_many(scope: Subject) -> ProtocolError:
    where = f"context '{scope.context}'" if scope.context else "the whole registry"
    return ProtocolError(42208, f"An alias can only be set for a single subject, not for {where}")
