"""Registration of schemas, and the lookup of registered ones."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from cdc_contracts.registry.core.schema.schema_documents import SchemaDocument
from cdc_contracts.registry.server.store.attachments import check_rules, merge_metadata, merge_rules
from cdc_contracts.registry.server.store.compatibility_checks import validate
from cdc_contracts.registry.server.store.error_codes import (
    incompatible,
    invalid_schema,
    invalid_subject,
    not_permitted,
    other_id,
)
from cdc_contracts.registry.server.store.policies import Defaults, Mode, SubjectSettings, settings_of
from cdc_contracts.registry.server.store.registry_records import (
    Records,
    SchemaContent,
    StoredReference,
    StoredSchema,
    StoredVersion,
)
from cdc_contracts.registry.server.store.registry_store import Store
from cdc_contracts.registry.server.store.resolution import Resolver
from cdc_contracts.registry.server.store.schema_content import make_content
from cdc_contracts.registry.server.store.subjects import Subject


@dataclass(frozen=True)
class Submission:
    """A schema as sent by a client; `id` and `version` only if it is imported."""

    type: str
    text: str
    references: tuple[StoredReference, ...] = ()
    metadata: Mapping[str, Any] | None = None
    rule_set: Mapping[str, Any] | None = None
    id: int | None = None
    version: int | None = None
    normalize: bool = False


@dataclass(frozen=True)
class _Basis:
    """The state of a subject that a registration is decided by."""

    versions: list[StoredVersion]
    settings: SubjectSettings

    @property
    def live(self) -> list[StoredVersion]:
        return [version for version in self.versions if not version.deleted]


@dataclass(frozen=True)
class Registered:
    """A registered schema and its version."""

    schema: StoredSchema
    version: StoredVersion


def register(
    store: Store, subject: Subject, submission: Submission, *, defaults: Defaults, conflict: int
) -> Registered:  # fmt: skip
    """Register a schema under a subject, unless it is already registered, and return where.

    Comparing schemas can take long, so it is done before the write transaction, and repeated inside it only if the
    subject changed meanwhile. Raises Refusal; `conflict` is the code for an incompatible schema.
    """
    if not subject.is_valid:
        raise invalid_subject(subject)
    check_rules(submission.rule_set)
    with store.reading() as records:
        basis = _basis_of(records, subject, defaults)
        prepared = _prepare(records, subject, submission, basis, defaults, conflict)
    if isinstance(prepared, Registered):
        return prepared
    with store.writing() as records:
        newest = _basis_of(records, subject, defaults)
        if newest != basis:
            prepared = _prepare(records, subject, submission, newest, defaults, conflict)
            if isinstance(prepared, Registered):
                return prepared
        return _add(records, subject, submission, prepared)


def find(
    records: Records, versions: Sequence[StoredVersion], content: SchemaContent, *, deleted: bool = False
) -> Registered | None:  # fmt: skip
    """Return the latest version of a subject with this content."""
    if not versions:
        return None
    same = {schema.id: schema for schema in records.same_schemas(versions[0].subject.context, content.identity)}
    for version in reversed(versions):
        if version.id in same and (deleted or not version.deleted):
            return Registered(same[version.id], version)
    return None


def read_submission(
    records: Records, subject: Subject, submission: Submission, config: Mapping[str, Any]
) -> tuple[SchemaDocument, SchemaContent]:  # fmt: skip
    """Return the schema sent by a client, parsed, and in its stored form.

    Raises Refusal if it is not a valid schema, or a reference cannot be resolved.
    """
    if not submission.text.strip():
        raise invalid_schema("Empty schema")
    references = tuple(_resolve(records, reference, subject.context) for reference in submission.references)
    resolver = Resolver(records, subject.context)
    document = resolver.read(submission.type, submission.text, references, name="the new schema")
    content = make_content(
        submission.type,
        submission.text,
        references,
        submission.metadata,
        submission.rule_set,
        context=subject.context,
        normalize=submission.normalize or bool(config.get("normalize")),
    )
    return document, content


def live_versions(records: Records, subject: Subject) -> list[StoredVersion]:
    """Return the versions of a subject that are not deleted, oldest first."""
    return [version for version in records.versions(subject) if not version.deleted]


def _prepare(
    records: Records, subject: Subject, submission: Submission, basis: _Basis, defaults: Defaults, conflict: int
) -> Registered | SchemaContent:
    """Return the existing version, or what to store, after all checks."""
    mode, config = basis.settings.mode, basis.settings.config
    if mode.is_read_only:
        raise not_permitted(f"{_where(subject)} is in read-only mode")
    document, content = read_submission(records, subject, submission, config)
    known = find(records, basis.versions, content)
    if known is not None and _is_asked_for(known, submission, mode):
        return known
    if mode is Mode.IMPORT:
        _check_import(records, subject, submission, content, known)
        return content
    if submission.id is not None:
        raise not_permitted(f"{_where(subject)} is not in import mode")
    attached = _attach(records, submission, basis)
    if attached != submission:
        document, content = read_submission(records, subject, attached, config)
        known = find(records, basis.versions, content)
        if known is not None:
            return known
    reasons = validate(
        records, subject, document, basis.live, metadata=content.metadata, config=config, defaults=defaults
    )  # fmt: skip
    if reasons:
        raise incompatible(subject, reasons, conflict)
    return content


def _is_asked_for(known: Registered, submission: Submission, mode: Mode) -> bool:
    if submission.id not in (None, known.schema.id):
        return False
    return mode is not Mode.IMPORT or submission.version in (None, known.version.version)


def _check_import(
    records: Records, subject: Subject, submission: Submission, content: SchemaContent, known: Registered | None
) -> None:
    if submission.id is None:
        raise not_permitted(f"{_where(subject)} is not in read-write mode")
    if known is not None and submission.version is None:
        raise other_id(known.schema.id, submission.id)
    if records.identity_of(subject.context, submission.id) not in (None, content.identity):
        raise not_permitted(f"Overwrite new schema with id {submission.id} is not permitted.")
    if submission.version is not None and records.version(subject, submission.version) is not None:
        raise not_permitted(f"Overwrite version {submission.version} of subject {subject} is not permitted.")


def _attach(records: Records, submission: Submission, basis: _Basis) -> Submission:
    """Return the submission with metadata and rules inherited from the previous version and the config."""
    config, live = basis.settings.config, basis.live
    last = records.schema(live[-1].subject.context, live[-1].id) if live else None
    metadata, rule_set = submission.metadata, submission.rule_set
    if last is not None:
        metadata = last.content.metadata if metadata is None else metadata
        rule_set = last.content.rule_set if rule_set is None else rule_set
    metadata = merge_metadata(merge_metadata(config.get("defaultMetadata"), metadata), config.get("overrideMetadata"))
    rule_set = merge_rules(merge_rules(config.get("defaultRuleSet"), rule_set), config.get("overrideRuleSet"))
    return replace(submission, metadata=metadata or None, rule_set=rule_set or None)


def _add(records: Records, subject: Subject, submission: Submission, content: SchemaContent) -> Registered:
    for reference in content.references:
        if records.version(reference.target(subject.context), reference.version) is None:
            raise invalid_schema(f"Invalid schema: the target of reference {reference.name} was deleted meanwhile")
    if submission.id is None:
        same = records.same_schemas(subject.context, content.identity)
        number = same[0].id if same else records.add_schema(subject.context, content)
    else:
        number = submission.id
        if records.schema(subject.context, number) is None:
            records.add_schema(subject.context, content, number)
    wanted = submission.version if submission.id is not None else None
    now = time.time_ns() // 1_000_000
    version = records.add_version(subject, wanted, number, now)
    added = StoredVersion(subject, version, number, deleted=False, registered_at=now)
    return Registered(StoredSchema(subject.context, number, content), added)


def _resolve(records: Records, reference: StoredReference, context: str) -> StoredReference:
    """Return a reference with `latest` resolved to a version."""
    if reference.version != -1:
        return reference
    live = live_versions(records, reference.target(context))
    if not live:
        raise invalid_schema(f"Invalid schema: no schema found for reference {reference.name} to {reference.subject}")
    return replace(reference, version=live[-1].version)


def _basis_of(records: Records, subject: Subject, defaults: Defaults) -> _Basis:
    return _Basis(records.versions(subject), settings_of(records, subject, defaults))


def _where(subject: Subject) -> str:
    return f"Subject {subject.name} in context {subject.context}"
