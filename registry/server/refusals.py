"""What the server refuses, by the codes and messages that clients of the protocol know."""

from __future__ import annotations

from collections.abc import Sequence

from cdc_contracts.registry.server.subjects import Subject


class Refusal(Exception):
    """A request that is not carried out: the HTTP status, the protocol's own code, and what a person reads."""

    def __init__(self, code: int, message: str, *, status: int | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.status = status or int(str(code)[:3])
        self.message = message


def no_subject(subject: Subject | str) -> Refusal:
    return Refusal(40401, f"Subject '{subject}' not found.")


def no_version(version: object) -> Refusal:
    return Refusal(40402, f"Version {version} not found.")


def no_schema(which: object = None) -> Refusal:
    return Refusal(40403, "Schema not found" if which is None else f"Schema {which} not found")


def subject_already_deleted(subject: Subject) -> Refusal:
    return Refusal(40404, f"Subject '{subject}' was soft deleted.Set permanent=true to delete permanently")


def subject_not_deleted(subject: Subject) -> Refusal:
    return Refusal(40405, f"Subject '{subject}' was not deleted first before being permanently deleted")


def version_already_deleted(subject: Subject, version: object) -> Refusal:
    message = f"Subject '{subject}' Version {version} was soft deleted.Set permanent=true to delete permanently"
    return Refusal(40406, message)


def version_not_deleted(subject: Subject, version: object) -> Refusal:
    message = f"Subject '{subject}' Version {version} was not deleted first before being permanently deleted"
    return Refusal(40407, message)


def no_level(subject: Subject) -> Refusal:
    return Refusal(40408, f"Subject '{subject}' does not have subject-level compatibility configured")


def no_mode(subject: Subject) -> Refusal:
    return Refusal(40409, f"Subject '{subject}' does not have subject-level mode configured")


def no_association(resource: str) -> Refusal:
    return Refusal(40410, f"Association for '{resource}' not found.")


def other_association(kind: str, resource: str) -> Refusal:
    return Refusal(40903, f"An association of type '{kind}' already exists for resource '{resource}'")


def subject_associated(subject: Subject) -> Refusal:
    return Refusal(40904, f"An association already exists for subject '{subject}'")


def subject_strongly_associated(subject: Subject) -> Refusal:
    return Refusal(40905, f"A strong association already exists for subject '{subject}'")


def no_live_version(subject: Subject) -> Refusal:
    return Refusal(40907, f"No active (non-deleted) version exists for subject '{subject}'")


def association_frozen(kind: str, subject: str) -> Refusal:
    return Refusal(40908, f"The association of type '{kind}' is frozen for subject '{subject}'")


def incompatible(subject: Subject, reasons: Sequence[str], code: int) -> Refusal:
    message = (
        f'Schema being registered is incompatible with an earlier schema for subject "{subject}", '
        f"details: [{', '.join(reasons)}]"
    )
    return Refusal(code, message, status=409)


def invalid_schema(why: str) -> Refusal:
    return Refusal(42201, why)


def invalid_version(version: str) -> Refusal:
    message = (
        f"The specified version '{version}' is not a valid version id. "
        'Allowed values are between [1, 2^31-1] and the string "latest"'
    )
    return Refusal(42202, message)


def invalid_level() -> Refusal:
    message = (
        "Invalid compatibility level. Valid values are none, backward, forward, full, backward_transitive, "
        "forward_transitive, and full_transitive"
    )
    return Refusal(42203, message)


def invalid_policy() -> Refusal:
    return Refusal(42203, "Invalid compatibility policy. Valid values are STRICT, LENIENT, and CDC")


def invalid_mode() -> Refusal:
    return Refusal(42204, "Invalid mode. Valid values are READWRITE, READONLY, READONLY_OVERRIDE, and IMPORT")


def not_permitted(why: str) -> Refusal:
    return Refusal(42205, why)


def referenced(subject: Subject, version: int) -> Refusal:
    message = f"One or more references exist to the schema {{subject={subject},version={version}}}."
    return Refusal(42206, message)


def other_id(known: int, given: int) -> Refusal:
    return Refusal(42207, f"Schema already registered with id {known} instead of input id {given}")


def invalid_subject(subject: object) -> Refusal:
    return Refusal(42208, f"The specified subject '{subject}' is not a valid.")


def alias_of_many(scope: Subject) -> Refusal:
    where = f"context '{scope.context}'" if scope.context else "the whole registry"
    return Refusal(42208, f"An alias stands for one subject, and cannot be set for {where}")


def too_large(why: str) -> Refusal:
    return Refusal(42209, why)


def invalid_rules(why: str) -> Refusal:
    return Refusal(42210, why)


def context_not_empty(context: str) -> Refusal:
    return Refusal(42211, f"The specified context '{context}' is not empty.")


def invalid_association(name: str, why: str) -> Refusal:
    return Refusal(42212, f"The association specified an invalid value for property: '{name}', detail: {why}")
