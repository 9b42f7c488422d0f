"""Lint targets: what a path given to lint refers to: a folder of contracts or a part of one, or table contracts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Final

from cdc_contracts.registry.core.common.errors import UsageError
from cdc_contracts.registry.core.contract.catalogue import (
    AVRO_ENVELOPE,
    ENVELOPE,
    RESERVED,
    SUBJECTS,
    TABLES,
    Version,
    shipped_catalogue,
)
from cdc_contracts.registry.core.contract.errata import FILE as ERRATA
from cdc_contracts.registry.core.contract.source_documents import FILE as DOCUMENTS

DEFAULT: Final = Path("contracts")
_DEPTHS: Final = ("*/*/v*/contract.yaml", "*/v*/contract.yaml", "v*/contract.yaml", "contract.yaml")


@dataclass(frozen=True)
class Target:
    """A root of contracts and the part of it that is under lint, as a path of folder names."""

    root: Traversable
    parts: tuple[str, ...] = ()

    def covers(self, *parts: str) -> bool:
        """Return whether a path of folder names is under lint."""
        return parts[: len(self.parts)] == self.parts

    def covers_version(self, version: Version) -> bool:
        """Return whether a version is in this root, and under lint."""
        parts = (*version.subject.split("/"), version.folder.name)
        return str(self.root.joinpath(*parts)) == str(version.folder) and self.covers(*parts)


@dataclass(frozen=True)
class Targets:
    """Everything that the paths of one call name."""

    contracts: tuple[Target, ...]
    tables: tuple[Path, ...]
    shipped: bool = False
    """Whether nothing was named or found, so that these are the shipped contracts."""


def find_targets(paths: Sequence[Path], *, or_shipped: bool = False) -> Targets:
    """Return what some paths name; without any, `./contracts`, or the shipped contracts if it holds none.

    Raises UsageError if a path is missing or names nothing that lint knows, and where there is neither a path nor a
    contract in `./contracts`, unless `or_shipped`.
    """
    if not paths:
        if next(DEFAULT.glob(_DEPTHS[0]), None) is not None:
            return Targets((Target(DEFAULT),), tuple(sorted((DEFAULT / TABLES).rglob("*.yaml"))))
        if not or_shipped:
            raise UsageError(f"no contracts in ./{DEFAULT}", hint="Name the folder that contains them.")
        return Targets(tuple(Target(root) for root in shipped_catalogue().roots), (), shipped=True)
    contracts: list[Target] = []
    tables: list[Path] = []
    for path in paths:
        if not path.exists():
            raise UsageError(f"there is no file or folder {path}")
        target = _folder_target(path) if path.is_dir() else _file_target(path)
        if target is not None:
            contracts.append(target)
            tables += sorted((path / TABLES).rglob("*.yaml")) if target.parts == () and path.is_dir() else []
        else:
            tables += _table_files(path)
    return Targets(tuple(contracts), tuple(tables))


def files(folder: Traversable) -> list[Traversable]:
    """Return the files in a folder, by name; hidden ones are left out."""
    found = [entry for entry in folder.iterdir() if entry.is_file() and entry.name[:1] != "."]
    return sorted(found, key=lambda entry: entry.name)


def _folder_target(folder: Path) -> Target | None:
    """Return the target of a root, system, dialect, version or types folder; None if it is none of these."""
    if folder.resolve().name == RESERVED and any(folder.glob("*.yaml")):
        return _below(folder, 2)
    for height, pattern in enumerate(_DEPTHS):
        if next(folder.glob(pattern), None) is not None:
            return _below(folder, height)
    if any(folder.glob(f"*/{RESERVED}/*.yaml")) or any(folder.glob(f"{SUBJECTS}/*/v*")):
        return Target(folder)
    return None


def _file_target(file: Path) -> Target | None:
    """Return the target of a contract, mapping or errata file; None if it is none of these."""
    whole = file.resolve()
    if whole.name in (ERRATA, DOCUMENTS):
        return Target(file.parent, (whole.name,))
    if whole.name in ("contract.yaml", ENVELOPE, AVRO_ENVELOPE):
        return _below(file.parent, 3)
    if whole.parent.name == RESERVED:
        target = _below(file.parent, 2)
        return Target(target.root, (*target.parts, whole.name))
    return None


def _table_files(path: Path) -> list[Path]:
    files = sorted(path.rglob("*.yaml")) if path.is_dir() else [path]
    if not files or files[0].suffix not in (".yaml", ".yml"):
        raise UsageError(
            f"neither contracts nor table contracts in {path}",
            hint="Give a folder of contracts (SYSTEM/DIALECT/vN/contract.yaml), one version, or a table contract.",
        )
    return files


def _below(folder: Path, height: int) -> Target:
    """Return the target whose root is `height` folders above."""
    names = folder.resolve().parts[-height:] if height else ()
    root = folder
    for _ in range(height):
        root = root.parent if root.name not in ("", "..") else root.resolve().parent
    return Target(root, tuple(names))
