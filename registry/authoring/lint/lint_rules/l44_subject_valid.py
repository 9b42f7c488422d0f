from pathlib import Path

from cdc_contracts.registry.authoring.lint.lint_rule import Faults, LintFault, lint_rule
from cdc_contracts.registry.authoring.lint.lint_run import LintRun
from cdc_contracts.registry.authoring.sync.id_locks import Lock
from cdc_contracts.registry.authoring.sync.registry_contents import HeldSchema
from cdc_contracts.registry.authoring.sync.registry_folders import (
    SETTINGS,
    SUFFIXES,
    folder_name,
    read_settings,
    read_subjects,
)
from cdc_contracts.registry.authoring.sync.sync_plans import referred
from cdc_contracts.registry.core.common.errors import CdcContractsError, UsageError
from cdc_contracts.registry.core.common.findings import ERROR
from cdc_contracts.registry.core.contract.catalogue import SUBJECTS
from cdc_contracts.registry.core.schema.schema_documents import AVRO, JSON, read_schema


@lint_rule(
    ERROR,
    says="Checks that subjects/ holds valid schemas, that registry.yaml holds settings, and that all references "
    "resolve.",
    why="What a registry would reject during a deployment is better rejected before the merge.",
    good="subjects/orders-value/v1.json, a JSON Schema",
    bad="a reference to a version that subjects/ does not hold",
    ignorable=False,
)
def subjects_can_be_registered(run: LintRun) -> Faults:
    for target in run.targets.contracts:
        root = Path(str(target.root))
        if target.parts or not root.is_dir():
            continue
        try:
            read_settings(root)
        except CdcContractsError as error:
            yield LintFault(root / SETTINGS, error.hint or "settings of a registry", error.what)
        try:
            held = {schema.position: schema for schema in read_subjects(root, Lock())}
        except CdcContractsError as error:
            yield LintFault(root / SUBJECTS, error.hint or "schemas of subjects", f"{error.what} ({error.where})")
            continue
        for schema in held.values():
            file = root / SUBJECTS / folder_name(schema.subject) / f"v{schema.version}{SUFFIXES[schema.type]}"
            missing = [one for one in referred(schema) if one not in held]
            for subject, version in missing:
                yield LintFault(file, f"version {version} of {subject}, which it refers to", "none")
            if not missing and not schema.references:
                yield from _invalid(file, schema)


def _invalid(file: Path, schema: HeldSchema) -> Faults:
    if schema.type in (JSON, AVRO):
        try:
            read_schema(schema.text, type=schema.type, name=schema.subject, file=str(file))
        except UsageError as error:
            yield LintFault(file, f"a schema of type {schema.type}", error.what)
