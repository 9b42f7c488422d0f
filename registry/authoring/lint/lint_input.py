"""Lint input: the documents under lint, read once: contracts, meanings, schemas, mappings, errata, ignore comments.

Nothing here raises for an invalid contract: what cannot be read is missing from these mappings, and a rule reports why.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import date
from functools import cached_property
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, Final

import fastavro
from pydantic import ValidationError

from cdc_contracts.registry.authoring.lint.ignore_comments import Ignore, read_ignores
from cdc_contracts.registry.authoring.lint.lint_targets import Targets, files
from cdc_contracts.registry.authoring.lint.schema_keywords import schema_faults
from cdc_contracts.registry.core.common.document_errors import describe_misfits
from cdc_contracts.registry.core.common.errors import CdcContractsError
from cdc_contracts.registry.core.common.yaml_documents import parse_document, read_document
from cdc_contracts.registry.core.contract import errata, source_documents
from cdc_contracts.registry.core.contract.catalogue import (
    CANONICAL,
    ENVELOPE,
    Catalogue,
    Version,
    folders_in,
    shipped_catalogue,
    system_folders,
)
from cdc_contracts.registry.core.contract.key_examples import CONTRACT_EXAMPLES
from cdc_contracts.registry.core.contract.model import CanonicalMeaning, Meaning
from cdc_contracts.registry.core.contract.table_contracts import TableContract, parse_table_contract
from cdc_contracts.registry.core.contract.value_mappings import ValueMapping
from cdc_contracts.registry.core.message.avro_records import AvroError, Codec

CONTRACT: Final = "contract.yaml"
WRONG: Final = (CdcContractsError, TypeError, ValueError, AttributeError)
"""Exceptions that reading a malformed document may raise."""


class LintInput:
    """The documents of contracts under lint, among all contracts they may refer to."""

    def __init__(self, targets: Targets, beside: Sequence[Path], *, today: date) -> None:
        self.targets = targets
        self.today = today
        own = list(dict.fromkeys(target.root for target in targets.contracts))
        shipped = [root for root in shipped_catalogue().roots if not any(_is_same(root, one) for one in own)]
        self.catalogue = Catalogue([*shipped, *beside, *own])

    @cached_property
    def everything(self) -> tuple[Version, ...]:
        """Every version, the canonical change last."""
        return (*self.catalogue.all_versions(), *self.catalogue.versions(CANONICAL))

    @cached_property
    def versions(self) -> tuple[Version, ...]:
        """The versions under lint."""
        return tuple(
            version
            for version in self.everything
            if any(target.covers_version(version) for target in self.targets.contracts)
        )

    def is_under_lint(self, version: Version) -> bool:
        return version in self.versions

    @cached_property
    def mapping_files(self) -> tuple[Traversable, ...]:
        """The files of value mappings under lint."""
        found = []
        for target in self.targets.contracts:
            for system in system_folders(target.root):
                for types in folders_in(system):
                    if types.name == "types":
                        found += [file for file in files(types) if target.covers(system.name, types.name, file.name)]
        return tuple(found)

    @cached_property
    def errata_files(self) -> tuple[Traversable, ...]:
        """The errata files under lint."""
        found = [target.root.joinpath(errata.FILE) for target in self.targets.contracts if target.covers(errata.FILE)]
        return tuple(file for file in found if file.is_file())

    @cached_property
    def documents_files(self) -> tuple[Traversable, ...]:
        """The lists of source documents under lint."""
        name = source_documents.FILE
        found = [target.root.joinpath(name) for target in self.targets.contracts if target.covers(name)]
        return tuple(file for file in found if file.is_file())

    @cached_property
    def ignores(self) -> tuple[Ignore, ...]:
        """The comments under lint that ignore findings."""
        contracts = [version.folder.joinpath(CONTRACT) for version in self.versions]
        written = [*(file for file in contracts if file.is_file()), *self.mapping_files, *self.errata_files,
                   *self.documents_files]  # fmt: skip
        return tuple(one for file in (*written, *self.targets.tables) for one in read_ignores(file))

    @cached_property
    def tables(self) -> list[tuple[Path, TableContract]]:
        """The table contracts under lint that are consistent, and their files."""
        found = []
        for file in self.targets.tables:
            with suppress(*WRONG):
                found.append((file, parse_table_contract(read_document(file), str(file))))
        return found

    # --- documents

    @cached_property
    def own(self) -> dict[str, dict[str, Any]]:
        """The contract.yaml of each version as written."""
        return self._each(lambda version: self.catalogue.read(version.folder, CONTRACT))

    @cached_property
    def resolved(self) -> dict[str, dict[str, Any]]:
        return self._each(lambda version: version.resolved if version.reference in self.own else None)

    @cached_property
    def model_faults(self) -> dict[str, list[tuple[tuple[str, ...], str, Any]]]:
        """The errors in resolved contracts: where, what was expected, and what was found."""
        return {reference: faults for reference, (_, faults) in self._validated.items() if faults}

    @cached_property
    def meanings(self) -> dict[str, Meaning]:
        """The meaning of every valid version but the canonical change."""
        found = {reference: meaning for reference, (meaning, _) in self._validated.items()}
        return {reference: meaning for reference, meaning in found.items() if isinstance(meaning, Meaning)}

    @cached_property
    def schemas(self) -> dict[str, dict[str, Any]]:
        """The JSON Schema of each version, own or inherited."""
        return {reference: schema for reference, schema in self._schema_values.items() if isinstance(schema, dict)}

    @cached_property
    def no_schemas(self) -> set[str]:
        """The versions whose schema file holds JSON, but no object."""
        return self._schema_values.keys() - self.schemas.keys()

    @cached_property
    def schema_faults(self) -> dict[str, list[tuple[str, str]]]:
        """The errors in the own schema of a version: pointer and problem."""
        return {
            version.reference: found
            for version in self.everything
            if version.reference in self.schemas
            and version.folder.joinpath(ENVELOPE).is_file()
            and (found := list(schema_faults(self.schemas[version.reference])))
        }

    @cached_property
    def valid_schemas(self) -> dict[str, dict[str, Any]]:
        """The JSON Schema of each version, own or inherited, that is well formed."""
        return {
            version.reference: self.schemas[version.reference]
            for version in self.everything
            if version.reference in self.schemas and _owner(version).reference not in self.schema_faults
        }

    @cached_property
    def avro_schemas(self) -> dict[str, Any]:
        """The Avro schema of each version, own or inherited."""
        return self._each(lambda version: version.avro_schema)

    @cached_property
    def avro_faults(self) -> dict[str, str]:
        """The error in the Avro schema of a version under lint, own or inherited."""
        return {reference: problem for reference, (_, problem) in self._compiled.items() if problem}

    @cached_property
    def codecs(self) -> dict[str, Codec]:
        """The codec of each version under lint whose messages are JSON."""
        return {reference: codec for reference, (codec, _) in self._compiled.items() if codec}

    @cached_property
    def mappings(self) -> dict[str, ValueMapping]:
        """The value mappings that are consistent, by name."""
        found = {}
        for name in self.catalogue.mapping_names():
            try:
                found[name] = self.catalogue.mapping(name)
            except WRONG:
                continue
        return found

    @cached_property
    def mapping_bases(self) -> dict[str, str]:
        """The mappings under lint that the mappings under lint are based on."""
        found = {}
        own = {file.name.removesuffix(".yaml") for file in self.mapping_files}
        for file in self.mapping_files:
            try:
                base = parse_document(file.read_text(encoding="utf-8"), str(file)).get("based_on")
            except WRONG:
                continue
            if isinstance(base, str) and base in own:
                found[file.name.removesuffix(".yaml")] = base
        return found

    @cached_property
    def errata(self) -> set[str]:
        """The ids of all errata."""
        known: set[str] = set()
        for root in self.catalogue.roots:
            try:
                known |= {entry.id for entry in errata.read_errata_file(root.joinpath(errata.FILE))}
            except CdcContractsError:
                continue
        return known

    # --- details

    @cached_property
    def _schema_values(self) -> dict[str, Any]:
        return self._each(lambda version: version.written_schema if version.written_schema is not None else False)

    @cached_property
    def _compiled(self) -> dict[str, tuple[Codec | None, str]]:
        found: dict[str, tuple[Codec | None, str]] = {}
        for version in self.versions:
            meaning, schema = self.meanings.get(version.reference), self.avro_schemas.get(version.reference)
            if schema is None:
                continue
            try:
                if meaning is not None and meaning.transport == "json":
                    found[version.reference] = (Codec(schema), "")
                else:
                    fastavro.parse_schema(schema)
            except AvroError as error:
                found[version.reference] = (None, str(error))
            except Exception as error:  # noqa: BLE001  fastavro raises a dozen kinds
                found[version.reference] = (None, str(error))
        return found

    @cached_property
    def _validated(self) -> dict[str, tuple[Any, list[tuple[tuple[str, ...], str, Any]]]]:
        found: dict[str, tuple[Any, list[tuple[tuple[str, ...], str, Any]]]] = {}
        for version in self.everything:
            document = self.resolved.get(version.reference)
            if document is None:
                continue
            kind = CanonicalMeaning if version.subject == CANONICAL else Meaning
            try:
                found[version.reference] = (kind.model_validate(document), [])
            except ValidationError as error:
                faults = describe_misfits(error, kind, document, CONTRACT_EXAMPLES)
                found[version.reference] = (None, [(one.parts, one.expected, one.found) for one in faults])
        return found

    def _each(self, read: Callable[[Version], Any]) -> dict[str, Any]:
        """Return what can be read from every version, by its reference."""
        found = {}
        for version in self.everything:
            try:
                value = read(version)
            except WRONG:
                continue
            if value is not None:
                found[version.reference] = value
        return found


def _owner(version: Version) -> Version:
    """Return the version whose schema file a version uses."""
    while not version.folder.joinpath(ENVELOPE).is_file() and version.base is not None:
        version = version.base
    return version


def _is_same(left: Traversable, right: Traversable) -> bool:
    return Path(str(left)).resolve() == Path(str(right)).resolve()
