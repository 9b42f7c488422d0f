"""Document lint: that each document can be read, keeps to the vocabulary and is where it should be."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from cdc_contracts.registry.common import yaml_documents
from cdc_contracts.registry.common.errors import ContractError
from cdc_contracts.registry.contract import errata, source_documents
from cdc_contracts.registry.contract.catalogue import (
    AVRO_ENVELOPE,
    AVRO_MESSAGE_SCHEMA,
    CANONICAL,
    ENVELOPE,
    MESSAGE_SCHEMA,
    RESERVED,
    Version,
    system_folders,
)
from cdc_contracts.registry.lint.lint_rule import LintFault
from cdc_contracts.registry.lint.lint_targets import folders

if TYPE_CHECKING:
    from cdc_contracts.registry.contract.value_mappings import ValueMapping
    from cdc_contracts.registry.lint.lint_run import LintRun
    from cdc_contracts.registry.lint.lint_targets import Target

_NAME: Final = re.compile(r"[a-z0-9][a-z0-9-]*\Z")
_VERSION: Final = re.compile(r"v[1-9][0-9]*\Z")
_OWN_FILES: Final = ("contract.yaml", ENVELOPE, AVRO_ENVELOPE, MESSAGE_SCHEMA, AVRO_MESSAGE_SCHEMA)
_SAMPLE_FOLDERS: Final = ("drift", "tables")
_LONGEST: Final = 60


def documents_can_be_read(draft: LintRun) -> Iterator[LintFault]:
    """Every YAML and JSON file is one document in UTF-8 that names no key twice."""
    for version in draft.versions:
        for name in _OWN_FILES:
            file = version.folder.joinpath(name)
            if file.is_file():
                yield from _unreadable(file)
        samples = draft.samples[version.reference]
        for sample in samples:
            yield from _unreadable(sample.expectation)
    for file in (*draft.mapping_files, *draft.errata_files, *draft.documents_files):
        yield from _unreadable(file, is_list=file.name == errata.FILE)


def contracts_keep_to_the_vocabulary(draft: LintRun) -> Iterator[LintFault]:
    """Every key, value and named reading of a resolved contract is one of the vocabulary."""
    for version in draft.versions:
        file = version.folder.joinpath("contract.yaml")
        for parts, problem, found in draft.model_faults.get(version.reference, []):
            if not _is_inherited(draft, version, parts):
                yield LintFault(file, _lower(problem), _shown(found), parts)


def mappings_keep_to_the_vocabulary(draft: LintRun) -> Iterator[LintFault]:
    """Every mapping resolves, names known value forms, and gives one form to a type, spelled as it is looked up."""
    for file in draft.mapping_files:
        name = file.name.removesuffix(".yaml")
        mapping = draft.mappings.get(name)
        if mapping is None:
            yield from _broken_mapping(draft, file, name)
            continue
        inherited = set(_mapping_faults(file, draft.mappings.get(draft.mapping_bases.get(name, ""))))
        yield from (fault for fault in _mapping_faults(file, mapping) if fault not in inherited)


def names_match_folders(draft: LintRun) -> Iterator[LintFault]:
    """A contract, mapping, JSON Schema and Avro schema is called what its folder says."""
    for version in draft.versions:
        contract = version.folder.joinpath("contract.yaml")
        named = draft.own.get(version.reference, {}).get("contract")
        if version.reference in draft.own and named != version.reference:
            yield LintFault(contract, version.reference, _shown(named), ("contract",))
        schema = version.folder.joinpath(ENVELOPE)
        expected = f"urn:cdc-contracts:{version.subject.replace('/', ':')}:v{version.number}"
        found = draft.schemas.get(version.reference, {}).get("$id", expected)
        if schema.is_file() and found != expected and str(found).startswith("urn:cdc-contracts:"):
            yield LintFault(schema, expected, _shown(found), ("$id",))
        avro = version.folder.joinpath(AVRO_ENVELOPE)
        expected = f"cdc_contracts.{version.subject.replace('/', '.').replace('-', '_')}"
        record = draft.avro_schemas.get(version.reference)
        found = record.get("namespace", expected) if isinstance(record, dict) else expected
        if avro.is_file() and found != expected and str(found).startswith("cdc_contracts."):
            yield LintFault(avro, expected, _shown(found), ("namespace",))
    for file in draft.mapping_files:
        stem = file.name.removesuffix(".yaml")
        mapping = draft.mappings.get(stem)
        if mapping is not None and mapping.name != stem:
            yield LintFault(file, stem, mapping.name, ("mapping",))
        if str(draft.catalogue.mapping_file(stem)) != str(file):
            yield LintFault(file, "a name that no other mapping has", str(draft.catalogue.mapping_file(stem)))


def folders_are_complete(draft: LintRun) -> Iterator[LintFault]:
    """Folders are SYSTEM/DIALECT/vN with versions 1 to n, and hold the documents of a contract and nothing else."""
    for target in draft.targets.contracts:
        for system in system_folders(target.root):
            for dialect in folders(system):
                yield from _misnamed(target, system, dialect)
    for version in draft.versions:
        before = version.number - 1
        if before > 0 and before not in {one.number for one in draft.catalogue.versions(version.subject)}:
            yield LintFault(version.folder, f"v{before} before it", "no such version")
        yield from _incomplete(draft, version)
        meaning = draft.meanings.get(version.reference)
        yield from _strays(version.folder, meaning.avro.schemas if meaning and meaning.avro else ())


def errata_are_complete(draft: LintRun) -> Iterator[LintFault]:
    """Every erratum says which document, what it says, what it shows, the decision and why, under an id of its own."""
    for file in draft.errata_files:
        if not any(True for _ in _unreadable(file, is_list=True)):
            try:
                errata.read_errata_file(file)
            except ContractError as error:
                yield LintFault(file, error.hint or "an erratum with every member", error.what)


def source_documents_are_known(draft: LintRun) -> Iterator[LintFault]:
    """Every list of source documents is whole, and has every document that the contracts beside it come from."""
    for file in draft.documents_files:
        if any(True for _ in _unreadable(file)):
            continue
        try:
            listed = source_documents.read_documents_file(file).documents
        except ContractError as error:
            yield LintFault(file, "documents with title, vendor, product and sha256", error.what)
            continue
        for name, one in listed.items():
            for index, cited in enumerate(one.errata):
                if cited not in draft.errata:
                    parts = ("documents", name, "errata", str(index))
                    yield LintFault(file, "an entry of errata.yaml", cited, parts)
        root = str(file).removesuffix(source_documents.FILE)
        for version in draft.versions:
            provenance = draft.own.get(version.reference, {}).get("provenance")
            source = provenance.get("document") if isinstance(provenance, dict) else None
            if (
                source
                and version.subject != CANONICAL
                and str(version.folder).startswith(root)
                and source not in listed
            ):
                where = version.folder.joinpath("contract.yaml")
                yield LintFault(
                    where, f"a document of {source_documents.FILE}", str(source), ("provenance", "document")
                )


def table_contracts_hold_together(draft: LintRun) -> Iterator[LintFault]:
    """Every table contract names a table, types its columns, and takes its key from them."""
    from cdc_contracts.registry.contract.table_contracts import parse_table_contract

    found: list[Traversable] = [*draft.targets.tables]
    for version in draft.versions:
        found += draft.samples[version.reference].table_files
    tables: dict[tuple[str, str], Traversable] = {}
    for file in found:
        if faults := list(_unreadable(file)):
            yield from faults
            continue
        try:
            contract = parse_table_contract(_read_yaml(file), str(file))
        except ContractError as error:
            yield LintFault(file, "a table contract", error.what, tuple(error.what.partition(": ")[0].split(".")))
            continue
        folder = str(Path(str(file)).parent)
        if (folder, contract.table) in tables:
            yield LintFault(
                file, f"one contract for {contract.table}", f"another in {tables[folder, contract.table].name}"
            )
        tables[folder, contract.table] = file


def _unreadable(file: Traversable, *, is_list: bool = False) -> Iterator[LintFault]:
    try:
        if file.name.endswith(".yaml"):
            _read_yaml(file, is_list=is_list)
        else:
            _read_json(file)
    except UnicodeDecodeError:
        yield LintFault(file, "text in UTF-8", "other bytes")
    except ValueError as error:
        yield LintFault(file, "one JSON document", str(error))
    except ContractError as error:
        line = error.where.rpartition(":")[2]
        spot = (int(line), 1) if line.isdigit() and not is_list else None
        yield LintFault(file, "one YAML document", error.what.replace("\n", " "), spot=spot)


def _read_yaml(file: Traversable, *, is_list: bool = False) -> dict[str, Any]:
    try:
        text = file.read_text(encoding="utf-8")
    except OSError as error:
        raise ContractError(yaml_documents.describe_unread(error), where=str(file)) from error
    return yaml_documents.parse_document(f"list:\n{text}" if is_list else text, str(file))


def _refuse_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the members of a JSON object. Raises ValueError where a name stands twice."""
    members = dict(pairs)
    if len(members) != len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError("member `" + next(name for name in names if names.count(name) > 1) + "` stands twice")
    return members


def _read_json(file: Traversable) -> Any:
    """Return what a JSON file holds. Raises ValueError where it is no JSON or names a member twice."""
    return json.loads(file.read_text(encoding="utf-8"), object_pairs_hook=_refuse_twice)


def _broken_mapping(draft: LintRun, file: Traversable, name: str) -> Iterator[LintFault]:
    if any(True for _ in _unreadable(file)):
        return
    try:
        draft.catalogue.mapping(name)
    except ContractError as error:
        parts = tuple(error.what.partition(": ")[0].split(".")) if ": " in error.what else ()
        yield LintFault(file, "a value mapping", error.what, parts)
    except (TypeError, ValueError, AttributeError):
        yield LintFault(file, "a value mapping", "values of another kind")


def _mapping_faults(file: Traversable, mapping: ValueMapping | None) -> Iterator[LintFault]:
    """Yield the names in a resolved mapping that no value form has, and the types that are misplaced."""
    from cdc_contracts.registry.values import FORMS

    if mapping is None:
        return
    document = mapping.document
    named: list[tuple[tuple[str, ...], str]] = [(("forms", form), form) for form in document.forms]
    named += [(("invalid", form), form) for form in document.invalid if form not in document.forms]
    named += [(("zeros_left_out", str(index)), form) for index, form in enumerate(document.zeros_left_out)]
    named += [(("untyped", kind), form) for kind, form in document.untyped.items()]
    named += [(("default",), document.default)] if document.default is not None else []
    for parts, form in named:
        if form not in FORMS:
            yield LintFault(file, "a value form", form, parts)
    yield from _misplaced_types(file, mapping)


def _misplaced_types(file: Traversable, mapping: ValueMapping) -> Iterator[LintFault]:
    """Yield the source types that are never found, stand under two forms, or are aliases of nothing."""
    seen: dict[str, str] = {}
    for form, types in mapping.document.forms.items():
        for source_type in types:
            spelled = mapping.normalise(source_type)
            if spelled != source_type:
                yield LintFault(file, f"{spelled}, as types are looked up", source_type, ("forms", form))
            elif source_type in seen:
                yield LintFault(
                    file, f"{source_type} under one form", f"also under {seen[source_type]}", ("forms", form)
                )
            seen[source_type] = form
    for alias, source_type in mapping.document.aliases.items():
        if source_type not in seen and mapping.document.default is None:
            yield LintFault(file, "a type that has a form", source_type, ("aliases", alias))


def _misnamed(target: Target, system: Traversable, dialect: Traversable) -> Iterator[LintFault]:
    for folder in [] if dialect.name == RESERVED else folders(dialect):
        if target.covers(system.name, dialect.name, folder.name) and not _VERSION.match(folder.name):
            yield LintFault(folder, "vN, a version number from 1", folder.name)
    for folder in (system, dialect):
        if target.covers(system.name, dialect.name) and not _NAME.match(folder.name):
            yield LintFault(folder, "lower-case letters, digits and -", folder.name)


def _incomplete(draft: LintRun, version: Version) -> Iterator[LintFault]:
    if not version.folder.joinpath("contract.yaml").is_file():
        yield LintFault(version.folder, "a contract.yaml", "none")
    elif version.reference in draft.resolved:
        for name in (ENVELOPE, AVRO_ENVELOPE):
            if version.file(name) is None:
                yield LintFault(version.folder, f"a {name}, its own or of what it is based on", "none")


def _strays(folder: Traversable, schemas: tuple[str, ...]) -> Iterator[LintFault]:
    for entry in folder.iterdir():
        named = (*_OWN_FILES, *schemas)
        known = entry.name == "samples" if entry.is_dir() else entry.name in named or entry.name.endswith(".md")
        if not known and not entry.name.startswith("."):
            yield LintFault(entry, "a document of a contract, or samples/", entry.name)
    samples = folder.joinpath("samples")
    for entry in samples.iterdir() if samples.is_dir() else ():
        if entry.is_dir() and entry.name not in _SAMPLE_FOLDERS:
            yield LintFault(entry, "drift/ or tables/", entry.name)


def _is_inherited(draft: LintRun, version: Version, parts: tuple[str, ...]) -> bool:
    """Say whether the same fault stands in what a version is based on, and is reported there."""
    base = version.base
    if base is None or not draft.is_under_lint(base):
        return False
    return any(parts == other for other, _, _ in draft.model_faults.get(base.reference, []))


def _shown(value: Any) -> str:
    shown = "nothing" if value is None else str(value)
    return shown if len(shown) <= _LONGEST else shown[:_LONGEST] + "…"


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]
