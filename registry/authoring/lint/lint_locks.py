"""Lint locks: common parts of rules about ids.lock: its entries, and the digests of their schemas."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import TYPE_CHECKING

from cdc_contracts.registry.authoring.sync.id_locks import FILE, Entry, Key, Lock, LockLine, lock_lines
from cdc_contracts.registry.authoring.sync.publications import published_texts
from cdc_contracts.registry.authoring.sync.registry_folders import read_subjects
from cdc_contracts.registry.authoring.sync.schema_digests import schema_digest
from cdc_contracts.registry.core.common.errors import CdcContractsError
from cdc_contracts.registry.core.contract.catalogue import CANONICAL

if TYPE_CHECKING:
    from cdc_contracts.registry.authoring.lint.lint_run import LintRun
    from cdc_contracts.registry.authoring.lint.lint_targets import Target


def locked_targets(run: LintRun) -> Iterator[tuple[Target, Traversable, list[LockLine]]]:
    """Yield the whole folders under lint that have an ids.lock, each with the file and its lines."""
    for target in run.targets.contracts:
        file = target.root.joinpath(FILE)
        if not target.parts and file.is_file():
            yield target, file, _lines(file)


def locks_under_lint(run: LintRun) -> Iterator[tuple[Traversable, list[LockLine]]]:
    """Yield every ids.lock under lint with its lines."""
    for _, file, lines in locked_targets(run):
        yield file, lines


def _lines(file: Traversable) -> list[LockLine]:
    return list(lock_lines(file.read_bytes().decode("utf-8", "replace")))


def entries_of(lines: list[LockLine]) -> Iterator[tuple[int, Entry]]:
    """Return the entries of a lock, each with the number of its line."""
    return ((line.number, line.entry) for line in lines if line.entry is not None)


def _subject_digests(target: Target) -> dict[Key, str]:
    try:
        return {one.key: one.digest for one in read_subjects(Path(str(target.root)), Lock())}
    except CdcContractsError:  # reported by the rule of subjects
        return {}


def digests_of(run: LintRun, target: Target) -> dict[Key, str]:
    """Return the digests of the schemas that contracts of a target publish; other rules report broken ones."""
    if target not in run.digests:
        run.digests[target] = _published_digests(run, target)
    return run.digests[target]


def _published_digests(run: LintRun, target: Target) -> dict[Key, str]:
    found = _subject_digests(target)
    for version in run.versions:
        if version.subject != CANONICAL and target.covers_version(version) and version.reference in run.schemas:
            try:
                texts = published_texts(version)
            except (CdcContractsError, TypeError, ValueError):
                continue
            for kind, text in texts.items():
                found[Key(version.subject, version.number, kind)] = schema_digest(kind, text)
    return found
