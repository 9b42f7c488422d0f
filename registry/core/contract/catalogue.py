"""The catalogue: every contract in one or more folders, resolved once."""

from __future__ import annotations

import difflib
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import TYPE_CHECKING, Any

from cdc_contracts.registry.core.common import yaml_documents
from cdc_contracts.registry.core.common.contract_references import (
    ContractReference,
    is_release_or_date,
    parse_reference,
    release_order,
)
from cdc_contracts.registry.core.common.errors import ContractError, UsageError
from cdc_contracts.registry.core.common.json_files import parse_json_file
from cdc_contracts.registry.core.common.linear_patterns import refuse_endless_patterns
from cdc_contracts.registry.core.common.subschemas import without_kind

if TYPE_CHECKING:
    from cdc_contracts.registry.core.contract.model import Meaning
    from cdc_contracts.registry.core.contract.source_documents import SourceDocument
    from cdc_contracts.registry.core.contract.value_mappings import ValueMapping

CANONICAL = "canonical/change"
RESERVED = "types"
SUBJECTS = "subjects"
TABLES = "tables"
_BESIDE = (SUBJECTS, TABLES)
"""Folders beside those of systems: schemas that are no contracts, and table contracts."""
ENVELOPE = "envelope.schema.json"
AVRO_ENVELOPE = "envelope.avsc"
MESSAGE_SCHEMA = "message.schema.json"
AVRO_MESSAGE_SCHEMA = "message.avsc"
"""The last two are written from the others."""
_MAX_BASES = 16


@dataclass(frozen=True, eq=False)
class Version:
    """One version of a subject: its folder, and its documents as far as they are asked for."""

    catalogue: Catalogue
    subject: str
    number: int
    folder: Traversable

    @property
    def reference(self) -> str:
        return f"{self.subject}@{self.number}"

    def __str__(self) -> str:
        return self.reference

    @cached_property
    def resolved(self) -> dict[str, Any]:
        """The whole `contract.yaml`, with what it is based on merged in."""
        document = self.catalogue.read(self.folder, "contract.yaml")
        based_on = document.pop("based_on", None)
        if based_on is None:
            return yaml_documents.without_nulls(document)
        return yaml_documents.merge(self.catalogue.base(based_on, self.reference).resolved, document)

    @cached_property
    def base(self) -> Version | None:
        """The version that this one is based on."""
        based_on = self.catalogue.read(self.folder, "contract.yaml").get("based_on")
        return None if based_on is None else self.catalogue.base(based_on, self.reference)

    @cached_property
    def meaning(self) -> Meaning:
        """The resolved document as a checked value. Raises ContractError if it breaks the vocabulary."""
        from cdc_contracts.registry.core.contract.model import Meaning

        return Meaning.checked(self.resolved, self.reference)

    @cached_property
    def written_schema(self) -> Any:
        """The JSON Schema of the envelope as it is written: the version's own file, else that of its base."""
        return self.read_json(ENVELOPE)

    @cached_property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema of the envelope: the shape that validation begins with, and that messages are written by.

        Images that may be texts are objects here, as they are opened first.
        Raises ContractError if it holds a pattern that messages cannot be matched with in linear time.
        """
        refuse_endless_patterns(self.written_schema, where=str(self.file(ENVELOPE)))
        schema: dict[str, Any] = self.written_schema
        if self.subject == CANONICAL or not self.meaning.images.are_texts:
            return schema
        return without_kind(schema, self.meaning.images.pointers(), "string")

    @cached_property
    def avro_schema(self) -> Any:
        """The Avro schema of the envelope: the version's own file, else that of its base."""
        return self.read_json(AVRO_ENVELOPE)

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 over everything that decides how a message of this version is validated."""
        parts = [self.resolved, self.schema, self.avro_schema]
        if self.subject != CANONICAL:
            parts += [self.catalogue.mapping(name).document.identity() for name in self.mapping_names()]
        text = json.dumps(parts, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()

    @cached_property
    def source(self) -> str | None:
        """Where the facts of the version come from: title, section and address of the vendor's document."""
        from cdc_contracts.registry.core.contract.source_documents import describe_source

        return describe_source(self.resolved.get("provenance", {}), self.catalogue.source_documents)

    def mapping_names(self) -> tuple[str, ...]:
        """Return the names of the value mappings that the version may use, in order."""
        choice = self.meaning.values.mapping
        if isinstance(choice, str):
            return (choice,)
        return tuple(
            dict.fromkeys([*choice.map.values(), *([choice.otherwise] if choice.otherwise != "parameter" else [])])
        )

    def file(self, name: str) -> Traversable | None:
        """Return the file of that name, own or inherited, or None."""
        own = self.folder.joinpath(name)
        if own.is_file():
            return own
        return self.base.file(name) if self.base else None

    def read_json(self, name: str) -> Any:
        """Return the value of a JSON file, own or inherited. Raises ContractError if there is none."""
        found = self.file(name)
        if found is None:
            raise ContractError(f"{self.reference} has no {name}", where=str(self.folder))
        try:
            return parse_json_file(yaml_documents.read_text(found))
        except ValueError as error:
            raise ContractError(f"not readable as JSON: {error}", where=str(found)) from error


class Catalogue:
    """All subjects and versions below some folders; a later folder adds to the earlier ones."""

    def __init__(self, roots: Sequence[Traversable]) -> None:
        self._roots = tuple(roots)
        self._versions: dict[str, dict[int, Version]] = {}
        self._mapping_files: dict[str, Traversable] = {}
        self._mappings: dict[str, ValueMapping] = {}
        self._documents: dict[str, dict[str, Any]] = {}
        for root in self._roots:
            self._scan(root)

    @property
    def roots(self) -> tuple[Traversable, ...]:
        return self._roots

    def with_root(self, root: Traversable) -> Catalogue:
        """Return the catalogue with one folder more; what is resolved is shared, if the folder replaces none of it."""
        added, known = Catalogue([root]), self._versions
        numbers = [versions.keys() & known.get(subject, {}).keys() for subject, versions in added._versions.items()]
        if any(numbers) or added._mapping_files.keys() & self._mapping_files.keys():
            return Catalogue([*self._roots, root])
        found = Catalogue([])
        found._roots, found._mapping_files = (*self._roots, root), self._mapping_files | added._mapping_files
        found._mappings, found._documents, found._versions = dict(self._mappings), dict(self._documents), dict(known)
        for subject, versions in added._versions.items():
            numbered = known.get(subject, {}) | versions
            found._versions[subject] = {number: replace(one, catalogue=found) for number, one in numbered.items()}
        return found

    @cached_property
    def source_documents(self) -> Mapping[str, SourceDocument]:
        """The vendors' documents by file name. Raises ContractError if `documents.yaml` is not as it should be."""
        from cdc_contracts.registry.core.contract.source_documents import read_source_documents

        return read_source_documents(self._roots)

    def subjects(self) -> list[str]:
        """Return the subjects in catalogue order, without the canonical change."""
        return sorted(subject for subject in self._versions if subject != CANONICAL)

    def versions(self, subject: str) -> list[Version]:
        """Return the versions of a subject, lowest first. Raises UsageError if there is no such subject."""
        if subject not in self._versions:
            raise self._unknown(subject)
        return [self._versions[subject][number] for number in sorted(self._versions[subject])]

    def all_versions(self) -> Iterator[Version]:
        """Yield every version of every subject, in catalogue order."""
        for subject in self.subjects():
            yield from self.versions(subject)

    @property
    def canonical(self) -> Version:
        """The contract of the canonical change."""
        return self.versions(CANONICAL)[-1]

    def resolve(self, text: str) -> list[Version]:
        """Return the versions that a reference means: one, or all of the subject without a selector.

        Raises UsageError if the subject or the version does not exist, naming the nearest that does.
        """
        reference = parse_reference(text)
        versions = self.versions(reference.subject)
        if reference.selector is None:
            return versions
        return [self._select(reference, versions)]

    def version(self, text: str) -> Version:
        """Return the one version that a reference names; a bare subject means its latest."""
        return self.resolve(text)[-1]

    def base(self, text: str, child: str) -> Version:
        """Return the version that `child` is based on. Raises ContractError if that is no version."""
        reference = _parse_base(text, child)
        number = reference.selector
        found = self._versions.get(reference.subject, {}).get(int(number)) if number and number.isdigit() else None
        if found is None:
            raise ContractError(f"`based_on: {text}` names no version", where=child, hint="Write SYSTEM/DIALECT@N.")
        seen, step = {child}, found
        for _ in range(_MAX_BASES):
            if step.reference in seen:
                raise ContractError(f"`based_on` is cyclic at {step}", where=child)
            seen.add(step.reference)
            above = self.read(step.folder, "contract.yaml").get("based_on")
            if above is None:
                return found
            parent = _parse_base(above, step.reference)
            following = self._versions.get(parent.subject, {}).get(int(parent.selector or 0))
            if following is None:
                raise ContractError(f"`based_on: {above}` names no version", where=step.reference)
            step = following
        raise ContractError(f"`based_on` is more than {_MAX_BASES} deep", where=child)

    def mapping(self, name: str) -> ValueMapping:
        """Return the value mapping of that name, resolved.

        Raises ContractError if there is none, or where it names a value form that does not exist.
        """
        if name not in self._mappings:
            from cdc_contracts.registry.core.values import FORMS

            mapping = self.unchecked_mapping(name)
            for parts, form in mapping.unknown_forms():
                near = difflib.get_close_matches(form, FORMS, 1)
                raise ContractError(
                    f"{'.'.join(parts)}: there is no value form `{form}`",
                    where=f"types/{name}.yaml",
                    hint=f"Did you mean {near[0]}?" if near else "",
                )
            self._mappings[name] = mapping
        return self._mappings[name]

    def unchecked_mapping(self, name: str) -> ValueMapping:
        """Return the value mapping of that name, even if value forms that it names do not exist."""
        from cdc_contracts.registry.core.contract.column_model import MappingDocument
        from cdc_contracts.registry.core.contract.value_mappings import ValueMapping

        return ValueMapping(MappingDocument.checked(self.resolved_mapping(name), f"types/{name}.yaml"))

    def resolved_mapping(self, name: str) -> dict[str, Any]:
        """Return the document of a value mapping, whole. Raises ContractError if there is none."""
        return self._resolved_mapping(name, ())

    def mapping_names(self) -> list[str]:
        """Return the names of all value mappings."""
        return sorted(self._mapping_files)

    def mapping_file(self, name: str) -> Traversable:
        """Return the file of a value mapping. Raises ContractError if there is none."""
        if name not in self._mapping_files:
            near = difflib.get_close_matches(name, self._mapping_files, 1)
            hint = f"Did you mean {near[0]}?" if near else ""
            raise ContractError(f"there is no value mapping `{name}`", hint=hint)
        return self._mapping_files[name]

    def read(self, folder: Traversable, name: str) -> dict[str, Any]:
        """Return a YAML document of the catalogue as a fresh mapping, read once."""
        found = folder.joinpath(name)
        key = str(found)
        if key not in self._documents:
            if not found.is_file():
                raise ContractError(f"there is no {name}", where=str(folder))
            self._documents[key] = yaml_documents.parse_document(yaml_documents.read_text(found), key)
        return dict(self._documents[key])

    def _resolved_mapping(self, name: str, children: tuple[str, ...]) -> dict[str, Any]:
        found = self.mapping_file(name)
        if name in children:
            raise ContractError("`based_on` is cyclic", where=str(found))
        document = yaml_documents.read_document(found)
        based_on = document.pop("based_on", None)
        if based_on is None:
            return yaml_documents.without_nulls(document)
        return yaml_documents.merge(self._resolved_mapping(based_on, (*children, name)), document)

    def _scan(self, root: Traversable) -> None:
        for system in system_folders(root):
            for dialect in folders_in(system):
                if dialect.name == RESERVED:
                    self._mapping_files |= {
                        file.name.removesuffix(".yaml"): file
                        for file in dialect.iterdir()
                        if file.name.endswith(".yaml")
                    }
                    continue
                subject = f"{system.name}/{dialect.name}"
                for folder in folders_in(dialect):
                    if folder.name[:1] == "v" and folder.name[1:].isdigit():
                        number = int(folder.name[1:])
                        self._versions.setdefault(subject, {})[number] = Version(self, subject, number, folder)

    def _select(self, reference: ContractReference, versions: list[Version]) -> Version:
        selector = reference.selector or "latest"
        if selector == "latest":
            return versions[-1]
        if is_release_or_date(selector):
            for version in reversed(versions):
                if _holds_at(version, selector):
                    return version
            raise UsageError(
                f"no version of {reference.subject} applies at {selector}",
                hint=f"Known are {', '.join(f'@{v.number} {span(v)}' for v in versions)}.",
            )
        for version in versions:
            if version.number == int(selector):
                return version
        raise UsageError(
            f"{reference.subject} has no version {selector}", hint=f"Did you mean {versions[-1].reference}?"
        )

    def _unknown(self, subject: str) -> UsageError:
        near = difflib.get_close_matches(subject, self._versions, 1, cutoff=0.4)
        hint = f"Did you mean {near[0]}?" if near else "`cdc-contracts list` shows all."
        return UsageError(f"there is no contract `{subject}`", hint=hint)


def _parse_base(text: Any, child: str) -> ContractReference:
    reference = parse_reference(str(text))
    if reference.selector is not None and not reference.selector.isdigit():
        raise ContractError(f"`based_on: {text}` names no version", where=child, hint="Write SYSTEM/DIALECT@N.")
    return reference


@cache
def shipped_catalogue() -> Catalogue:
    """Return the catalogue that comes with the package; a process reads each of its files once."""
    return Catalogue([files("cdc_contracts.contracts")])


def span(version: Version) -> str:
    """Return what a version applies to, as a person reads it."""
    return describe_range(version.resolved.get("applies", {}))


def describe_range(applies: Mapping[str, Any]) -> str:
    """Return a range of releases or dates, as a person reads it."""
    since, until = applies.get("since"), applies.get("until")
    if since and until:
        return f"from {since}, before {until}"
    return f"from {since}" if since else f"before {until}" if until else "always"


def _holds_at(version: Version, selector: str) -> bool:
    applies = version.resolved.get("applies", {})
    since, until = applies.get("since"), applies.get("until")
    for bound in (since, until):
        if bound is not None and ("-" in bound) != ("-" in selector):
            return False
    at = release_order(selector)
    return (since is None or release_order(since) <= at) and (until is None or at < release_order(until))


def system_folders(root: Traversable) -> list[Traversable]:
    """Return the folders of systems in a folder of contracts."""
    return [folder for folder in folders_in(root) if folder.name not in _BESIDE]


def reserved_name(subject: str) -> str | None:
    """Return the part of SYSTEM/DIALECT below which no contract is found; None if there is none."""
    system, dialect = subject.split("/")
    if subject == CANONICAL:
        return subject
    return system if system in _BESIDE else dialect if dialect == RESERVED else None


def folders_in(folder: Traversable) -> list[Traversable]:
    """Return the folders below one, by name; hidden ones and those of Python are left out."""
    found = [entry for entry in folder.iterdir() if entry.is_dir() and entry.name[:1] not in "._"]
    return sorted(found, key=lambda entry: entry.name)
