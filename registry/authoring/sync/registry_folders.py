"""Registry folders: the contents of a registry as a folder of files, read and written.

SYSTEM/DIALECT/vN/         contracts, as in the catalogue
tables/*.yaml              table contracts
subjects/SUBJECT/vN.json   a schema that is not a contract, byte for byte; .avsc for Avro, .proto for Protobuf
subjects/SUBJECT/vN.yaml   what the schema text cannot hold: references, metadata, ruleSet, deleted
registry.yaml              configuration and mode of the whole registry, of contexts and of subjects
ids.lock                   the id of every schema
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from cdc_contracts.registry.authoring.sync.id_locks import Lock, read_lock, subject_key, write_lock
from cdc_contracts.registry.authoring.sync.publications import open_own_versions, publish_version
from cdc_contracts.registry.authoring.sync.registry_contents import (
    GLOBAL,
    LEVELS,
    HeldSchema,
    Holdings,
    ScopeSettings,
)
from cdc_contracts.registry.authoring.sync.subject_names import decode_subject, encode_subject
from cdc_contracts.registry.core.common import yaml_documents
from cdc_contracts.registry.core.common.atomic_files import make_folder, write_whole
from cdc_contracts.registry.core.common.errors import ContractError, UsageError
from cdc_contracts.registry.core.contract.catalogue import SUBJECTS
from cdc_contracts.registry.core.schema.schema_documents import AVRO, JSON

SETTINGS: Final = "registry.yaml"
SUFFIXES: Final[Mapping[str, str]] = {JSON: ".json", AVRO: ".avsc", "PROTOBUF": ".proto"}
_TYPES: Final = {suffix: kind for kind, suffix in SUFFIXES.items()}
_WORDS: Final = ("compatibility", "compatibilityPolicy")
"""Settings whose values a registry has in capitals; any case is accepted."""
_BESIDE: Final = {"references", "metadata", "ruleSet", "deleted", "subject"}
_VERSION: Final = re.compile(r"v([1-9][0-9]{0,9})\Z")
_LONGEST: Final = 180
"""Longer folder names are shortened; most file systems allow 255 bytes."""
_UNCHECKED: Final = ScopeSettings(
    {"compatibility": "NONE"},
    why=f"a new version of a contract may break the one before it; set another level in {SETTINGS}",
)
"""A registry must not refuse what a new product version changes; `breaking` is what compares contracts."""
_AS_THEY_ARE: Final = "* -text\n"
"""Git must not convert line endings in the text of a schema."""


def check_folder(root: Path) -> None:
    """Raise UsageError if there is no such folder."""
    if not root.is_dir():
        raise UsageError(
            f"there is no folder {root}", hint="Give a folder of contracts, or what `registry dump` wrote."
        )


def read_folder(root: Path) -> tuple[Holdings, Lock]:
    """Return what a registry should hold according to a folder, and the ids.

    Raises ContractError if a file is invalid, UsageError if the folder holds nothing.
    """
    check_folder(root)
    lock = read_lock(root)
    holdings = Holdings(settings=read_settings(root))
    for publication in (one for version in open_own_versions(root) for one in publish_version(version)):
        holdings.settings.setdefault(publication.subject, _UNCHECKED)
        holdings.add(
            HeldSchema(
                publication.subject, publication.key.version, publication.key.type, publication.text,
                lock.id_of(publication.key), metadata=publication.metadata, contract=publication.key,
            )
        )  # fmt: skip
    for schema in read_subjects(root, lock):
        if schema.position in holdings.schemas:
            where = str(root / SUBJECTS / folder_name(schema.subject))
            raise ContractError(f"version {schema.version} of {schema.subject} is also a contract", where=where)
        holdings.add(schema)
    if not holdings.schemas and not holdings.settings:
        raise UsageError(f"{root} contains nothing for a registry", hint=f"Use contracts, {SUBJECTS}/ or {SETTINGS}.")
    return holdings, lock


def read_subjects(root: Path, lock: Lock) -> Iterator[HeldSchema]:
    """Yield the schemas of a folder that are not contracts. Raises ContractError for a misplaced file."""
    parent = root / SUBJECTS
    for folder in sorted(parent.iterdir()) if parent.is_dir() else ():
        if folder.is_dir() and not folder.name.startswith("."):
            for file in sorted(folder.iterdir()):
                if file.suffix in _TYPES and not file.name.startswith("."):
                    yield _read_schema(file, lock)
                elif not file.name.startswith(".") and not any(file.with_suffix(one).is_file() for one in _TYPES):
                    raise ContractError(
                        f"{file.name} has no schema", where=str(folder), hint="Name it vN.json or vN.avsc."
                    )


def read_settings(root: Path) -> dict[str, ScopeSettings]:
    """Return the settings of each scope named in `registry.yaml`. Raises ContractError if the file is invalid."""
    file = root / SETTINGS
    if not file.is_file():
        return {}
    document = yaml_documents.parse_values(_read_text(file), str(file))
    unknown = document.keys() - {"global", "contexts", "subjects"}
    if unknown:
        raise ContractError(
            f"`{min(unknown)}` is not allowed here", where=str(file), hint="Use one of global, contexts, subjects."
        )
    found = {}
    if document.get("global") is not None:
        found[GLOBAL] = _scope_settings(document["global"], f"{file}: global")
    for section, pattern in (("contexts", ":{}:"), ("subjects", "{}")):
        for name, given in (document.get(section) or {}).items():
            found[pattern.format(name)] = _scope_settings(given, f"{file}: {name}")
    return found


def write_folder(root: Path, holdings: Holdings, lock: Lock) -> None:
    """Write everything a registry holds into a folder; files of subjects that are gone are deleted, last of all.

    Raises UnavailableError if something cannot be written.
    """
    make_folder(root)
    before = {file for file in (root / SUBJECTS).rglob("*") if not file.is_dir() or file.is_symlink()}
    written = {file for position in sorted(holdings.schemas) for file in write_schema(root, holdings.schemas[position])}
    write_settings(root, holdings.settings)
    write_lock(root, lock)
    for file in before - written:
        file.unlink()
        with suppress(OSError):  # the folder holds something else
            file.parent.rmdir()


def write_schema(root: Path, schema: HeldSchema) -> set[Path]:
    """Write the files of one version, and return them. Raises UsageError for a schema type without a file suffix."""
    if schema.type not in SUFFIXES:
        raise UsageError(
            f"{schema.subject} version {schema.version} is of type {schema.type}, which cannot be written as a file"
        )
    name = folder_name(schema.subject)
    folder = root / SUBJECTS / name
    make_folder(folder)
    beside = {
        "references": [dict(one) for one in schema.references],
        "metadata": schema.metadata,
        "ruleSet": schema.rule_set,
        "deleted": schema.deleted,
        "subject": schema.subject if decode_subject(name) != schema.subject else None,
    }
    said = {key: value for key, value in beside.items() if value}
    attributes = root / SUBJECTS / ".gitattributes"
    files = {folder / f"v{schema.version}{SUFFIXES[schema.type]}": schema.text.encode("utf-8", "surrogatepass")}
    if said:
        files[folder / f"v{schema.version}.yaml"] = yaml_documents.write_values(said).encode()
    if not attributes.is_file() or attributes.read_bytes() != _AS_THEY_ARE.encode():
        write_whole(attributes, _AS_THEY_ARE.encode())
    for file, content in files.items():
        write_whole(file, content)
    for suffix in (*_TYPES, ".yaml"):
        if (file := folder / f"v{schema.version}{suffix}") not in files:
            file.unlink(missing_ok=True)
    return {attributes, *files}


def write_settings(root: Path, settings: Mapping[str, ScopeSettings]) -> None:
    """Write `registry.yaml`. Raises UnavailableError if it cannot be written."""
    document: dict[str, Any] = {}
    for scope, one in settings.items():
        said = {key: value for key, value in (("config", one.config), ("mode", one.mode)) if value is not None}
        if not said:
            continue
        if scope == GLOBAL:
            document["global"] = said
        elif scope.startswith(":.") and scope.endswith(":") and scope.count(":") == 2:  # noqa: PLR2004
            document.setdefault("contexts", {})[scope.strip(":")] = said
        else:
            document.setdefault("subjects", {})[scope] = said
    write_whole(root / SETTINGS, yaml_documents.write_values(document).encode())


def folder_name(subject: str) -> str:
    """Return the name of a subject's folder: percent-encoded; a very long one is shortened and ends in a digest."""
    name = encode_subject(subject).replace("~", "%7E")
    if len(name) <= _LONGEST:
        return name
    digest = hashlib.sha256(subject.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{name[:_LONGEST]}~{digest[:16]}"


def _read_schema(file: Path, lock: Lock) -> HeldSchema:
    match = _VERSION.match(file.stem)
    if match is None:
        raise ContractError(
            f"{file.name} is not named after a version", where=str(file.parent), hint="Name it v1, v2 and so on."
        )
    beside = file.with_suffix(".yaml")
    said = yaml_documents.parse_values(_read_text(beside), str(beside)) if beside.is_file() else {}
    unknown = said.keys() - _BESIDE
    if unknown:
        raise ContractError(
            f"`{min(unknown)}` is not allowed here", where=str(beside), hint=f"Known are {', '.join(sorted(_BESIDE))}."
        )
    others = [one.name for one in file.parent.glob(f"{file.stem}.*") if one.suffix in _TYPES and one != file]
    if others:
        raise ContractError(f"{file.name} and {others[0]} are the same version", where=str(file.parent))
    subject, version, kind = (
        str(said.get("subject", decode_subject(file.parent.name))),
        int(match[1]),
        _TYPES[file.suffix],
    )
    return HeldSchema(
        subject, version, kind, _read_text(file), lock.id_of(subject_key(subject, version, kind)),
        references=tuple(said.get("references") or ()), metadata=said.get("metadata"), rule_set=said.get("ruleSet"),
        deleted=bool(said.get("deleted")),
    )  # fmt: skip


def _scope_settings(given: Any, where: str) -> ScopeSettings:
    if not isinstance(given, dict) or given.keys() - {"config", "mode"}:
        raise ContractError("a scope has `config` and `mode`", where=where)
    config, mode = given.get("config"), given.get("mode")
    if not isinstance(config, dict | None) or not isinstance(mode, str | None):
        raise ContractError("`config` must be a mapping and `mode` a word", where=where)
    if config is not None:
        config = {LEVELS.get(key, key): value for key, value in config.items()}
        config |= {key: value.upper() for key, value in config.items() if key in _WORDS and isinstance(value, str)}
    return ScopeSettings(config, None if mode is None else mode.upper())


def _read_text(file: Path) -> str:
    try:
        return file.read_bytes().decode("utf-8", "surrogatepass")
    except (OSError, UnicodeDecodeError) as error:
        raise ContractError(f"cannot be read: {error}", where=str(file)) from error
