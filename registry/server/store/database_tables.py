"""Database tables of the registry, the same in SQLite and in PostgreSQL."""

from __future__ import annotations

from typing import Final

from sqlalchemy import BigInteger, Boolean, Column, ForeignKeyConstraint, Index, Integer, MetaData, String, Table, Text

FORM: Final = 2
"""The version of these tables. A change increments it and adds an upgrade step in `database`."""

METADATA: Final = MetaData()

FORMS: Final = Table(
    "registry_form", METADATA, Column("form", Integer, primary_key=True), Column("erasures", BigInteger, nullable=False)
)
"""One row: the version of the tables, and how often a schema was erased, which invalidates caches."""

CONTEXTS: Final = Table(
    "contexts",
    METADATA,
    Column("context", String, primary_key=True),
    Column("next_id", BigInteger, nullable=False),
    Column("listed", Boolean, nullable=False),
)
"""The next id of a context only grows: an id is never reused, whatever was deleted since."""

SCHEMAS: Final = Table(
    "schemas",
    METADATA,
    Column("context", String, primary_key=True),
    Column("id", BigInteger, primary_key=True, autoincrement=False),
    Column("type", String, nullable=False),
    Column("text", Text, nullable=False),
    Column("extras", Text, nullable=False),
    Column("identity", String, nullable=False),
    Column("guid", String, nullable=False, index=True),
    Column("erased", Boolean, nullable=False),
    Index("schemas_by_identity", "context", "identity"),
)
"""The schema with an id; never changed. `extras` is JSON: references, metadata, ruleSet. An erased one has no text."""

SUBJECTS: Final = Table(
    "subjects",
    METADATA,
    Column("context", String, primary_key=True),
    Column("subject", String, primary_key=True),
    Column("next_version", BigInteger, nullable=False),
)
"""Stays when all versions of a subject are gone: version numbers are not reused."""

VERSIONS: Final = Table(
    "versions",
    METADATA,
    Column("context", String, primary_key=True),
    Column("subject", String, primary_key=True),
    Column("version", BigInteger, primary_key=True, autoincrement=False),
    Column("id", BigInteger, nullable=False),
    Column("deleted", Boolean, nullable=False),
    Column("registered_at", BigInteger, nullable=False),
    ForeignKeyConstraint(["context", "id"], ["schemas.context", "schemas.id"]),
    ForeignKeyConstraint(["context", "subject"], ["subjects.context", "subjects.subject"]),
    Index("versions_by_id", "context", "id"),
)

REFERENCES: Final = Table(
    "schema_references",
    METADATA,
    Column("context", String, primary_key=True),
    Column("id", BigInteger, primary_key=True, autoincrement=False),
    Column("name", String, primary_key=True),
    Column("to_context", String, nullable=False),
    Column("to_subject", String, nullable=False),
    Column("to_version", BigInteger, nullable=False),
    Index("references_by_target", "to_context", "to_subject", "to_version"),
)

SETTINGS: Final = Table(
    "settings",
    METADATA,
    Column("context", String, primary_key=True),
    Column("subject", String, primary_key=True),
    Column("kind", String, primary_key=True),
    Column("value", Text, nullable=False),
)
"""Config and mode, as JSON, of a subject, a context or the whole registry."""
