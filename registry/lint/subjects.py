"""Lint of what a folder holds beside contracts: schemas of other subjects, and the settings of a registry."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from cdc_contracts.registry.catalogue import SUBJECTS
from cdc_contracts.registry.errors import CdcContractsError, UsageError
from cdc_contracts.registry.lint.rule import Fault
from cdc_contracts.registry.publishing.folders import (
    SETTINGS,
    SUFFIXES,
    folder_name,
    read_settings,
    read_subjects,
)
from cdc_contracts.registry.publishing.holdings import HeldSchema
from cdc_contracts.registry.publishing.locks import Lock
from cdc_contracts.registry.publishing.plans import referred
from cdc_contracts.registry.schema_documents import AVRO, JSON, read_schema

if TYPE_CHECKING:
    from cdc_contracts.registry.lint.draft import Draft


def subjects_can_be_registered(draft: Draft) -> Iterator[Fault]:
    """Every file below `subjects/` is a version of a subject that a registry would take, and so are the settings."""
    for target in draft.targets.contracts:
        root = Path(str(target.root))
        if target.parts or not root.is_dir():
            continue
        try:
            read_settings(root)
        except CdcContractsError as error:
            yield Fault(root / SETTINGS, error.mend or "settings of a registry", error.what)
        try:
            held = {schema.position: schema for schema in read_subjects(root, Lock())}
        except CdcContractsError as error:
            yield Fault(root / SUBJECTS, error.mend or "schemas of subjects", f"{error.what} ({error.where})")
            continue
        for schema in held.values():
            file = root / SUBJECTS / folder_name(schema.subject) / f"v{schema.version}{SUFFIXES[schema.type]}"
            missing = [one for one in referred(schema) if one not in held]
            for subject, version in missing:
                yield Fault(file, f"version {version} of {subject}, which it refers to", "none")
            if not missing and not schema.references:
                yield from _invalid(file, schema)


def _invalid(file: Path, schema: HeldSchema) -> Iterator[Fault]:
    if schema.type in (JSON, AVRO):
        try:
            read_schema(schema.text, type=schema.type, name=schema.subject, file=str(file))
        except UsageError as error:
            yield Fault(file, f"a schema of type {schema.type}", error.what)
