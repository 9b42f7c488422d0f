"""Deletion of versions and subjects: first soft, then, on a second request, permanent."""

from __future__ import annotations

from cdc_contracts.registry.server.store.error_codes import (
    context_not_empty,
    no_subject,
    no_version,
    not_permitted,
    referenced,
    subject_already_deleted,
    subject_not_deleted,
    version_already_deleted,
    version_not_deleted,
)
from cdc_contracts.registry.server.store.policies import CONFIG, MODE, Defaults, mode_of
from cdc_contracts.registry.server.store.registry_records import Records, StoredVersion
from cdc_contracts.registry.server.store.subjects import Subject


def delete_version(
    records: Records, subject: Subject, number: int | None, *, permanent: bool, defaults: Defaults
) -> int:
    """Delete a version, `None` for the latest, and return its number. Raises Refusal if that is not possible."""
    _check_writable(records, subject, defaults)
    versions = records.versions(subject)
    if not versions:
        raise no_subject(subject)
    if number is None:
        live = [version for version in versions if not version.deleted]
        number = (live or versions)[-1].version
    found = next((version for version in versions if version.version == number), None)
    if found is None:
        raise no_version(number)
    if permanent and not found.deleted:
        raise version_not_deleted(subject, number)
    if not permanent and found.deleted:
        raise version_already_deleted(subject, number)
    _take_away(records, [found], permanent=permanent)
    return number


def delete_subject(records: Records, subject: Subject, *, permanent: bool, defaults: Defaults) -> list[int]:
    """Delete all versions of a subject and return their numbers. Raises Refusal if that is not possible."""
    _check_writable(records, subject, defaults)
    versions = records.versions(subject)
    if not versions:
        raise no_subject(subject)
    live = [version for version in versions if not version.deleted]
    if permanent and live:
        raise subject_not_deleted(subject)
    if not permanent and not live:
        raise subject_already_deleted(subject)
    gone = versions if permanent else live
    _take_away(records, gone, permanent=permanent)
    return [version.version for version in gone]


def delete_context(records: Records, context: str) -> None:
    """Remove a context from the list. Raises Refusal if it still has versions, even deleted ones."""
    if records.has_versions(context):
        raise context_not_empty(context)
    for kind in (CONFIG, MODE):
        records.remove_settings(context, kind)
    records.unlist_context(context)


def _check_writable(records: Records, subject: Subject, defaults: Defaults) -> None:
    if mode_of(records, subject, defaults).is_read_only:
        raise not_permitted(f"Subject {subject.name} in context {subject.context} is in read-only mode")


def _take_away(records: Records, versions: list[StoredVersion], *, permanent: bool) -> None:
    """Delete versions of one subject. A referenced one stays; permanent deletion also counts soft-deleted referrers."""
    for version in versions:
        if records.referrers(version.subject, version.version, deleted=permanent):
            raise referenced(version.subject, version.version)
    for version in versions:
        if permanent:
            records.erase(version)
        else:
            records.mark_deleted(version)
    subject = versions[0].subject
    if not records.versions(subject):
        for kind in (CONFIG, MODE):
            records.remove_setting(subject, kind)
