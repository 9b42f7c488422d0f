"""Error codes: what the server refuses, by the codes and messages that clients of the protocol know."""

from __future__ import annotations

from collections.abc import Sequence

from cdc_contracts.registry.server.store.subjects import Subject


class ProtocolError(Exception):
    """A request that is not carried out: the HTTP status, the protocol's own code, and what a person reads."""

    def __init__(self, code: int, message: str, *, status: int | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.status = status or int(str(code)[:3])
        self.message = message


def no_subject(subject: Subject | str) -> ProtocolError:
    return ProtocolError(40401, f"Subject '{subject}' not found.")


def no_version(version: object) -> ProtocolError:
    return ProtocolError(40402, f"Version {version} not found.")


def no_schema(which: object = None) -> ProtocolError:
    return ProtocolError(40403, "Schema not found" if which is None else f"Schema {which} not found")


def subject_already_deleted(subject: Subject) -> ProtocolError:
    return ProtocolError(40404, f"Subject '{subject}' was soft deleted.Set permanent=true to delete permanently")


def subject_not_deleted(subject: Subject) -> ProtocolError:
    return ProtocolError(40405, f"Subject '{subject}' was not deleted first before being permanently deleted")


def version_already_deleted(subject: Subject, version: object) -> ProtocolError:
    message = f"Subject '{subject}' Version {version} was soft deleted.Set permanent=true to delete permanently"
    return ProtocolError(40406, message)


def version_not_deleted(subject: Subject, version: object) -> ProtocolError:
    message = f"Subject '{subject}' Version {version} was not deleted first before being permanently deleted"
    return ProtocolError(40407, message)


def no_level(subject: Subject) -> ProtocolError:
    return ProtocolError(40408, f"Subject '{subject}' does not have subject-level compatibility configured")


def no_mode(subject: Subject) -> ProtocolError:
    return ProtocolError(40409, f"Subject '{subject}' does not have subject-level mode configured")


def no_association(resource: str) -> ProtocolError:
    return ProtocolError(40410, f"Association for '{resource}' not found.")


def other_association(kind: str, resource: str) -> ProtocolError:
    return ProtocolError(40903, f"An association of type '{kind}' already exists for resource '{resource}'")


def subject_associated(subject: Subject) -> ProtocolError:
    return ProtocolError(40904, f"An association already exists for subject '{subject}'")


def subject_strongly_associated(subject: Subject) -> ProtocolError:
    return ProtocolError(40905, f"A strong association already exists for subject '{subject}'")


def no_live_version(subject: Subject) -> ProtocolError:
    return ProtocolError(40907, f"No active (non-deleted) version exists for subject '{subject}'")


def association_frozen(kind: str, subject: str) -> ProtocolError:
    return ProtocolError(40908, f"The association of type '{kind}' is frozen for subject '{subject}'")


def incompatible(subject: Subject, reasons: Sequence[str], code: int) -> ProtocolError:
    message = (
        f'Schema being registered is incompatible with an earlier schema for subject "{subject}", '
        f"details: [{', '.join(reasons)}]"
    )
    return ProtocolError(code, message, status=409)


def invalid_schema(why: str) -> ProtocolError:
    return ProtocolError(42201, why)


def invalid_version(version: str) -> ProtocolError:
    message = (
        f"The specified version '{version}' is not a valid version id. "
        'Allowed values are between [1, 2^31-1] and the string "latest"'
    )
    return ProtocolError(42202, message)


def invalid_level() -> ProtocolError:
    message = (
        "Invalid compatibility level. Valid values are none, backward, forward, full, backward_transitive, "
        "forward_transitive, and full_transitive"
    )
    return ProtocolError(42203, message)


def invalid_policy() -> ProtocolError:
    return ProtocolError(42203, "Invalid compatibility policy. Valid values are STRICT, LENIENT, and CDC")


def invalid_mode() -> ProtocolError:
    return ProtocolError(42204, "Invalid mode. Valid values are READWRITE, READONLY, READONLY_OVERRIDE, and IMPORT")


def not_permitted(why: str) -> ProtocolError:
    return ProtocolError(42205, why)


def referenced(subject: Subject, version: int) -> ProtocolError:
    message = f"One or more references exist to the schema {{subject={subject},version={version}}}."
    return ProtocolError(42206, message)


def other_id(known: int, given: int) -> ProtocolError:
    return ProtocolError(42207, f"Schema already registered with id {known} instead of input id {given}")


def invalid_subject(subject: object) -> ProtocolError:
    return ProtocolError(42208, f"The specified subject '{subject}' is not a valid.")


def alias_of_many(scope: Subject) -> ProtocolError:
    where = f"context '{scope.context}'" if scope.context else "the whole registry"
    return ProtocolError(42208, f"An alias stands for one subject, and cannot be set for {where}")


def too_large(why: str) -> ProtocolError:
    return ProtocolError(42209, why)


def invalid_rules(why: str) -> ProtocolError:
    return ProtocolError(42210, why)


def context_not_empty(context: str) -> ProtocolError:
    return ProtocolError(42211, f"The specified context '{context}' is not empty.")


def invalid_association(name: str, why: str) -> ProtocolError:
    return ProtocolError(42212, f"The association specified an invalid value for property: '{name}', detail: {why}")
