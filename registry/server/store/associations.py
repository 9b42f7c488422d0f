"""Associations: which subjects describe a topic's keys and values, if not those named after the topic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Final

from sqlalchemy import delete, insert, select

from cdc_contracts.registry.server.store.database_tables import ASSOCIATIONS
from cdc_contracts.registry.server.store.error_codes import (
    association_frozen,
    no_association,
    no_live_version,
    other_association,
    subject_associated,
    subject_strongly_associated,
)
from cdc_contracts.registry.server.store.registration import live_versions
from cdc_contracts.registry.server.store.registry_records import Records
from cdc_contracts.registry.server.store.subjects import parse_subject

ANY_NAMESPACE: Final = "-"
STRONG: Final = "STRONG"
"""The subject belongs to this topic only."""
WEAK: Final = "WEAK"


@dataclass(frozen=True)
class TopicSubject:
    """A subject of a topic: `association_type` is `key` or `value`; a frozen one cannot be changed."""

    resource_id: str
    resource_type: str
    association_type: str
    resource_name: str
    resource_namespace: str
    subject: str
    lifecycle: str
    frozen: bool


def find_associations(
    records: Records, *, kinds: Sequence[str] = (), lifecycle: str = "", **wanted: str
) -> list[TopicSubject]:
    """Return the associations whose columns have the given values; the namespace `-` matches any."""
    table = ASSOCIATIONS.c
    query = select(ASSOCIATIONS).order_by(table.resource_name, table.association_type, table.resource_id)
    for name, value in (wanted | {"lifecycle": lifecycle}).items():
        if value and not (name == "resource_namespace" and value == ANY_NAMESPACE):
            query = query.where(table[name] == value)
    if kinds:
        query = query.where(table.association_type.in_(kinds))
    return [TopicSubject(**row._mapping) for row in records.connection.execute(query)]  # noqa: SLF001  its public name


def associate(records: Records, made: TopicSubject) -> None:
    """Store an association. An equal one stays as it is; a different one of the same type for the topic is refused."""
    known = find_associations(
        records, resource_id=made.resource_id, resource_type=made.resource_type, kinds=[made.association_type]
    )  # fmt: skip
    if known == [made]:
        return
    if known:
        raise other_association(made.association_type, made.resource_name)
    subject = parse_subject(made.subject)
    others = find_associations(records, subject=made.subject)
    if any(other.lifecycle == STRONG for other in others):
        raise subject_strongly_associated(subject)
    if others and made.lifecycle == STRONG:
        raise subject_associated(subject)
    if not live_versions(records, subject):
        raise no_live_version(subject)
    records.connection.execute(insert(ASSOCIATIONS).values(**asdict(made)))


def dissociate(
    records: Records, resource_id: str, *, resource_type: str, kinds: Sequence[str]
) -> list[TopicSubject]:  # fmt: skip
    """Remove the associations of a topic and return them. Raises Refusal if there are none, or one is frozen."""
    found = find_associations(records, resource_id=resource_id, resource_type=resource_type, kinds=kinds)
    if not found:
        raise no_association(resource_id)
    for each in found:
        if each.frozen:
            raise association_frozen(each.association_type, each.subject)
        records.connection.execute(
            delete(ASSOCIATIONS).where(
                ASSOCIATIONS.c.resource_id == each.resource_id,
                ASSOCIATIONS.c.resource_type == each.resource_type,
                ASSOCIATIONS.c.association_type == each.association_type,
            )
        )
    return found
